"""Entities of a case's summaries, turn by turn: how many match the gold sets, which ones nobody told."""

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.evidence.entities.extractors import (
    Entity,
    Extractor,
    content_stems,
    load_extractor,
    matches_any_fact,
)
from pytest_clinical_drift.evidence.reading.text import Document, read
from pytest_clinical_drift.evidence.terms.index import named_ids
from pytest_clinical_drift.evidence.terms.words import stems_of

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


NO_ENTITIES = ScoredEntities(0, 0, 0, 0, 0, ())
"""Of a text that rules cannot read: every rate over it is undefined."""


class EntityScorer:
    """Compares the summaries of one case with its facts, its intake and what the patient has said so far."""

    def __init__(self, case: Case, extractor: Extractor | None = None) -> None:
        self._case = case
        self._extractor = extractor if extractor is not None else load_extractor()
        intake = self._extractor.extract(read(case.patient_summary))
        facts = [fact.text for fact in case.critical_entities]
        self._background = {_key(e): e for e in _distinct(intake) if not matches_any_fact(e, facts)}
        # read once: every turn's summary is compared with all that was said before it
        sources = [read(text) for text in (case.patient_summary, *(turn.message for turn in case.turns))]
        self._told = [(named_ids(document), frozenset(stems_of(document))) for document in sources]

    def score(self, summary: str | Document, turn: int) -> ScoredEntities:
        """The figures of the summary that was asked for after a turn; one that has been read is not read again."""
        document = read(summary) if isinstance(summary, str) else summary
        entities = _distinct(self._extractor.extract(document))
        facts = self._facts(turn)
        critical = [matches_any_fact(e, facts) for e in entities]
        extended = [known or _key(e) in self._background for e, known in zip(entities, critical, strict=True)]
        return ScoredEntities(
            len(entities),
            sum(critical),
            sum(extended),
            len(self._background),
            self._stated_background(document),
            tuple(e.text for e in entities if not self._is_told(e, turn)),
        )

    def _is_told(self, entity: Entity, turn: int) -> bool:
        """Whether the intake or a message up to a turn named the entity, something narrower, or all of its words."""
        stems = content_stems(entity.text)
        return any(entity.concept in ids or (stems and stems <= known) for ids, known in self._told[: turn + 1])

    def _stated_background(self, document: Document) -> int:
        named = named_ids(document)
        stems = frozenset(stems_of(document))
        return sum(
            (bool(e.concept) and e.concept in named) or (bool(wanted := content_stems(e.text)) and wanted <= stems)
            for e in self._background.values()
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
