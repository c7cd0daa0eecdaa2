"""Facts that say when something happened last: "last seizure in February", "last drink 6 hours ago"."""

from __future__ import annotations

from functools import lru_cache

from pytest_clinical_drift.evidence.contexts.mentions import reading
from pytest_clinical_drift.evidence.facts.condition import named
from pytest_clinical_drift.evidence.facts.fact import Fact
from pytest_clinical_drift.evidence.facts.outcome import ABSENT, CONTRADICTED, PARTIAL, RETAINED, Outcome
from pytest_clinical_drift.evidence.lexicon import Term
from pytest_clinical_drift.evidence.reading.dates import dates
from pytest_clinical_drift.evidence.reading.quantities import amounts
from pytest_clinical_drift.evidence.reading.wording import loose_stem
from pytest_clinical_drift.evidence.terms.index import places_in
from pytest_clinical_drift.evidence.terms.vocabulary import Concept, load_data, word_set
from pytest_clinical_drift.evidence.text import Document, tokenise

_LAST = frozenset(("last", "latest", "recent"))
_OCCASIONS = word_set("recency", "occasions")
_SAME_DAY = 24  # hours
_RECENT = 24 * 180  # hours, within which an event breaks a year of being free of it
_SAME = 0.05  # share of a time by which another wording of it may differ
_TOLERANCE = 1.6  # times as long ago, beyond which two times are not one in other words


def asks_when(fact: Fact) -> bool:
    """Whether the fact is about the last time of something, and says when that was."""
    words = fact.document.words
    return not _LAST.isdisjoint(words[:2]) and (bool(fact.dates) or _elapsed(fact.document, 0, len(words)) is not None)


def with_recency(fact: Fact, document: Document, outcome: Outcome) -> Outcome:
    """The outcome once the text's own time has been compared: without any, the fact is not stated at all."""
    if outcome.status not in (RETAINED, PARTIAL):
        return outcome
    if not asks_when(fact):
        return _broken_again(fact, document) or outcome
    mentions = named(document, fact.conditions[0]) if fact.conditions else []
    if fact.conditions and not any(_names_it(document, fact.conditions[0], term) for term in mentions):
        return Outcome(ABSENT, outcome.evidence, "only in general terms")
    places = [*(term.first for term in mentions), *(first for first, _ in outcome.evidence)]
    spans = {document.sentence_span(first) for first in places}
    if not any(_tells_when(document, first, stop) for first, stop in spans):
        return Outcome(ABSENT, outcome.evidence, "named, but not when it was last")
    if outcome.status == PARTIAL and _another_date(fact, document, spans):
        return Outcome(CONTRADICTED, outcome.evidence, "another date")
    wanted = _elapsed(fact.document, 0, len(fact.document))
    stated = [hours for first, stop in sorted(spans) if (hours := _elapsed(document, first, stop)) is not None]
    if wanted is None or not stated or outcome.status == RETAINED:
        return outcome
    only_the_number = [outcome.reason] == [f"missing: {number.value:g}" for number in fact.numbers]
    if only_the_number and any(abs(wanted - hours) <= _SAME * wanted for hours in stated):
        return Outcome(RETAINED, outcome.evidence)  # "a fortnight ago" for two weeks
    if any(_alike(wanted, hours) for hours in stated):
        return outcome
    return Outcome(CONTRADICTED, outcome.evidence, "another time")


def _names_it(document: Document, concept: Concept, term: Term) -> bool:
    """ "self-harms by cutting" names the self-harm; "epilepsy" does not name a seizure, though there were some."""
    if term.concept is concept:
        return True
    stems = {loose_stem(word) for word in tokenise(concept.name)}
    return not stems.isdisjoint(map(loose_stem, document.words[term.first : term.last + 1]))


def _broken_again(fact: Fact, document: Document) -> Outcome | None:
    """ "last seizure three weeks ago" against "seizure-free since 2017"."""
    words = fact.document.words
    if "free" not in words or "since" not in words or not words.index("free"):
        return None
    what = words[words.index("free") - 1]
    for place in places_in(document.words, what):
        first, stop = document.sentence_span(place)
        if not _LAST.isdisjoint(document.words[max(first, place - 3) : place]):
            elapsed = _elapsed(document, place, stop)
            if elapsed is not None and elapsed < _RECENT and reading(document, place, place).affirmed:
                return Outcome(CONTRADICTED, ((place, place),), "another time")
    return None


def _another_date(fact: Fact, document: Document, spans: set[tuple[int, int]]) -> bool:
    """Whether only other dates than the fact's stand in the sentences that name it, beside "last"."""
    for first, stop in spans:
        stated = [date for date in dates(document) if first <= date.first < stop]
        told = not _LAST.isdisjoint(document.words[first:stop])
        if told and stated and all(w.clashes(date) for w in fact.dates for date in stated):
            return bool(fact.dates)
    return False


def _tells_when(document: Document, first: int, stop: int) -> bool:
    words = document.words[first:stop]
    timed = any(first <= date.first < stop for date in dates(document)) or _elapsed(document, first, stop) is not None
    return timed or not _LAST.isdisjoint(words) or not _OCCASIONS.isdisjoint(words)


def _elapsed(document: Document, first: int, stop: int) -> float | None:
    """How many hours ago something between two tokens was, where the text says so."""
    for amount in amounts(document):
        if first <= amount.first < stop and amount.dimension == "time":
            before = document.words[max(first, amount.first - 4) : amount.first]
            if document.words[amount.last + 1 : amount.last + 2] == ["ago"] or {"free", "for"} <= set(before):
                return amount.base  # also "seizure-free for two years"
    named = _named_times()
    for place in range(first, stop):
        for length in (2, 1):
            hours = named.get(" ".join(document.words[place : min(place + length, stop)]))
            if hours is not None:
                return hours
    return None


@lru_cache(maxsize=1)
def _named_times() -> dict[str, float]:
    return {str(phrase): float(hours) for phrase, hours in (load_data("recency") or {}).items()}


def _alike(one: float, other: float) -> bool:
    low, high = sorted((one, other))
    return high - low <= _SAME_DAY or high <= low * _TOLERANCE
