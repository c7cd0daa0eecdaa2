"""The result of each case: made once, in the process with the model, and handed through a folder to the workers.

Conversations, answers and scores are made in one process: a worker holds no model, no judge and no scorer.
"""

import contextlib
import json
import shutil
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from pydantic import TypeAdapter

from pytest_clinical_drift.cases.files import write_atomically
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.gate.items import DriftResult, ScorerError
from pytest_clinical_drift.gate.run import GateRun
from pytest_clinical_drift.gate.set_result import judge_record
from pytest_clinical_drift.report.judge_text import judge_line
from pytest_clinical_drift.results.models import CaseResult
from pytest_clinical_drift.subjects.base import RunStopped
from pytest_clinical_drift.transcript import Transcript

HandedCase = tuple[tuple[Transcript, ...], CaseResult, str]
"""A case's conversations, its result, and the judge in a line."""
_HANDED = TypeAdapter(HandedCase)
_POLL_SECONDS = 0.02
_SELECTION = ".selection"


class CaseResults:
    """Results by case id."""

    def __init__(self, run: GateRun) -> None:
        self._run = run
        self.made: dict[str, DriftResult] = {}
        self.handoff: tempfile.TemporaryDirectory[str] | None = None
        """Where workers get their results from; None without workers."""
        self._server: threading.Thread | None = None
        self.scorer_failed = False
        """A scorer of the project raised: the run cannot be judged."""

    def make(self, case_id: str) -> DriftResult:
        """Wait for the conversations of a case, score and judge them; once for each case."""
        if case_id not in self.made:
            try:
                transcripts, result = self._run.result_of(case_id)
            except ScorerError:
                self.scorer_failed = True
                raise
            judge = judge_line(judge_record(self._run))
            self.made[case_id] = DriftResult(self._run.cases[case_id], transcripts, result, judge)
        return self.made[case_id]

    def start_serving(self) -> None:
        """Workers have collected: make what their tests need, in a thread. Only the first call starts it."""
        if self._run.runner is not None and self._server is None and self.handoff is not None:
            folder = Path(self.handoff.name)
            chosen = handed_selection(folder, list(self._run.cases))
            self._run.runner.cases = [self._run.cases[case_id] for case_id in chosen]
            self._server = threading.Thread(target=self._serve, args=(folder, chosen), daemon=True)
            self._server.start()

    def _serve(self, folder: Path, case_ids: Sequence[str]) -> None:
        for case_id in case_ids:
            try:
                result = self.make(case_id)
                hand_over(folder, case_id, (result.transcripts, result.verdict, result.judge))
            except BaseException as error:  # whoever waits must hear of whatever kept a result from being made
                hand_over(folder, case_id, error)


def hand_over(folder: Path, case_id: str, result: HandedCase | BaseException) -> None:
    """Hand over a result, or why there is none; whole or not at all.

    Where it cannot be written, the workers are told why; where not even that can be written, the folder is removed,
    which ends their waiting.
    """
    if isinstance(result, BaseException):
        contents: list[object] = [{"stopped": isinstance(result, RunStopped), "why": str(result)}]
    else:
        why = f"{case_id}: the result could not be handed to the test process (is the disk full?)"
        contents = [_HANDED.dump_python(result), {"stopped": False, "why": why}]
    for content in contents:
        if not folder.exists():  # nobody is waiting
            return
        with contextlib.suppress(OSError):
            write_atomically(folder / f"{case_id}.json", json.dumps(content, ensure_ascii=True, default=str))
            return
    shutil.rmtree(folder, ignore_errors=True)


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
    return _HANDED.validate_python(content)


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
