"""`study_c_results.json`, read back: the one reader for baseline, compare, review and verdict."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pytest_clinical_drift.cases.faults import first_fault
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.scoring.assessment import CaseAssessment, Curve
from pytest_clinical_drift.verdict.values import SEVERE

T = TypeVar("T")
FILE_NAME = "study_c_results.json"
SCHEMA = 2
"""Raised when a reader of the older file would misread the new one."""


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)


class StoredJudgement(_Record):
    """A metric's value against its limits."""

    metric: str
    value: float | None = None
    """At the better end: confirmed alarms only."""
    worst: float | None = None
    """At the worse end: open alarms count too."""
    verdict: str = ""


class StoredCase(_Record):
    case_id: str
    verdict: str
    judgements: tuple[StoredJudgement, ...] = ()
    repeats: tuple[CaseAssessment, ...] = ()

    @property
    def group(self) -> str:
        """Cases of one group are not independent of each other."""
        return self.repeats[0].group if self.repeats else self.case_id

    @property
    def hard(self) -> bool:
        """Whether something severe was confirmed."""
        best = self.best()
        return any(best.get(name, 0.0) > 0 for name in SEVERE)

    def best(self) -> dict[str, float]:
        """The defined metrics at the better end."""
        return {item.metric: item.value for item in self.judgements if item.value is not None}

    def worst(self) -> dict[str, float]:
        """The defined metrics at the worse end; where nothing was open both are the same."""
        known = {item.metric: item.value if item.worst is None else item.worst for item in self.judgements}
        return {metric: value for metric, value in known.items() if value is not None}


class Hashes(_Record):
    """Fingerprints of what a run was made of."""

    model_config = ConfigDict(frozen=True, extra="allow")

    cases: str
    prompts: str


class Manifest(_Record):
    """What produced the figures; keys that are not read here are kept."""

    model_config = ConfigDict(frozen=True, extra="allow")

    judge: str
    stride: int = 1
    judge_prompts: str | None = None
    hashes: Hashes
    model: str = ""
    revision: str | None = None
    versions: Mapping[str, str] = Field(default_factory=dict)


class Limits(_Record):
    low: float
    high: float


class Results(_Record):
    verdict: str
    headline: str = ""
    cases: tuple[StoredCase, ...]
    manifest: Manifest
    cases_total: int = 0
    cases_complete: int = 0
    entity_recall_at_t10: float | None = None
    strict_recall_at_t10: float | None = None
    drift_slope_critical: float | None = None
    knowledge_conflict_rate: float | None = None
    knowledge_conflict_pairs: int = 0
    average_recall_curve_critical: Curve = ()
    confidence_intervals: Mapping[str, Limits] = Field(default_factory=dict)
    limits: Mapping[str, Mapping[str, Any]] = Field(default_factory=dict)
    """The gate that decided: metric to direction, pass, caution, worst and why."""


def read_results(path: Path, option: str = "") -> Results:
    """Read a results file, or the one in a folder; InputError in one sentence when it is none.

    `option` is the option that named it, for that sentence.
    """
    file = path / FILE_NAME if path.is_dir() else path
    named = f"{option} {file}".strip()

    def check(record: Any) -> Results:
        schema = record.get("schema", SCHEMA) if isinstance(record, dict) else SCHEMA
        if schema != SCHEMA:
            raise InputError(
                f"{named}: was written by another version (schema {schema}, this one reads {SCHEMA}); replay its "
                "transcripts with this version"
            )
        return Results.model_validate(record)

    return read_json(file, check, named, FILE_NAME)


def read_json(file: Path, check: Callable[[Any], T], named: str, what: str) -> T:
    """The content of a file as `check` takes it; InputError in one sentence where it cannot be read or is no `what`."""
    try:
        return check(json.loads(file.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or type(error).__name__
        raise InputError(f"{named}: cannot be read ({why})") from None
    except (ValueError, RecursionError) as error:
        fault = first_fault(error) if isinstance(error, ValidationError) else "not JSON"
        raise InputError(f"{named}: is no {what} ({fault})") from None
