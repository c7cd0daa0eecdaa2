"""Essential parts of a hard stop: "methotrexate 15 mg" without "weekly" is not the fact."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from pytest_clinical_drift.evidence.facts.fact import ABSENT, DENYING, FUNCTION, PARTIAL, RETAINED, Outcome
from pytest_clinical_drift.evidence.mentions.regimen import read_regimen
from pytest_clinical_drift.evidence.quantities.amounts import amounts, same
from pytest_clinical_drift.evidence.quantities.frequencies import frequencies_between
from pytest_clinical_drift.evidence.reading.text import Document, read
from pytest_clinical_drift.evidence.terms.index import ids_above, term_index
from pytest_clinical_drift.evidence.terms.lexicon import find_terms
from pytest_clinical_drift.evidence.terms.words import loose_stem, loose_stems

_Range = tuple[int, int]
"""First token, and the one after the last."""
_REFUSING = DENYING | {"avoid", "cannot", "dont", "don't"}
_BEGINNING = 5
"""Letters by which a word may be another form of an essential one: strangled, strangulation."""
_SHORTENED = 4
"""Letters of a word cut short: "mech valve"."""
_JOINED = 3
"""Tokens that one written name may fall into: U-500, U 500, U500."""


def hold_to_essential(
    fact: str, parts: Sequence[str], document: Document, outcome: Outcome, matched: Callable[[str], Outcome]
) -> Outcome:
    """A statement without an essential part counts as absent; `matched` tells how the text states a named thing.

    Certain only where the rules miss something of the fact anyway and the text has no word like the part: what states
    the whole fact may put the part in other words, and what stands elsewhere may belong to it.
    """
    if not parts or outcome.status not in (RETAINED, PARTIAL):
        return outcome
    sentences = sorted({document.sentence_span(first) for first, _ in outcome.spans})
    wanted = [_part(part, fact) for part in parts]
    missing = [part for part in wanted if not any(_states(part, document, sentence) for sentence in sentences)]
    missing = [part for part in missing if not (part.concepts and _lies_in(sentences, matched(part.text)))]
    if not missing:
        return outcome
    hinted = any(_hints(part, document) for part in missing)
    certain = outcome.certain and outcome.status == PARTIAL and not hinted
    reason = f"without its essential part: {', '.join(part.text for part in missing)}"
    return replace(outcome, status=ABSENT, reason=reason, rule="essential", certain=certain, rival=())


def _lies_in(sentences: Sequence[_Range], outcome: Outcome) -> bool:
    stated = outcome.status == RETAINED and outcome.certain
    return stated and any(first <= at < stop for at, _ in outcome.spans for first, stop in sentences)


@dataclass(frozen=True, slots=True)
class _Part:
    text: str
    concepts: frozenset[str]
    """What it names, where another name for it says the same."""


@lru_cache(maxsize=1024)
def _part(text: str, fact: str) -> _Part:
    """A name that the rest of the fact says as well tells nothing: a brand, the strength of an insulin."""
    rest = read(re.sub(re.escape(text), " ", fact, flags=re.IGNORECASE))
    concepts = frozenset(term.concept.id for term in find_terms(text))
    return _Part(text, concepts if concepts and not concepts <= _named(rest, (0, len(rest.words))) else frozenset())


def _states(part: _Part, document: Document, within: _Range) -> bool:
    """Whether the interval, the figure, the named thing or the words of a part stand in a range of a text."""
    wanted = read(part.text)
    rates = {rate.per_day for rate in frequencies_between(wanted, 0, len(wanted.words))}
    if rates:
        return all(any(same(rate, told, 0.01) for told in _rates(document, within)) for rate in rates)
    first, stop = within
    figures = {(amount.value, amount.dimension) for amount in amounts(wanted)}
    told = {(amount.value, amount.dimension) for amount in amounts(document) if first <= amount.first < stop}
    if (figures and figures <= told) or (part.concepts and part.concepts <= _named(document, within)):
        return True
    return _words(wanted, document, within)


def _rates(document: Document, within: _Range) -> list[float]:
    """Intervals that stand there, by themselves or as a medicine's: "every Monday" is weekly, and so is "/wk"."""
    found = [rate.per_day for rate in frequencies_between(document, *within)]
    medicines = term_index(document).medicines_between(*within)
    return found + [rate for term in medicines if (rate := read_regimen(document, term).per_day) is not None]


def _named(document: Document, within: _Range) -> frozenset[str]:
    """Things that are named there, and what they are a kind of."""
    first, stop = within
    terms = (term for kind in term_index(document).by_kind.values() for term in kind if first <= term.first < stop)
    return frozenset(name for term in terms for name in (term.concept.id, *ids_above(term.concept)))


def _words(wanted: Document, document: Document, within: _Range) -> bool:
    """All of its words; for one that denies, any that does: "never crushed", "must not be crushed"."""
    first, stop = within
    there = document.words[first:stop]
    if not DENYING.isdisjoint(wanted.words) and _REFUSING.isdisjoint(there):
        return False
    content = [word for word in wanted.words if word not in FUNCTION and word not in DENYING]
    if content and set(map(loose_stem, content)) <= set(loose_stems(document)[first:stop]):
        return True
    name = _compact(wanted.words)
    windows = (there[at : at + size] for size in range(1, _JOINED + 1) for at in range(len(there) - size + 1))
    return any(map(str.isdigit, name)) and any(_compact(window) == name for window in windows)


def _compact(words: Sequence[str]) -> str:
    return "".join(letter for word in words for letter in word.lower() if letter.isalnum())


def _hints(part: _Part, document: Document) -> bool:
    """Whether anything in the whole text may be the part."""
    if _states(part, document, (0, len(document.words))):
        return True
    telling = [word for word in read(part.text).words if len(word) >= _BEGINNING]
    return any(
        word[:_BEGINNING] == wanted[:_BEGINNING] or (len(word) >= _SHORTENED and wanted.startswith(word))
        for word in document.words
        for wanted in telling
    )
