"""`run.json`: what a run was held against and every answer; with the transcripts enough to judge it again."""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.judging.opinions import Ruling
from pytest_clinical_drift.judging.questions import About
from pytest_clinical_drift.judging.reviews import content_hash
from pytest_clinical_drift.results.files import read_record, write_atomically
from pytest_clinical_drift.results.models import SCHEMA_VERSION, Manifest, RunResult
from pytest_clinical_drift.scoring.assessment import CaseAssessment
from pytest_clinical_drift.verdict.case import judge_case
from pytest_clinical_drift.verdict.reasons import Reason
from pytest_clinical_drift.verdict.states import Verdict
from pytest_clinical_drift.verdict.thresholds import Thresholds
from pytest_clinical_drift.verdict.values import CaseVerdict, Deciders, fails_run

INPUTS_FILE = "run.json"


class GateInputs(BaseModel):
    """Cases, limits and ways of scoring of a run: the same when it is judged again."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    slug: str
    strict: bool
    stride: int
    ner: str
    repeats: int
    probe: str | None
    probe_every_turn: bool = False
    single_message: bool = False
    """What was requested beyond the schedule: the transcripts hold it."""
    cases: tuple[Case, ...]
    thresholds: Thresholds
    baseline: RunResult | None
    """Without its conversations."""
    baseline_remarks: tuple[Reason, ...]
    today: datetime.date = Field(default_factory=datetime.date.today, exclude=True)
    """Waivers expire."""

    def judge(self, assessments: Sequence[CaseAssessment]) -> CaseVerdict:
        """The verdict on one case's repeats."""
        return judge_case(assessments, self.thresholds, self.today)

    def fails(self, verdict: CaseVerdict) -> bool:
        """Whether a case fails its test."""
        return (self.strict and verdict.verdict == Verdict.CAUTION) or fails_run(verdict, self.thresholds)


class RunInputs(GateInputs):
    """The inputs of a finished run, and every answer that was given."""

    schema_version: Literal[3] = SCHEMA_VERSION
    manifest: str
    """Hash of the results file's manifest."""
    deciders: Deciders
    rulings: tuple[tuple[str, int, About, Ruling], ...]
    """Answered questions only: case, repeat, what the question is about, and what was ruled."""


def manifest_hash(manifest: Manifest) -> str:
    """What every review of a run carries."""
    return content_hash(manifest.model_dump(mode="json", by_alias=True))


def write_inputs(
    folder: Path,
    gate: GateInputs,
    deciders: Deciders,
    manifest: Manifest,
    ruled: Mapping[tuple[str, int], Mapping[About, Ruling]],
) -> Path:
    """Write `run.json` beside the results; `ruled` is by case and repeat."""
    given = [
        (case_id, repeat, about, ruling)
        for (case_id, repeat), rulings in sorted(ruled.items())
        for about, ruling in rulings.items()
        if ruling.opinions
    ]
    known = {name: getattr(gate, name) for name in GateInputs.model_fields}
    inputs = RunInputs(**known, manifest=manifest_hash(manifest), deciders=deciders, rulings=tuple(given))
    plain = inputs.model_dump(mode="json", by_alias=True)
    return write_atomically(folder / INPUTS_FILE, json.dumps(plain, ensure_ascii=True) + "\n")


def read_inputs(folder: Path) -> RunInputs:
    """Read `run.json`; InputError in one sentence where there is none."""
    file = folder / INPUTS_FILE
    return read_record(file, RunInputs.model_validate, f"{file}", "record of a run")
