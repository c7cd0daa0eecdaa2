"""Candidates for inventions: medicines, doses, allergies, results and denials that no source ever told.

Candidates only: a summary may rightly name what the model itself advised, or what anybody would infer. Whether one is
an invention is a question for a judge or a person.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pytest_clinical_drift.evidence.entities.sources import Sources, Told
from pytest_clinical_drift.evidence.facts.intake import ALLERGEN, NOW, intake
from pytest_clinical_drift.evidence.facts.measured import values_of
from pytest_clinical_drift.evidence.facts.reacts import none_known
from pytest_clinical_drift.evidence.mentions.regimen import read_regimen, same_amount
from pytest_clinical_drift.evidence.mentions.state import reading
from pytest_clinical_drift.evidence.reading.text import Document, read
from pytest_clinical_drift.evidence.terms.index import term_index
from pytest_clinical_drift.evidence.terms.lexicon import Term, lexicon
from pytest_clinical_drift.evidence.terms.vocabulary import DRUG, MEASURE, word_set

__all__ = ["Fabrication", "find_fabrications"]


@dataclass(frozen=True, slots=True)
class Fabrication:
    """A statement of a summary that no source told."""

    kind: str
    """drug, dose, allergy, result or negative."""
    quote: str
    start: int
    """Offset of the quotation in the raw summary."""
    end: int
    reason: str


def find_fabrications(summary: str, sources: Sequence[str]) -> list[Fabrication]:
    """Candidates in the order of the summary; each concept once per kind."""
    documents = [read(source) for source in sources]
    return fabrications_of(read(summary), Told(Sources(documents), len(documents)))


def fabrications_of(document: Document, told: Told) -> list[Fabrication]:
    """As `find_fabrications`, on texts that have been read already."""
    found: dict[tuple[str, str], Fabrication] = {}
    for kind, term, reason in (*_medicines(document, told), *_results(document, told), *_denials(document, told)):
        start, end = document.starts[term.first], document.ends[term.last]
        found.setdefault((kind, term.concept.id), Fabrication(kind, document.raw[start:end], start, end, reason))
    return sorted(found.values(), key=lambda item: (item.start, item.kind))


_Item = tuple[str, Term, str]
_ADVISED = word_set("facts", "advised")


def _reported(document: Document, term: Term) -> bool:
    """The sentence or its label reports advice, a warning or a question, not what the patient has or takes."""
    first, stop = document.sentence_span(term.first)
    labels = " ".join(document.labels_of(term.first)).split()
    return not _ADVISED.isdisjoint(document.words[first:stop]) or not _ADVISED.isdisjoint(labels)


def _medicines(document: Document, told: Told) -> Iterator[_Item]:
    for mention in term_index(document).by_kind.get(DRUG, ()):
        if mention.weak:
            continue
        state = intake(document, mention)
        if (
            state == ALLERGEN
            and not told.mentions(mention.concept)
            and reading(document, mention.first, mention.last).affirmed
        ):
            yield "allergy", mention, "an allergy that was never told"
        if state != NOW or _reported(document, mention):
            continue
        doses = told.doses(mention.concept)
        if doses is None:
            yield "drug", mention, "never named by the intake or the patient"
            continue
        stated = read_regimen(document, mention)
        if stated.strengths and not any(same_amount(amount, dose) for amount in stated.strengths for dose in doses):
            amount = stated.strengths[0]
            span = Term(mention.concept, min(mention.first, amount.first), max(mention.last, amount.last))
            yield "dose", span, "a dose that was never told" if not doses else "another dose than was told"


def _results(document: Document, told: Told) -> Iterator[_Item]:
    """A measurement with a figure that stands in no source."""
    for term in term_index(document).by_kind.get(MEASURE, ()):
        if term.weak or _reported(document, term):
            continue
        for value in values_of(document, term, term.concept)[:1]:
            figure = document.words[value.first]
            if value.unit is not None and any(c.isdigit() for c in figure) and not told.says(figure):
                yield (
                    "result",
                    Term(term.concept, min(term.first, value.first), max(term.last, value.last)),
                    "a result that was never told",
                )


def _denials(document: Document, told: Told) -> Iterator[_Item]:
    denied = [place for statement in none_known(document) for place in statement.spans]
    plain = [
        p
        for p in denied
        if not {"recorded", "noted", "mentioned", "listed", "reported", "record", "file"}
        & set(document.words[p[1] : p[1] + 6])
    ]
    if plain and not told.speaks_of_allergies():
        yield (
            "negative",
            Term(lexicon().concepts["condition:drug allergy"], *plain[0]),
            "allergies were never asked about",
        )
