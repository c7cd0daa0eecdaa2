"""What a run is held against, and `run.json`: with the transcripts enough to have its verdict again without a model."""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.judging.opinions import Ruling
from pytest_clinical_drift.judging.questions import About
from pytest_clinical_drift.judging.reviews import content_hash
from pytest_clinical_drift.report.json_file import write_atomically
from pytest_clinical_drift.scoring.assessment import CaseAssessment
from pytest_clinical_drift.verdict.case import judge_case
from pytest_clinical_drift.verdict.results_file import Results, read_json
from pytest_clinical_drift.verdict.thresholds import Thresholds
from pytest_clinical_drift.verdict.values import CAUTION, Basis, CaseVerdict, fails_run

FILE_NAME = "run.json"


class Gate(BaseModel):
    """Cases, limits and ways of scoring of a run: the same when it is judged again."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    slug: str
    strict: bool
    stride: int
    ner: str
    repeats: int
    probe: str | None
    cases: tuple[Case, ...]
    thresholds: Thresholds
    baseline: Results | None
    baseline_remarks: tuple[str, ...]
    today: datetime.date = Field(default_factory=datetime.date.today, exclude=True)
    """Waivers expire."""

    def judge(self, assessments: Sequence[CaseAssessment]) -> CaseVerdict:
        """The verdict on one case's repeats."""
        return judge_case(assessments, self.thresholds, self.today)

    def fails(self, verdict: CaseVerdict) -> bool:
        """Whether a case fails its test."""
        return (self.strict and verdict.verdict == CAUTION) or fails_run(verdict, self.thresholds)


class RunRecord(Gate):
    """The gate of a finished run, and every answer that was given."""

    version: Literal[1] = 1
    manifest: str
    """Hash of the results file's manifest."""
    basis: Basis
    rulings: tuple[tuple[str, int, About, Ruling], ...]
    """Answered questions only: case, repeat, what the question is about, and what was ruled."""


def write_run_record(
    folder: Path,
    gate: Gate,
    basis: Basis,
    manifest: Mapping[str, Any],
    ruled: Mapping[tuple[str, int], Mapping[About, Ruling]],
) -> Path:
    """Write `run.json` beside the results; `ruled` is by case and repeat."""
    given = [
        (case_id, repeat, about, ruling)
        for (case_id, repeat), rulings in sorted(ruled.items())
        for about, ruling in rulings.items()
        if ruling.opinions
    ]
    record = RunRecord(**dict(gate), manifest=content_hash(manifest), basis=basis, rulings=tuple(given))
    plain = record.model_dump(mode="json", by_alias=True)
    return write_atomically(folder / FILE_NAME, json.dumps(plain, ensure_ascii=True) + "\n")


def read_run_record(folder: Path) -> RunRecord:
    """Read `run.json`; InputError in one sentence where there is none."""
    file = folder / FILE_NAME
    return read_json(file, RunRecord.model_validate, f"{file}", "record of a run")
