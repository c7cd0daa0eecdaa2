"""The result of each case, made once: in the process with the model, which hands it to the workers."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path

from pytest_clinical_drift.errors import FailureCode, SubjectError, failure
from pytest_clinical_drift.gate.handoff import HandedCase, hand_over, handed_selection
from pytest_clinical_drift.gate.items import DriftResult
from pytest_clinical_drift.gate.manifest import judge_record
from pytest_clinical_drift.gate.own_scores import ScorerError
from pytest_clinical_drift.gate.run import GateRun
from pytest_clinical_drift.report.judge_text import judge_line
from pytest_clinical_drift.results.build import case_result
from pytest_clinical_drift.subjects.base import RunStopped
from pytest_clinical_drift.transcript import Transcript


class CaseResults:
    """Results by case id."""

    def __init__(self, run: GateRun) -> None:
        self._run = run
        self._made: dict[str, DriftResult] = {}
        self._handoff: tempfile.TemporaryDirectory[str] | None = None
        self._server: threading.Thread | None = None
        self.scorer_failed = False
        """A scorer of the project raised: the run cannot be judged."""

    def __len__(self) -> int:
        return len(self._made)

    def __getitem__(self, case_id: str) -> DriftResult:
        return self._made[case_id]

    def make(self, case_id: str) -> DriftResult:
        """Wait for the conversations of a case, score and judge them; once for each case."""
        if case_id not in self._made:
            run, case = self._run, self._run.cases[case_id]
            try:
                transcripts, assessments = run.assess(case_id)
            except (RunStopped, ScorerError) as error:
                self.scorer_failed |= isinstance(error, ScorerError)
                raise
            except SubjectError as error:
                transcripts = (Transcript(case_id, (), failure=failure(FailureCode.SUBJECT_STOPPED, error=str(error))),)
                assessments = (run.scorer.score(case, transcripts[0]),)
            judge = judge_line(judge_record(run))
            result = case_result(run.gate.judge(assessments, run.session.deciding), assessments)
            self._made[case_id] = DriftResult(case, transcripts, result, judge)
        return self._made[case_id]

    # -- for workers

    @property
    def handoff_folder(self) -> str:
        """Where workers get their results from; empty without workers."""
        return self._handoff.name if self._handoff else ""

    def expect_workers(self) -> None:
        self._handoff = tempfile.TemporaryDirectory(prefix="clinical-drift-")

    def start_serving(self) -> None:
        """Workers have collected: make what their tests need, in a thread. Only the first call starts it."""
        if self._run.runner is not None and self._server is None and self._handoff is not None:
            chosen = handed_selection(Path(self._handoff.name), list(self._run.cases))
            self._run.runner.cases = [self._run.cases[case_id] for case_id in chosen]
            self._server = threading.Thread(target=self._serve, args=(chosen,), daemon=True)
            self._server.start()

    def _serve(self, case_ids: Sequence[str]) -> None:
        for case_id in case_ids:
            try:
                result = self.make(case_id)
                handed: HandedCase | BaseException = (result.transcripts, result.verdict, result.judge)
            except BaseException as error:  # whoever waits must hear of whatever kept a result from being made
                handed = error
            if self._handoff is not None:
                hand_over(Path(self._handoff.name), case_id, handed)

    def close(self) -> None:
        if self._handoff is not None:
            self._handoff.cleanup()
