"""Rulings that the process with the judge leaves in a folder for the processes that run the tests."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.errors import SubjectError
from pytest_clinical_drift.evidence.found import Findings
from pytest_clinical_drift.judging.opinions import Ruling
from pytest_clinical_drift.judging.questions import About
from pytest_clinical_drift.transcript import Transcript


class RulingSource(Protocol):
    """Where a test gets the rulings on its conversation from."""

    def rulings(self, case: Case, transcript: Transcript) -> dict[About, Ruling]:
        """What was ruled on the questions of a conversation; waits for it."""
        ...

    def findings(self, case: Case, transcript: Transcript) -> Findings | None:
        """What the rules found, if that is known already."""
        ...


class SharedRulings:
    """What a worker process sees of the controller's bench."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def rulings(self, case: Case, transcript: Transcript) -> dict[About, Ruling]:
        file = _file(self._folder, case.id, transcript.repeat)
        while not file.exists():
            if not self._folder.exists():
                raise SubjectError("the run was stopped before the judge had answered")
            time.sleep(0.02)
        given = json.loads(file.read_text(encoding="utf-8"))
        if isinstance(given, str):
            raise SubjectError(given)
        return {tuple(about): _adapter().validate_python(ruling) for about, ruling in given}

    def findings(self, case: Case, transcript: Transcript) -> Findings | None:
        return None


def share(folder: Path, transcript: Transcript, ruled: Mapping[About, Ruling] | SubjectError) -> None:
    """Leave the rulings on a conversation, or why there are none; whole or not at all."""
    told = (
        str(ruled)
        if isinstance(ruled, SubjectError)
        else [[list(about), _adapter().dump_python(ruling)] for about, ruling in ruled.items()]
    )
    if folder.exists():
        target = _file(folder, transcript.case_id, transcript.repeat)
        draft = target.with_name(f"{target.name}.{os.getpid()}.part")
        draft.write_text(json.dumps(told), encoding="utf-8")
        draft.replace(target)


def _file(folder: Path, case_id: str, repeat: int) -> Path:
    return folder / f"{case_id}.{repeat}.rulings.json"


@cache
def _adapter() -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(Ruling)
