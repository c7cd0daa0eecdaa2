"""What a summary states that its sources never told: drugs, doses, allergies, and denials of what was never asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pytest_clinical_drift.evidence.contexts.mentions import reading
from pytest_clinical_drift.evidence.extraction.sources import Sources, Told
from pytest_clinical_drift.evidence.facts.allergy_denials import blanket_denials
from pytest_clinical_drift.evidence.facts.intake import Taking, taking
from pytest_clinical_drift.evidence.facts.regimen import read_regimen, same_amount
from pytest_clinical_drift.evidence.lexicon import Term
from pytest_clinical_drift.evidence.terms.index import term_index
from pytest_clinical_drift.evidence.terms.vocabulary import CONDITION, DRUG
from pytest_clinical_drift.evidence.text import Document, read

__all__ = ["Fabrication", "find_fabrications"]


@dataclass(frozen=True, slots=True)
class Fabrication:
    """An invented statement of a summary."""

    kind: str
    """drug, dose, allergy or negative."""
    quote: str
    start: int
    """Offset of the quotation in the raw summary."""
    end: int
    reason: str


def find_fabrications(summary: str, sources: Sequence[str]) -> list[Fabrication]:
    """Invented drugs, doses, allergies and denials, in the order of the summary; each concept once per kind."""
    documents = [read(source) for source in sources]
    return fabrications_of(read(summary), Told(Sources(documents), len(documents)))


def fabrications_of(document: Document, told: Told) -> list[Fabrication]:
    """As `find_fabrications`, on texts that have been read already."""
    found: dict[tuple[str, str], Fabrication] = {}
    for kind, term, reason in (*_medicines(document, told), *_allergies(document, told), *_denials(document, told)):
        start, end = document.starts[term.first], document.ends[term.last]
        found.setdefault((kind, term.concept.id), Fabrication(kind, document.raw[start:end], start, end, reason))
    return sorted(found.values(), key=lambda item: (item.start, item.kind))


_Item = tuple[str, Term, str]


def _medicines(document: Document, told: Told) -> Iterator[_Item]:
    for mention in term_index(document).by_kind.get(DRUG, ()):
        if mention.weak or taking(document, mention) is not Taking.NOW:
            continue
        doses = told.doses(mention.concept)
        if doses is None:
            yield "drug", mention, "never named by the intake or the patient"
            continue
        stated = read_regimen(document, mention)
        if not stated.strengths:
            continue
        if not any(same_amount(amount, dose) for amount in stated.strengths for dose in doses):
            amount = stated.strengths[0]
            span = Term(mention.concept, min(mention.first, amount.first), max(mention.last, amount.last))
            yield "dose", span, "a dose that was never told" if not doses else "another dose than was told"


def _allergies(document: Document, told: Told) -> Iterator[_Item]:
    index = term_index(document)
    for term in index.by_kind.get(CONDITION, ()):
        specific = "condition:allergy" in term.concept.ancestors and term.concept.name not in (
            "drug allergy",
            "food allergy",
        )
        if not specific or told.names(term.concept.id) or told.says(term.concept.name.split()[0]):
            continue
        if reading(document, term.first, term.last).affirmed:
            yield "allergy", term, "an allergy that was never told"
    for mention in index.by_kind.get(DRUG, ()):
        stated = taking(document, mention) is Taking.ALLERGY and reading(document, mention.first, mention.last).affirmed
        if stated and not told.mentions(mention.concept):
            yield "allergy", mention, "an allergy that was never told"


def _denials(document: Document, told: Told) -> Iterator[_Item]:
    blanket = blanket_denials(document)
    if blanket and not told.speaks_of_allergies():
        yield "negative", blanket[0], "allergies were never asked about"
    for term in term_index(document).by_kind.get(CONDITION, ()):
        if term.weak or term in blanket or "allergy" in term.concept.name:
            continue
        asked = any(map(told.names, (term.concept.id, *term.concept.ancestors)))
        if not asked and reading(document, term.first, term.last).denied:
            yield "negative", term, "denied, but never asked about"
