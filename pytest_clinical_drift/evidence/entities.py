"""Entities for the extended set: extractors, the scorer of a case's summaries, and invented statements."""

from pytest_clinical_drift.evidence.extraction.entity_scores import EntityScorer, ScoredEntities
from pytest_clinical_drift.evidence.extraction.extractors import (
    Entity,
    Extractor,
    is_supported,
    load_extractor,
    matches_any_fact,
    unsupported,
)
from pytest_clinical_drift.evidence.extraction.fabrication import Fabrication, find_fabrications

__all__ = [
    "Entity",
    "EntityScorer",
    "Extractor",
    "Fabrication",
    "ScoredEntities",
    "find_fabrications",
    "is_supported",
    "load_extractor",
    "matches_any_fact",
    "unsupported",
]
