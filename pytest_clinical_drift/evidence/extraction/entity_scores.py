"""Entities of a case's summaries, turn by turn: how many match the gold sets, which ones nobody told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_clinical_drift.evidence.extraction.extractors import (
    Entity,
    Extractor,
    is_supported,
    load_extractor,
    matches_any_fact,
)
from pytest_clinical_drift.evidence.extraction.fabrication import fabrications_of
from pytest_clinical_drift.evidence.text import read

if TYPE_CHECKING:
    from pytest_clinical_drift.cases import Case

__all__ = ["EntityScorer", "ScoredEntities"]


@dataclass(frozen=True, slots=True)
class ScoredEntities:
    """Counts of one summary's entities, each distinct one counted once."""

    stated: int
    """Entities of the summary."""
    matching_critical: int
    """Those that are a critical fact or part of one."""
    matching_extended: int
    """Those that are a critical fact or an entity of the intake."""
    background: int
    """Entities of the intake beyond the critical facts: with them the extended set."""
    background_stated: int
    """Background entities that the summary states."""
    hallucinated: tuple[str, ...]
    """Entities that neither the intake nor the patient's messages so far name."""
    fabricated: tuple[str, ...]
    """Invented drugs, doses, allergies and denials, as sentences."""


class EntityScorer:
    """Compares the summaries of one case with its facts, its intake and what the patient has said so far."""

    def __init__(self, case: Case, extractor: Extractor | None = None) -> None:
        self._case = case
        self._extractor = extractor if extractor is not None else load_extractor()
        intake = self._extractor.extract([case.patient_summary])[0]
        facts = [fact.text for fact in case.critical_entities]
        self._background = [e for e in _distinct(intake) if not matches_any_fact(e, facts)]
        # read once: every turn's summary is compared with all that was said before it
        self._told = [read(text) for text in (case.patient_summary, *(turn.message for turn in case.turns))]

    def score(self, summary: str, turn: int) -> ScoredEntities:
        """The figures of the summary that was asked for after a turn."""
        entities = _distinct(self._extractor.extract([summary])[0])
        facts = self._facts(turn)
        told = self._told[: turn + 1]
        critical = [e for e in entities if matches_any_fact(e, facts)]
        background = {_key(e) for e in self._background}
        extended = [e for e in entities if e in critical or _key(e) in background]
        document = read(summary)
        stated = sum(is_supported(e, document) for e in self._background)
        invented = [e.text for e in entities if not any(is_supported(e, source) for source in told)]
        fabricated = [f"{item.kind} {item.quote!r}: {item.reason}" for item in fabrications_of(document, told)]
        return ScoredEntities(
            len(entities),
            len(critical),
            len(extended),
            len(self._background),
            stated,
            tuple(invented),
            tuple(fabricated),
        )

    def _facts(self, turn: int) -> list[str]:
        """Every wording of a critical fact that has been true up to a turn."""
        texts = [text for fact in self._case.critical_entities for text in (fact.text, *fact.aliases)]
        for said in self._case.turns:
            if said.turn <= turn:
                texts += [fact.text for fact in said.introduces]
                texts += [update.becomes for update in said.updates if update.becomes]
        return texts


def _key(entity: Entity) -> str:
    return entity.concept or entity.text.lower()


def _distinct(entities: Sequence[Entity]) -> list[Entity]:
    """One entity per concept, the first."""
    return list({_key(entity): entity for entity in reversed(entities)}.values())[::-1]
