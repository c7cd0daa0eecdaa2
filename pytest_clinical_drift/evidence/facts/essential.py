"""Essential parts of a hard stop: "methotrexate 15 mg" without "weekly" is not the fact."""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from pytest_clinical_drift.evidence.facts.fact import ABSENT, DENYING, FUNCTION, PARTIAL, RETAINED, Outcome
from pytest_clinical_drift.evidence.quantities.amounts import amounts, same
from pytest_clinical_drift.evidence.quantities.frequencies import frequencies_between
from pytest_clinical_drift.evidence.reading.text import Document, read
from pytest_clinical_drift.evidence.terms.index import ids_above, term_index
from pytest_clinical_drift.evidence.terms.lexicon import find_terms
from pytest_clinical_drift.evidence.terms.words import loose_stem, loose_stems

_Range = tuple[int, int]
"""First token, and the one after the last."""
_REFUSING = DENYING | {"avoid", "cannot", "dont", "don't"}


def hold_to_essential(fact: str, parts: Sequence[str], document: Document, outcome: Outcome) -> Outcome:
    """A statement without an essential part counts as absent, though never for certain: it may use other words."""
    if outcome.status not in (RETAINED, PARTIAL):
        return outcome
    sentences = sorted({document.sentence_span(first) for first, _ in outcome.spans})
    missing = [part for part in parts if not any(_states(part, fact, document, sentence) for sentence in sentences)]
    if not missing:
        return outcome
    reason = f"without its essential part: {', '.join(missing)}"
    return replace(outcome, status=ABSENT, reason=reason, rule="essential", certain=False, rival=())


def _states(part: str, fact: str, document: Document, within: _Range) -> bool:
    """Whether the interval, the figure, the named thing or the words of a part stand in a range of a text."""
    wanted = read(part)
    first, stop = within
    rates = {rate.per_day for rate in frequencies_between(wanted, 0, len(wanted.words))}
    if rates:
        per_day = [rate.per_day for rate in frequencies_between(document, first, stop)]
        return all(any(same(rate, other, 0.01) for other in per_day) for rate in rates)
    figures = {(amount.value, amount.dimension) for amount in amounts(wanted)}
    stated = {(amount.value, amount.dimension) for amount in amounts(document) if first <= amount.first < stop}
    concepts = _telling(part, fact)
    if (figures and figures <= stated) or (concepts and concepts <= _named(document, within)):
        return True
    there = document.words[first:stop]
    if not DENYING.isdisjoint(wanted.words) and _REFUSING.isdisjoint(there):
        return False  # "never crushed", "must not be crushed"
    content = [word for word in wanted.words if word not in FUNCTION and word not in DENYING]
    return bool(content) and set(map(loose_stem, content)) <= set(loose_stems(document)[first:stop])


@lru_cache(maxsize=1024)
def _telling(part: str, fact: str) -> frozenset[str]:
    """What a part names, unless the rest of the fact says it as well: a brand, the strength of an insulin."""
    rest = read(re.sub(re.escape(part), " ", fact, flags=re.IGNORECASE))
    concepts = frozenset(term.concept.id for term in find_terms(part))
    return frozenset() if concepts <= _named(rest, (0, len(rest.words))) else concepts


def _named(document: Document, within: _Range) -> frozenset[str]:
    """Things that are named there, and what they are a kind of."""
    first, stop = within
    terms = (term for kind in term_index(document).by_kind.values() for term in kind if first <= term.first < stop)
    return frozenset(name for term in terms for name in (term.concept.id, *ids_above(term.concept)))
