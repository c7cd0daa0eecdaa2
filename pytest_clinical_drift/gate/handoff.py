"""Results that the process with the model hands to the worker processes that run the tests, through a folder.

Conversations, answers and scores are made once, in one process: a worker holds no model, no judge and no scorer.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from pydantic import TypeAdapter

from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.results.files import write_atomically
from pytest_clinical_drift.results.models import CaseResult
from pytest_clinical_drift.subjects.base import RunStopped
from pytest_clinical_drift.transcript import Transcript

HandedCase = tuple[tuple[Transcript, ...], CaseResult, str]
"""A case's conversations, its result, and the judge in a line."""
_POLL_SECONDS = 0.02
_SELECTION = ".selection"


@cache
def _adapter() -> TypeAdapter[HandedCase]:
    return TypeAdapter(HandedCase)


def hand_over(folder: Path, case_id: str, result: HandedCase | BaseException) -> None:
    """Hand over a result, or why there is none; whole or not at all.

    Where it cannot be written, the workers are told why; where not even that can be written, the folder is removed,
    which ends their waiting.
    """
    if isinstance(result, BaseException):
        contents: list[object] = [{"stopped": isinstance(result, RunStopped), "why": str(result)}]
    else:
        why = f"{case_id}: the result could not be handed to the test process (is the disk full?)"
        contents = [_adapter().dump_python(result), {"stopped": False, "why": why}]
    for content in contents:
        try:
            _write(folder, case_id, content)
            return
        except OSError:
            continue
    shutil.rmtree(folder, ignore_errors=True)


def _write(folder: Path, case_id: str, content: object) -> None:
    with contextlib.suppress(FileNotFoundError):  # nobody waits where the folder is gone
        if folder.exists():
            write_atomically(folder / f"{case_id}.json", json.dumps(content, ensure_ascii=True, default=str))


def wait_for(folder: Path, case_id: str) -> HandedCase:
    """The result of a case, once it is there; RunStopped where it is not wanted any more."""
    file = folder / f"{case_id}.json"
    while not file.exists():
        if not folder.exists():
            raise RunStopped("the run was stopped before this conversation was over")
        time.sleep(_POLL_SECONDS)
    content = json.loads(file.read_text(encoding="utf-8"))
    if isinstance(content, dict):
        raise RunStopped(content["why"]) if content["stopped"] else InputError(content["why"])
    return _adapter().validate_python(content)


def hand_selection(folder: Path, case_ids: Sequence[str]) -> None:
    """Tell the process with the model which cases the collected tests need; every worker collects the same."""
    with contextlib.suppress(OSError):
        write_atomically(folder / _SELECTION, json.dumps(list(case_ids)))


def handed_selection(folder: Path, known: Sequence[str]) -> list[str]:
    """The cases that the workers' tests need; all known ones where they could not say."""
    try:
        wanted = json.loads((folder / _SELECTION).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return list(known)
    return [case_id for case_id in known if case_id in wanted]
