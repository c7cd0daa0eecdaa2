"""Medicines that a text names for another reason than that the patient takes them: an allergy, someone else's."""

from __future__ import annotations

from pytest_clinical_drift.evidence.lexicon import Term
from pytest_clinical_drift.evidence.text import Document

_ALLERGIC = frozenset(("allergic", "allergy", "allergies", "anaphylaxis", "hypersensitive", "hypersensitivity"))


def is_theirs(document: Document, mention: Term) -> bool:
    """ "X 50 mg – her husband's tablets": an aside says whose it is."""
    stop = min(document.sentence_span(mention.first)[1], mention.last + 8)
    for place in range(mention.last + 1, stop):
        if "–" in document.gaps[place] or "(" in document.gaps[place]:
            opening = document.words[place : place + 2]
            after = place + 2
            owned = after < stop and document.gaps[after].startswith("'")
            return owned and opening[0] in ("her", "his", "their", "the") and opening[1:] != ["patient"]
    return False


def is_allergen(document: Document, mention: Term) -> bool:
    """ "allergic to X", "X allergy"."""
    before = document.words[max(document.clause_span(mention.first)[0], mention.first - 4) : mention.first]
    if "to" in before and not _ALLERGIC.isdisjoint(before):
        return True
    after = mention.last + 1
    return after < len(document) and not document.gaps[after] and document.words[after] in ("allergy", "allergic")
