"""Occupations by their last word: "a receptionist" says part of "dental receptionist"."""

from __future__ import annotations

from pytest_clinical_drift.evidence.contexts.mentions import reading
from pytest_clinical_drift.evidence.facts.fact import Fact
from pytest_clinical_drift.evidence.facts.outcome import PARTIAL, Outcome
from pytest_clinical_drift.evidence.terms.index import term_index
from pytest_clinical_drift.evidence.terms.vocabulary import word_set
from pytest_clinical_drift.evidence.text import Document

_OCCUPATIONS = word_set("social", "occupations")
_LEADING = word_set("occupation", "leading")
_BEING = frozenset(("is", "as", "am", "are", "was", "you", "she", "he", "they", "i"))
_FORMER = word_set("occupation", "former")


def by_occupation(fact: Fact, document: Document) -> Outcome | None:
    """The last word of an occupation, stated of the patient; None where the fact is none, or it is not there."""
    words = fact.document.words
    plain = not (fact.conditions or fact.medicines or fact.numbers or fact.dates or fact.negative)
    if fact.kind != "social" or not plain or not 2 <= len(words) <= 4 or words[-1] not in _OCCUPATIONS:
        return None
    if not _FORMER.isdisjoint(words):
        return None
    for place in term_index(document).places(words[-1]):
        said = reading(document, place, place)
        if said.affirmed and not said.historical and _stands_alone(document, place):
            return Outcome(PARTIAL, ((place, place),), "missing: what kind")
    return None


def _stands_alone(document: Document, place: int) -> bool:
    """ "she is a receptionist", "Occupation: university student"; not "a nursing student", "the receptionist"."""
    if not place or document.segments[place - 1] != document.segments[place] or document.gaps[place] not in ("", "-"):
        return True
    if document.words[place - 1] in ("a", "an"):
        return place > 1 and document.words[place - 2] in _BEING  # "you're a teacher" is read as "you a teacher"
    return document.words[place - 1] in _LEADING
