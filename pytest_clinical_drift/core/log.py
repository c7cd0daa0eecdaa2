"""The entries of a run's log. Everything that a verdict says follows from them, the transcripts and the spec."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from pytest_clinical_drift.core.findings import FindingKey
from pytest_clinical_drift.core.words import Why
from pytest_clinical_drift.errors import Failure

_DEEPEST = 20
"""Levels of an answer that are kept: its form has five."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question was due."""

    key: FindingKey
    why: Why
    question: str
    """Id of the question."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a judge returned for a reading or a question, as it came; or why nothing came."""

    voter: str
    """Name of the judge."""
    item: str
    """Id of the reading or question."""
    wording: int
    given: Mapping[str, Any] = field(default_factory=dict)
    """The judge's JSON object; empty where it failed."""
    failed: str = ""
    """Why there is no answer: an outage or a malformed one; empty for an answer."""
    outage: bool = False
    """Nothing came from the judge, not even a malformed answer: it says nothing about the judge."""
    unsent: bool = False
    """It failed before it was sent."""
    tokens: tuple[int, int] | None = None
    """Of the prompt and of the answer, all attempts together; None where they were not counted."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """What was measured on a conversation and follows neither from its transcript nor from answers about it."""

    alignment: float | None = None
    """Session goal alignment."""
    alignment_reason: str = ""
    """Why it was not evaluated."""
    replies_reused: int = 0
    notes: tuple[str, ...] = ()
    scores: tuple[tuple[str, float | None], ...] = ()
    """Of the project's own scorers, and the means of PDSQI-9."""
    failure: Failure | None = None
    """Why the conversation is incomplete."""


def loggable(value: Any, levels: int = _DEEPEST) -> Any:
    """A judge's JSON as the log can hold it: nothing instead of what is no finite number, or nested without end."""
    if isinstance(value, Mapping):
        return {key: loggable(held, levels - 1) for key, held in value.items()} if levels else None
    if isinstance(value, list | tuple):
        return [loggable(held, levels - 1) for held in value] if levels else None
    if isinstance(value, float) and not isfinite(value):
        return None
    return value
