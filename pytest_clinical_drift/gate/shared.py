"""Results that the process with the model leaves in a folder for the worker processes that run the tests.

Conversations, answers and scores are made once, in one process: a worker holds no model, no judge and no scorer.
"""

from __future__ import annotations

import contextlib
import json
import time
from functools import cache
from pathlib import Path

from pydantic import TypeAdapter

from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.report.json_file import write_atomically
from pytest_clinical_drift.scoring.assessment import CaseAssessment
from pytest_clinical_drift.subjects.base import RunStopped
from pytest_clinical_drift.transcript import Transcript
from pytest_clinical_drift.verdict.values import CaseVerdict

Judged = tuple[tuple[Transcript, ...], tuple[CaseAssessment, ...], CaseVerdict, str]
"""A case's conversations, their assessments, the verdict, and the judge in a line."""
_POLL_SECONDS = 0.02


@cache
def _adapter() -> TypeAdapter[Judged]:
    return TypeAdapter(Judged)


def leave(folder: Path, case_id: str, result: Judged | BaseException) -> None:
    """Leave a result, or why there is none; whole or not at all. Nobody waits where the folder is gone."""
    told: object = {"stopped": isinstance(result, RunStopped), "why": str(result)}
    if not isinstance(result, BaseException):
        told = _adapter().dump_python(result)
    with contextlib.suppress(FileNotFoundError):
        if folder.exists():
            write_atomically(folder / f"{case_id}.json", json.dumps(told, ensure_ascii=True, default=str))


def wait_for(folder: Path, case_id: str) -> Judged:
    """The result of a case, once it is there; RunStopped where it is not wanted any more."""
    file = folder / f"{case_id}.json"
    while not file.exists():
        if not folder.exists():
            raise RunStopped("the run was stopped before this conversation was over")
        time.sleep(_POLL_SECONDS)
    told = json.loads(file.read_text(encoding="utf-8"))
    if isinstance(told, dict):
        raise RunStopped(told["why"]) if told["stopped"] else InputError(told["why"])
    return _adapter().validate_python(told)
