"""Figures that say when something was: "died at 52", "14 months ago", "stillborn at 37 weeks", "in March"."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from pytest_clinical_drift.evidence.facts.fact import Fact
from pytest_clinical_drift.evidence.facts.outcome import CONTRADICTED, PARTIAL, RETAINED, Outcome
from pytest_clinical_drift.evidence.reading.dates import dates
from pytest_clinical_drift.evidence.reading.quantities import Amount, amounts, same
from pytest_clinical_drift.evidence.terms.index import places_in, term_index
from pytest_clinical_drift.evidence.terms.vocabulary import word_set
from pytest_clinical_drift.evidence.text import Document

_AGO = word_set("framed", "ago")
_AT = word_set("framed", "at")
_NEAR = 9  # tokens from what is stated to the figure that dates it
_LOOSE = 1.25  # times as long ago, which is still the same in rounded words
_ROUND = 2.0  # … for "last year", which may be up to two years ago
_PEOPLE = word_set("mentions", "others")
_EVENTS = frozenset(("condition:bereavement", "condition:stillbirth", "condition:miscarriage"))


# Everyday times, in hours.
_NAMED = {("last", "week"): 168.0, ("last", "month"): 730.5, ("last", "year"): 8766.0}


class Frame(NamedTuple):
    """A figure with what it says: an age, a time ago, a week of pregnancy."""

    kind: str
    value: float
    first: int


def frames(document: Document) -> list[Frame]:
    """Every framed figure of a document."""
    known: list[Frame] | None = document.cache.get("frames")
    if known is None:
        found = (_frame(document, amount) for amount in amounts(document))
        known = [frame for frame in found if frame is not None]
        named = _NAMED.items()
        known += [
            Frame("ago", hours, place)
            for phrase, hours in named
            for place in places_in(document.words, phrase[0])
            if tuple(document.words[place : place + len(phrase)]) == phrase
        ]
        document.cache["frames"] = known
    return known


def _frame(document: Document, amount: Amount) -> Frame | None:
    words = document.words
    if amount.high != amount.value:
        return None
    before = words[max(0, amount.first - 3) : amount.first]
    if amount.dimension == "time" and words[amount.last + 1 : amount.last + 2] and words[amount.last + 1] in _AGO:
        return Frame("ago", amount.base, amount.first)
    at = (bool(before) and before[-1] in _AT) or before[-2:] == ["age", "of"]
    at = at or (before[-3:-2] == ["when"] and before[-1] in ("was", "were"))
    if at and amount.dimension == "time" and words[amount.last].startswith("week"):
        return Frame("week", amount.value, amount.first)
    years = amount.dimension == "time" and words[amount.last].startswith("year")
    if at and 1 <= amount.value <= 110 and (not amount.dimension or years):
        return Frame("age", amount.value, amount.first)
    return None


def with_frames(fact: Fact, document: Document, outcome: Outcome) -> Outcome:
    """The outcome, or the contradiction where the text dates what it states otherwise than the fact."""
    if outcome.status not in (RETAINED, PARTIAL) or not outcome.evidence:
        return outcome
    for wanted in frames(fact.document) if fact.numbers or "last" in fact.document.words else ():
        rivals = [f for f in frames(document) if f.kind == wanted.kind and _is_near(document, outcome, f.first)]
        if rivals and not any(_alike(wanted, rival) for rival in rivals):
            return Outcome(CONTRADICTED, outcome.evidence, "another age" if wanted.kind == "age" else "another time")
    if fact.dates and any(concept.id in _EVENTS for concept in fact.conditions[:1]):
        told = replace(outcome, evidence=(*outcome.evidence, *_of_the_same(fact, document)))
        stated = [d for d in dates(document) if _is_near(document, told, d.first)]
        if stated and all(wanted.clashes(date) for wanted in fact.dates for date in stated):
            return Outcome(CONTRADICTED, outcome.evidence, "another date")
    return outcome


def _of_the_same(fact: Fact, document: Document) -> list[tuple[int, int]]:
    """Other mentions of the event, of the person that the fact names: "his wife died in May" beside "widowed"."""
    people = [word for word in fact.document.words if word in _PEOPLE]
    found = []
    for term in term_index(document).exact.get(fact.conditions[0].id, ()):
        first, stop = document.clause_span(term.first)
        near = document.words[max(first, term.first - 5) : min(stop, term.last + 5)]
        if not people or not set(people).isdisjoint(near):
            found.append((term.first, term.last))
    return found


def _alike(wanted: Frame, stated: Frame) -> bool:
    if wanted.kind != "ago":
        return same(wanted.value, stated.value)
    low, high = sorted((wanted.value, stated.value))
    return high <= low * (_ROUND if {wanted.value, stated.value} & set(_NAMED.values()) else _LOOSE)


def _is_near(document: Document, outcome: Outcome, token: int) -> bool:
    """In the sentence of what is stated, shortly after it or inside it."""
    return any(
        document.sentences[first] == document.sentences[token] and first <= token <= last + _NEAR
        for first, last in outcome.evidence
    )
