"""`run.json`: what a verdict rests on besides the transcripts, so that it can be had again without a model."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.errors import InputError, SubjectError
from pytest_clinical_drift.gate.run import GateRun
from pytest_clinical_drift.judging.opinions import Ruling
from pytest_clinical_drift.judging.questions import About
from pytest_clinical_drift.judging.reviews import content_hash
from pytest_clinical_drift.report.json_file import write_atomically
from pytest_clinical_drift.transcript import Transcript
from pytest_clinical_drift.verdict.results_file import Results
from pytest_clinical_drift.verdict.thresholds import Thresholds
from pytest_clinical_drift.verdict.values import Basis

FILE_NAME = "run.json"


class GivenRuling(BaseModel):
    """What was ruled on one question of one conversation."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    case_id: str
    repeat: int
    about: About
    ruling: Ruling


class RunRecord(BaseModel):
    """The inputs of a run, and every answer that was given."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1] = 1
    manifest: str
    """Hash of the results file's manifest."""
    slug: str
    strict: bool
    stride: int
    ner: str
    repeats: int
    probe: str | None
    cases: tuple[Case, ...]
    thresholds: Thresholds
    basis: Basis
    baseline: Results | None
    baseline_remarks: tuple[str, ...]
    rulings: tuple[GivenRuling, ...]
    """Answered questions only."""


def write_run_record(
    run: GateRun, basis: Basis, manifest: Mapping[str, Any], transcripts: Mapping[str, Sequence[Transcript]]
) -> Path:
    """Write `run.json` beside the results."""
    record = RunRecord(
        manifest=content_hash(manifest),
        slug=run.slug,
        strict=run.settings.strict,
        stride=run.stride,
        ner=run.settings.ner,
        repeats=run.plan.repeats,
        probe=run.plan.probe,
        cases=tuple(run.cases.values()),
        thresholds=run.thresholds,
        basis=basis,
        baseline=run.baseline,
        baseline_remarks=run.baseline_remarks,
        rulings=tuple(_given(run, transcripts)),
    )
    plain = record.model_dump(mode="json", by_alias=True)
    return write_atomically(run.results_folder / FILE_NAME, json.dumps(plain, ensure_ascii=True) + "\n")


def _given(run: GateRun, transcripts: Mapping[str, Sequence[Transcript]]) -> Iterator[GivenRuling]:
    if not run.bench.active:
        return
    for case_id, repeats in transcripts.items():
        for transcript in repeats:
            with contextlib.suppress(SubjectError):  # stopped before its answers came: then it has no result either
                for about, ruling in run.bench.rulings(run.cases[case_id], transcript).items():
                    if ruling.opinions:
                        yield GivenRuling(case_id=case_id, repeat=transcript.repeat, about=about, ruling=ruling)


def read_run_record(folder: Path) -> RunRecord:
    """Read `run.json`; InputError in one sentence where there is none."""
    file = folder / FILE_NAME
    try:
        return RunRecord.model_validate(json.loads(file.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"{file}: cannot be read ({type(error).__name__}); give the folder of a run's results"
        ) from None
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        raise InputError(
            f"{file}: is no record of a run ({'.'.join(map(str, fault['loc']))}: {fault['msg']})"
        ) from None
    except (ValueError, RecursionError):
        raise InputError(f"{file}: is no record of a run (not JSON)") from None
