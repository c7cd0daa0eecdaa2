"""Medicines that take one another's place: "changed from X to Y", "Y instead of X"."""

from __future__ import annotations

from pytest_clinical_drift.evidence.facts.dose_roles import STATUS_FILE
from pytest_clinical_drift.evidence.lexicon import Term
from pytest_clinical_drift.evidence.reading.phrases import cues_of
from pytest_clinical_drift.evidence.terms.index import term_index
from pytest_clinical_drift.evidence.terms.vocabulary import word_set
from pytest_clinical_drift.evidence.text import Document

_BE = word_set("intake", "be")
_SKIPPED = word_set("intake", "skipped")
_SWITCHED = frozenset(("switched", "changed", "moved", "swapped", "converted", "transitioned", "crossed", "gone"))


def switched_from(document: Document, mention: Term) -> bool:
    """ "changed from X to Y", "Y instead of X": X is the former one."""
    first = max(document.sentence_span(mention.first)[0], mention.first - 6)
    apart = document.words[max(first, mention.first - 10) : mention.first]
    if apart[-1:] == ["from"] and not _SWITCHED.isdisjoint(apart) and "to" in apart:
        return True  # "moved over to Y from X"
    for cue in cues_of(document, STATUS_FILE).between("switch_from", first, mention.first):
        between = document.words[cue.last + 1 : mention.first]
        if (
            all(word in _SKIPPED or word[:1].isdigit() or len(word) < 4 for word in between)
            and cue.last < mention.first
        ):
            before = document.words[cue.first - 1] if cue.first else ""
            # "was replaced by X" is another cue; "replaced X" and "instead of X" end X.
            if document.words[cue.last] in ("replaced", "replaces", "replacing") and before in _BE:
                continue
            return True
    return False


def switched_to(document: Document, mention: Term) -> bool:
    """ "changed from X to Y": Y is the new one."""
    first = max(document.sentence_span(mention.first)[0], mention.first - 14)
    before = document.words[max(first, mention.first - 3) : mention.first]
    if not {"to", "onto"} & set(before):
        return False
    for cue in cues_of(document, STATUS_FILE).between("switch_from", first, mention.first):
        if document.words[cue.last] == "from" and term_index(document).medicines_between(cue.last + 1, mention.first):
            return document.words[max(0, cue.first - 1)] not in ("to", "be", "could", "may", "might")
    return False
