"""What the intake and the patient have told: read once per case, so that a summary is compared by looking up.

A summary after turn n may draw on the intake and the first n messages. Every table therefore holds the number of the
first text that gives an answer: what was told by then is what has a number low enough.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

from pytest_clinical_drift.evidence.entities.extractors import Entity, content_stems
from pytest_clinical_drift.evidence.facts.taken import mentions_of
from pytest_clinical_drift.evidence.mentions.regimen import read_regimen
from pytest_clinical_drift.evidence.quantities.amounts import Amount
from pytest_clinical_drift.evidence.reading.text import Document
from pytest_clinical_drift.evidence.terms.index import named_ids, term_index
from pytest_clinical_drift.evidence.terms.lexicon import Term
from pytest_clinical_drift.evidence.terms.stems import stems_of
from pytest_clinical_drift.evidence.terms.vocabulary import Concept

__all__ = ["Sources", "Told"]

_NEVER = sys.maxsize
_Numbered = tuple[int, tuple[Amount, ...]]


class Sources:
    """The intake and the patient's messages, in their order."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self._documents = tuple(documents)
        self._stems = [frozenset(stems_of(document)) for document in documents]
        self._naming = self._first_of(map(named_ids, documents))
        self._wording = self._first_of(document.words for document in documents)
        self._on_allergies = next((n for n, d in enumerate(documents) if _speaks_of_allergies(d)), _NEVER)
        self._supporting: dict[tuple[str, str], int] = {}
        self._mentioning: dict[Concept, int] = {}
        self._dosing: dict[Concept, tuple[_Numbered, ...]] = {}

    @staticmethod
    def _first_of(keys_of_each: Iterable[Iterable[str]]) -> dict[str, int]:
        first: dict[str, int] = {}
        for number, keys in enumerate(keys_of_each):
            for key in keys:
                first.setdefault(key, number)
        return first

    def naming(self, concept_id: str) -> int:
        """The first text that names a concept or something narrower."""
        return self._naming.get(concept_id, _NEVER)

    def wording(self, word: str) -> int:
        """The first text in which a normalised word stands."""
        return self._wording.get(word, _NEVER)

    def on_allergies(self) -> int:
        """The first text that speaks of allergies at all."""
        return self._on_allergies

    def supporting(self, entity: Entity) -> int:
        """The first text that names an entity, something narrower, or all of its words."""
        key = (entity.concept, entity.text)
        number = self._supporting.get(key)
        if number is None:
            number = self.naming(entity.concept) if entity.concept else _NEVER
            stems = content_stems(entity.text)
            if stems:
                number = next((n for n, known in enumerate(self._stems[:number]) if stems <= known), number)
            self._supporting[key] = number
        return number

    def mentioning(self, medicine: Concept) -> int:
        """The first text that names a medicine in any way, clipped names included."""
        number = self._mentioning.get(medicine)
        if number is None:
            found = (n for n, document in enumerate(self._documents) if mentions_of(document, medicine))
            number = self._mentioning[medicine] = next(found, _NEVER)
        return number

    def dosing(self, medicine: Concept) -> tuple[_Numbered, ...]:
        """Every mention of a medicine or an ingredient of it: number of the text, and the doses beside the mention."""
        known = self._dosing.get(medicine)
        if known is None:
            known = self._dosing[medicine] = tuple(
                (number, _doses(document, mention))
                for number, document in enumerate(self._documents)
                for mention in _mentions(document, medicine)
            )
        return known


class Told:
    """The first texts of the sources: what had been told when a summary was asked for."""

    __slots__ = ("_count", "_sources")

    def __init__(self, sources: Sources, count: int) -> None:
        self._sources = sources
        self._count = count

    def names(self, concept_id: str) -> bool:
        """Whether a concept or something narrower was named."""
        return self._sources.naming(concept_id) < self._count

    def says(self, word: str) -> bool:
        """Whether a normalised word was said."""
        return self._sources.wording(word) < self._count

    def speaks_of_allergies(self) -> bool:
        """Whether allergies were spoken of at all."""
        return self._sources.on_allergies() < self._count

    def supports(self, entity: Entity) -> bool:
        """Whether a text named the entity, something narrower, or all of its words."""
        return self._sources.supporting(entity) < self._count

    def mentions(self, medicine: Concept) -> bool:
        """Whether a medicine was named in any way."""
        return self._sources.mentioning(medicine) < self._count

    def doses(self, medicine: Concept) -> list[Amount] | None:
        """Doses told of a medicine, now, before or planned; None when it was never named."""
        told = [amounts for number, amounts in self._sources.dosing(medicine) if number < self._count]
        return [amount for amounts in told for amount in amounts] if told else None


def _speaks_of_allergies(document: Document) -> bool:
    return "allerg" in document.raw.lower() or "nkda" in document.words


def _mentions(document: Document, medicine: Concept) -> list[Term]:
    parts = [term for part in medicine.contains for term in term_index(document).exact.get(part, ())]
    return [*mentions_of(document, medicine), *parts]


def _doses(document: Document, mention: Term) -> tuple[Amount, ...]:
    regimen = read_regimen(document, mention)
    return (*regimen.strengths, *regimen.earlier, *regimen.planned)
