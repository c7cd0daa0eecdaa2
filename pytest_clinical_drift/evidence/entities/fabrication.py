"""Candidates for inventions: medicines, doses, allergies, results and denials that no source ever told.

Candidates only: a summary may rightly name what the model itself advised, or what anybody would infer. Whether one is
an invention is a question for a judge or a person. Sources are read once per case. A summary after turn n may draw on
the intake and the first n messages: every table holds the number of the first text that gives an answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pytest_clinical_drift.evidence.entities.extractors import Entity, content_stems
from pytest_clinical_drift.evidence.facts.measured import values_of
from pytest_clinical_drift.evidence.facts.reacts import none_known
from pytest_clinical_drift.evidence.facts.taken import ALLERGEN, NOW, intake, mentions_of
from pytest_clinical_drift.evidence.mentions.context import reading
from pytest_clinical_drift.evidence.mentions.regimen import read_regimen, same_amount
from pytest_clinical_drift.evidence.quantities.amounts import Amount
from pytest_clinical_drift.evidence.reading.text import Document
from pytest_clinical_drift.evidence.terms.index import named_ids, term_index
from pytest_clinical_drift.evidence.terms.lexicon import Term, lexicon
from pytest_clinical_drift.evidence.terms.vocabulary import DRUG, MEASURE, Concept, word_set
from pytest_clinical_drift.evidence.terms.words import stems_of


class Sources:
    """The intake and the patient's messages, in their order; `count` says how many of them had been told."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self._documents = tuple(documents)
        self._stems = [frozenset(stems_of(document)) for document in documents]
        self._named = [named_ids(document) for document in documents]
        self._dosing: dict[Concept, list[list[Amount] | None]] = {}

    def supports(self, entity: Entity, count: int) -> bool:
        """Whether a text named the entity, something narrower, or all of its words."""
        stems = content_stems(entity.text)
        told = zip(self._named[:count], self._stems[:count], strict=True)
        return any(entity.concept in named or (bool(stems) and stems <= known) for named, known in told)

    def says(self, word: str, count: int) -> bool:
        return any(word in document.words for document in self._documents[:count])

    def speaks_of_allergies(self, count: int) -> bool:
        return any("allerg" in d.raw.lower() or "nkda" in d.words for d in self._documents[:count])

    def doses(self, medicine: Concept, count: int) -> list[Amount] | None:
        """Doses told of a medicine or an ingredient, now, before or planned; None when it was never named."""
        known = self._dosing.get(medicine)
        if known is None:
            known = self._dosing[medicine] = [_doses(document, medicine) for document in self._documents]
        told = [doses for doses in known[:count] if doses is not None]
        return [dose for doses in told for dose in doses] if told else None


def _doses(document: Document, medicine: Concept) -> list[Amount] | None:
    parts = [term for part in medicine.contains for term in term_index(document).exact.get(part, ())]
    found = [read_regimen(document, mention) for mention in (*mentions_of(document, medicine), *parts)]
    return [a for regimen in found for a in (*regimen.strengths, *regimen.earlier, *regimen.planned)] if found else None


@dataclass(frozen=True, slots=True)
class Fabrication:
    kind: str
    """drug, dose, allergy, result or negative."""
    quote: str
    start: int
    """Offset of the quotation in the raw summary."""
    end: int
    reason: str


_MOST = 50
"""Of one summary. Each becomes a question that holds the whole text; a list of every drug would make thousands."""


def find_fabrications(document: Document, told: Sources, count: int) -> list[Fabrication]:
    """Candidates in the order of a summary, by the first `count` of the sources; each concept once per kind."""
    found: dict[tuple[str, str], Fabrication] = {}
    items = (*_medicines(document, told, count), *_results(document, told, count), *_denials(document, told, count))
    for kind, term, reason in items:
        start, end = document.starts[term.first], document.ends[term.last]
        found.setdefault((kind, term.concept.id), Fabrication(kind, document.raw[start:end], start, end, reason))
    return sorted(found.values(), key=lambda item: (item.start, item.kind))[:_MOST]


_Item = tuple[str, Term, str]
_ADVISED = word_set("facts", "advised")


def _reported(document: Document, term: Term) -> bool:
    """The sentence or its label reports advice, a warning or a question, not what the patient has or takes."""
    first, stop = document.sentence_span(term.first)
    labels = " ".join(document.labels_of(term.first)).split()
    return not _ADVISED.isdisjoint(document.words[first:stop]) or not _ADVISED.isdisjoint(labels)


def _medicines(document: Document, told: Sources, count: int) -> Iterator[_Item]:
    for mention in term_index(document).by_kind.get(DRUG, ()):
        if mention.weak:
            continue
        state, doses = intake(document, mention), told.doses(mention.concept, count)
        if state == ALLERGEN and doses is None and reading(document, mention.first, mention.last).affirmed:
            yield "allergy", mention, "an allergy that was never told"
        if state != NOW or _reported(document, mention):
            continue
        if doses is None:
            yield "drug", mention, "never named by the intake or the patient"
            continue
        stated = read_regimen(document, mention)
        if stated.strengths and not any(same_amount(amount, dose) for amount in stated.strengths for dose in doses):
            amount = stated.strengths[0]
            span = Term(mention.concept, min(mention.first, amount.first), max(mention.last, amount.last))
            yield "dose", span, "a dose that was never told" if not doses else "another dose than was told"


def _results(document: Document, told: Sources, count: int) -> Iterator[_Item]:
    """A measurement with a figure that stands in no source."""
    for term in term_index(document).by_kind.get(MEASURE, ()):
        if term.weak or _reported(document, term):
            continue
        for value in values_of(document, term, term.concept)[:1]:
            figure = document.words[value.first]
            if value.unit is not None and any(c.isdigit() for c in figure) and not told.says(figure, count):
                span = Term(term.concept, min(term.first, value.first), max(term.last, value.last))
                yield "result", span, "a result that was never told"


def _denials(document: Document, told: Sources, count: int) -> Iterator[_Item]:
    places = [place for statement in none_known(document) for place in statement.spans]
    plain = [p for p in places if _ON_FILE.isdisjoint(document.words[p[1] : p[1] + 6])]
    if plain and not told.speaks_of_allergies(count):
        concept = lexicon().concepts["condition:drug allergy"]
        yield "negative", Term(concept, *plain[0]), "allergies were never asked about"


_ON_FILE = frozenset(("recorded", "noted", "mentioned", "listed", "reported", "record", "file"))
