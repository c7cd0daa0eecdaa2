"""Procedures and devices that were offered but not done, or that were taken away again."""

from __future__ import annotations

from itertools import pairwise

from pytest_clinical_drift.evidence.context import context_at
from pytest_clinical_drift.evidence.facts.dose_roles import STATUS_FILE
from pytest_clinical_drift.evidence.lexicon import Term
from pytest_clinical_drift.evidence.reading.phrases import cues_of
from pytest_clinical_drift.evidence.terms.index import term_index
from pytest_clinical_drift.evidence.terms.vocabulary import CONDITION
from pytest_clinical_drift.evidence.text import Document


def was_refused(document: Document, term: Term) -> bool:
    """ "flu vaccine declined", "an ICD was suggested but he turned it down": it was not done."""
    stop = min(document.sentence_span(term.first)[1], term.last + 17)
    for cue in cues_of(document, STATUS_FILE).between("refused", term.last + 1, stop):
        if any(";" in gap or "(" in gap for gap in document.gaps[term.last + 1 : cue.first + 1]):
            return False
        between = document.words[term.last + 1 : cue.first]
        if any(word == "and" and after in _ANOTHER for word, after in pairwise(between)):
            return False  # "four sessions are done and the fifth was postponed"
        others = term_index(document).between(CONDITION, term.last + 1, cue.last + 5)
        return all(other.concept.name in _ANY_OPERATION or other.concept is term.concept for other in others)
    return False


def was_taken_away(document: Document, term: Term) -> bool:
    """ "home oxygen was stopped", "the stoma bag was removed": it is no longer used."""
    if term.concept.group == "test":
        return False
    if term.concept.group == "device" and _was_removed(document, term):
        return True
    cues = context_at(document, term.first, term.last).cues
    return any(cue.role == "historical" and cue.quote.lower().startswith(_AWAY) for cue in cues)


def _was_removed(document: Document, term: Term) -> bool:
    """ "the coil removed in April", "coil has been taken out"."""
    stop = document.clause_span(term.last)[1]
    after = [word for word in document.words[term.last + 1 : min(stop, term.last + 6)] if word not in _BE]
    return after[:1] == ["removed"] or after[:2] == ["taken", "out"]


_ANOTHER = frozenset(("the", "a", "an", "another", "his", "her", "their"))
_BE = frozenset(("was", "were", "is", "has", "had", "been", "be", "now", "since", "recently", "then", "later"))
_AWAY = ("stopped", "discontinued", "ceased", "withdrawn", "came off", "come off", "taken off")
_ANY_OPERATION = ("surgery", "operation")
