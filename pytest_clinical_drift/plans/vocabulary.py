"""The plan components of data/plan_components.yaml, as values."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from pytest_clinical_drift.evidence.terms.vocabulary import load_data


@dataclass(frozen=True, slots=True)
class RuleComponent:
    """A component that is put together from facts."""

    id: str
    kinds: frozenset[str]
    sentence: str


@dataclass(frozen=True, slots=True)
class Care:
    """Usual care of a condition."""

    condition: str
    sentence: str


@dataclass(frozen=True, slots=True)
class LinkedComponent:
    """A component that a counsellor's reasoning may hold."""

    id: str
    hypothesis: str
    """What a sentence has to entail."""
    sentence: str
    cues: tuple[str, ...]
    """Beginnings of words of which one stands in a sentence worth showing to the model."""


@dataclass(frozen=True, slots=True)
class PlanWords:
    """Everything a plan may say."""

    rules: tuple[RuleComponent, ...]
    closing: RuleComponent
    care: tuple[Care, ...]
    linked: tuple[LinkedComponent, ...]


@lru_cache(maxsize=1)
def plan_words() -> PlanWords:
    """The components, read once."""
    data = load_data("plan_components")
    closing = data["closing"]
    return PlanWords(
        tuple(RuleComponent(entry["id"], frozenset(entry["kinds"]), entry["sentence"]) for entry in data["rules"]),
        RuleComponent(closing["id"], frozenset(), closing["sentence"]),
        tuple(Care(**entry) for entry in data["care"]),
        tuple(LinkedComponent(**{**entry, "cues": tuple(entry["cues"])}) for entry in data["linked"]),
    )
