"""A statement without an essential part of its fact: "methotrexate 15 mg" without "weekly"."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from pytest_clinical_drift.evidence.facts.fact import ABSENT, DENYING, FUNCTION, PARTIAL, RETAINED, Outcome
from pytest_clinical_drift.evidence.quantities.amounts import amounts, same
from pytest_clinical_drift.evidence.quantities.frequencies import frequencies_between
from pytest_clinical_drift.evidence.reading.text import Document, read
from pytest_clinical_drift.evidence.terms.lexicon import find_terms, ids_above, term_index
from pytest_clinical_drift.evidence.terms.vocabulary import CONDITION, DRUG, word_set
from pytest_clinical_drift.evidence.terms.words import loose_stem, loose_stems

_Range = tuple[int, int]
"""First token, and the one after the last."""
_TIMES = word_set("facts", "times")
_REFUSING = DENYING | {"avoid", "cannot", "dont", "don't"}


def hold_to_essential(fact: str, parts: Sequence[str], document: Document, outcome: Outcome) -> Outcome:
    """A statement without an essential part ("methotrexate 15 mg" without "weekly") counts as absent.

    Other words may say most parts, so that is seldom certain. It is where the part is an interval that stands nowhere
    in the text, and no line about the medicine says when or how often it is taken.
    """
    if outcome.status not in (RETAINED, PARTIAL):
        return outcome
    # Sentences that state the fact, and others that name the same thing; a row of a table is one place.
    concepts = {term.concept.id for term in find_terms(fact)}
    named = (term for kind in (DRUG, CONDITION) for term in term_index(document).by_kind.get(kind, ()))
    places = [*outcome.spans, *((term.first, term.last) for term in named if term.concept.id in concepts)]
    sentences = {(document.sentence_span(first)[0], document.sentence_span(last)[1]) for first, last in places}
    missing = [part for part in parts if not any(_states(part, fact, document, sentence) for sentence in sentences)]
    if not missing:
        return outcome
    untimed = not any(_timed(document, *sentence) for sentence in sentences) and all(
        _rates(part) and not _states(part, fact, document, (0, len(document))) for part in missing
    )
    rule = "no-interval" if untimed else "essential"
    reason = f"without its essential part: {', '.join(missing)}"
    return replace(outcome, status=ABSENT, reason=reason, rule=rule, certain=untimed, rival=())


def _timed(document: Document, first: int, stop: int) -> bool:
    """Whether the lines of a place say when or how often: "weekly", "on Mondays", "see chart"."""
    first = bisect_left(document.lines, document.lines[first])
    stop = bisect_right(document.lines, document.lines[stop - 1])
    return bool(frequencies_between(document, first, stop)) or not _TIMES.isdisjoint(document.words[first:stop])


def _rates(part: str) -> set[float]:
    wanted = read(part)
    return {rate.per_day for rate in frequencies_between(wanted, 0, len(wanted))}


def _states(part: str, fact: str, document: Document, within: _Range) -> bool:
    """Whether the interval, the figure, the named thing or the words of a part stand in a range of a text."""
    wanted = read(part)
    first, stop = within
    if rates := _rates(part):
        per_day = [rate.per_day for rate in frequencies_between(document, first, stop)]
        return all(any(same(rate, other, 0.01) for other in per_day) for rate in rates)
    figures = {(amount.value, amount.dimension) for amount in amounts(wanted)}
    stated = {(amount.value, amount.dimension) for amount in amounts(document) if first <= amount.first < stop}
    concepts = _telling(part, fact)
    if (figures and figures <= stated) or (concepts and concepts <= _named(document, within)):
        return True
    if not DENYING.isdisjoint(wanted.words) and _REFUSING.isdisjoint(document.words[first:stop]):
        return False  # "never crushed", "must not be crushed"
    content = [word for word in wanted.words if word not in FUNCTION and word not in DENYING]
    return bool(content) and set(map(loose_stem, content)) <= set(loose_stems(document)[first:stop])


@lru_cache(maxsize=1024)
def _telling(part: str, fact: str) -> frozenset[str]:
    """What a part names, unless the rest of the fact says it as well: a brand, the strength of an insulin."""
    rest = read(re.sub(re.escape(part), " ", fact, flags=re.IGNORECASE))
    concepts = frozenset(term.concept.id for term in find_terms(part))
    return frozenset() if concepts <= _named(rest, (0, len(rest))) else concepts


def _named(document: Document, within: _Range) -> frozenset[str]:
    """Things that are named there, and what they are a kind of."""
    terms = (term for kind in term_index(document).by_kind.values() for term in kind)
    concepts = (term.concept for term in terms if within[0] <= term.first < within[1])
    return frozenset(name for concept in concepts for name in (concept.id, *ids_above(concept)))
