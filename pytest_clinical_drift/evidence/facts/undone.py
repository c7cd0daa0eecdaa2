"""Procedures and devices that were offered but not done, or that were taken away again."""

from __future__ import annotations

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
        others = term_index(document).between(CONDITION, term.last + 1, cue.last + 5)
        return all(other.concept.name in _ANY_OPERATION or other.concept is term.concept for other in others)
    return False


def was_taken_away(document: Document, term: Term) -> bool:
    """ "home oxygen was stopped", "the stoma bag was removed": it is no longer used."""
    if term.concept.group == "test":
        return False
    cues = context_at(document, term.first, term.last).cues
    return any(cue.role == "historical" and cue.quote.lower().startswith(_AWAY) for cue in cues)


_AWAY = ("stopped", "discontinued", "ceased", "withdrawn", "came off", "come off", "taken off")
_ANY_OPERATION = ("surgery", "operation")
