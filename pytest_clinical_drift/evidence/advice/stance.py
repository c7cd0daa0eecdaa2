"""Stands that are no orders: a medicine that a reply only speaks against, and the names it explains."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from pytest_clinical_drift.evidence.advice.clause import AWAY, TOWARD, broken
from pytest_clinical_drift.evidence.advice.orders import advice_of, document_of
from pytest_clinical_drift.evidence.mentions.regimen import read_regimen
from pytest_clinical_drift.evidence.reading.text import LABEL, Document
from pytest_clinical_drift.evidence.terms.index import term_index
from pytest_clinical_drift.evidence.terms.lexicon import Term
from pytest_clinical_drift.evidence.terms.vocabulary import DRUG

_NEAR = 6
"""Tokens before a name in which a denial speaks against it."""
_OPENING = 4
"""Sentences at the start of a reply that answer what the patient asked about."""
_LABELS = frozenset(("no", "not", "never", "avoid", "refuse", "stop", "stopped", "allergy", "allergies", "off"))
OTHER_ONE = frozenset(("second", "another", "other", "extra", "more", "additional"))
"""What is refused of "no second antihistamine", "no extra apixaban" is not the medicine."""
_NOT_REFUSED = OTHER_ONE | {"need", "needs"}
_REFUSALS = frozenset(("no", "not", "never", "neither", "avoid"))


@lru_cache(maxsize=512)
def spoken_against(text: str) -> dict[str, str]:
    """Medicines that a reply speaks against and nowhere wants, each with the sentence."""
    document = document_of(text)
    orders = [o for o in advice_of(text) if o.kind in (TOWARD, AWAY)]
    wanted = {t.concept.id for o in orders if o.wanted for t in o.medicines}
    flat = [o for o in orders if not o.wanted and not o.conditional and not o.action.startswith("hold")]
    ruled_out = {t.first for o in flat for t in o.medicines if OTHER_ONE.isdisjoint(o.quote.lower().split())}
    refused = any(not o.medicines and document.sentences[o.first] < _OPENING for o in flat)
    found: dict[str, str] = {}
    for term in term_index(document).medicines:
        answered = refused and document.sentences[term.first] < _OPENING and term.concept.kind == DRUG
        if term.concept.id not in wanted and (answered or term.first in ruled_out or _denied(document, term.first)):
            first, stop = document.sentence_span(term.first)
            found.setdefault(term.concept.id, document.quote(first, stop - 1))
    return found


def _denied(document: Document, index: int) -> bool:
    """Whether a denial stands closely before a name, or in the label of its list."""
    if any(not _LABELS.isdisjoint(label.split()) for label in document.labels_of(index)):
        return True
    for place in range(index - 1, max(-1, index - 1 - _NEAR), -1):
        if broken(document, place + 1) or "," in document.gaps[place + 1]:
            return False
        if document.words[place] in _REFUSALS:
            return _NOT_REFUSED.isdisjoint(document.words[place:index])
    return False


def offered(text: str) -> Iterator[tuple[Term, str]]:
    """ "Pain: naproxen 500 mg with food": a medicine with its strength that opens what a label introduces."""
    document = document_of(text)
    for term in term_index(document).medicines:
        before = term.first - 1
        labelled = before >= 0 and document.segment_kinds[document.segments[before]] == LABEL
        labelled = labelled and document.segments[before] != document.segments[term.first]
        first, stop = document.sentence_span(term.first)
        dosed = [t for t in term_index(document).medicines_between(first, stop) if read_regimen(document, t).strengths]
        if labelled and dosed == [term] and not _denied(document, term.first):
            yield term, document.quote(first, stop - 1)
