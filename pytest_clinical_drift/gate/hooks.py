"""The hooks of a gated run; registered only when a model is given."""

import sys
import tempfile
import threading
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pytest_clinical_drift.cases.files import LONG, bundled_cases
from pytest_clinical_drift.conversation.progress import terminal_progress
from pytest_clinical_drift.errors import InputError, sentence
from pytest_clinical_drift.gate.inside_pytest import name_suite
from pytest_clinical_drift.gate.items import (
    STUDY,
    CaseItem,
    DriftResult,
    ScorerError,
    Unfinished,
    case_marks,
    cases_of,
    hand_over,
    hand_selection,
    handed_selection,
    mark_name,
    own_scores,
    take_selection,
    wait_for,
)
from pytest_clinical_drift.gate.ledger import record_run
from pytest_clinical_drift.gate.publishing import (
    FinishedRun,
    delayed_interrupt,
    ending_remarks,
    whole_result,
    write_summary,
)
from pytest_clinical_drift.gate.pytest_reports import GroupsPlugin, report_whole, shown, status_of, write_figures
from pytest_clinical_drift.gate.reviewed import check_baseline
from pytest_clinical_drift.gate.run import GateRun
from pytest_clinical_drift.gate.set_result import SetResult, figures_of, judge_record, judge_run
from pytest_clinical_drift.gate.settings import read_settings
from pytest_clinical_drift.judging.for_reviewers import others_named
from pytest_clinical_drift.report.judge_text import judge_line
from pytest_clinical_drift.report.run_lines import Collects, JudgeHeader, RunHeader, header_lines
from pytest_clinical_drift.report.words import counted
from pytest_clinical_drift.results.inputs import JudgingRecord
from pytest_clinical_drift.results.run_log import logs_of
from pytest_clinical_drift.scoring.events import cannot_happen
from pytest_clinical_drift.subjects.base import RunStopped
from pytest_clinical_drift.verdict.metric_table import EVENT_METRICS


class ActivePlugin(GroupsPlugin):
    """The hooks of a gated run. One object per pytest session, in the controller and in each worker."""

    def __init__(self, config: pytest.Config) -> None:
        """Read the options, check all that needs no model, and decide what is collected."""
        self.config = config
        with self.refusing():
            self.run = GateRun(read_settings(config), partial(own_scores, config))
            self.selection = take_selection(config, self.run)
            """Case ids named on the command line; None: all cases; empty: none, only the paths given."""
        config.addinivalue_line("markers", "clinical_drift: a case of the clinical drift gate")
        for tag in sorted({tag for case in self.run.cases.values() for tag in case.tags}):
            config.addinivalue_line("markers", f"{mark_name(tag)}: tag of a clinical drift case")
        self.is_worker = hasattr(config, "workerinput")
        folder = getattr(config, "workerinput", {}).get("drift_folder")
        self._results_come_in = Path(folder) if folder else None
        """Where this process, a worker, gets its results from."""
        self._handoff: tempfile.TemporaryDirectory[str] | None = None
        """The same in the process with the model; None without workers."""
        self._made: dict[str, DriftResult] = {}
        """Results by case, in the process with the model."""
        self._scorer_failed = False
        """A scorer of the project raised: the run cannot be judged."""
        self.remarks: list[str] = []
        """What to say before the first test."""
        self.collected = SetResult(self.run.inputs)
        self._finished: FinishedRun | None = None
        self._written: list[Path] = []
        self._closing_remarks: list[str] = []
        """What to say at the end besides the verdict."""
        self._problem = ""
        """Why the results could not be written."""
        self._interrupted = False
        self._failed = 0

    # -- before the first test

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        name_suite(self.config, f"clinical-drift {self.run.slug}")
        if self.is_worker or self.config.option.collectonly:
            return
        terminal, capture = map(self.config.pluginmanager.get_plugin, ("terminalreporter", "capturemanager"))
        verbosity = self.config.get_verbosity()
        progress = terminal_progress(terminal, capture, verbosity, workers=self._distributed())
        with self.refusing():
            check_baseline(self.run.settings.baseline)
            self.remarks = self.run.check(progress.say if progress else None)
            self.run.folder.create()
            self.run.begin(progress=progress, transcripts=self.run.folder.transcripts)
        if self._distributed():
            self._handoff = tempfile.TemporaryDirectory(prefix="clinical-drift-", ignore_cleanup_errors=True)

    def _distributed(self) -> bool:
        return bool(getattr(self.config.option, "tx", None)) or bool(getattr(self.config.option, "numprocesses", None))

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        node.workerinput["drift_folder"] = self._handoff.name if self._handoff else ""

    def pytest_report_header(self) -> list[str]:
        cases, limits = self.run.cases_path, self.run.thresholds_file
        sets = {bundled_cases(): "the bundled set", bundled_cases(LONG): "the bundled long set"}
        names = self.run.session.names
        impossible = [cannot_happen(case, others_named=others_named(case, names)) for case in self.run.inputs.cases]
        header = RunHeader(
            model=str(self.run.spec),
            cases=len(self.run.cases),
            chosen=len(self.run.chosen),
            source=sets.get(cases) or shown(cases),
            gate=str(limits.resolve()) if limits else "the bundled thresholds",
            shard=str(self.run.settings.shard or ""),
            implied=self.run.inputs.thresholds.implied_metrics,
            cannot=[m for m in EVENT_METRICS if all(m in metrics for metrics in impossible)],
            collects=self._collects(),
            study=STUDY,
            judge=self._judge_header(),
        )
        return [f"clinical-drift: {line}" for line in header_lines(header)]

    def _collects(self) -> Collects:
        if self.selection is None:
            return Collects.GATE
        return Collects.BOTH if self.selection else Collects.TESTS

    def _judge_header(self) -> JudgeHeader | None:
        judge = self.run.session
        if not judge.judges:
            return None
        return JudgeHeader(name=judge.name, offline=judge.options.offline, hosts=judge.hosts)

    # -- collection

    def groups(self, session: pytest.Session) -> list[pytest.Item]:
        chosen = self.run.chosen if self.selection is None else self.selection
        return [CaseItem.from_parent(session, run=self.run, results=self.result, case_id=name) for name in chosen]

    def parameters(self) -> list[Any]:
        """The cases for tests of the project's own, with their tags as marks."""
        cases = [self.run.cases[case_id] for case_id in self.run.chosen]
        return [pytest.param(case, id=case.id, marks=case_marks(case)) for case in cases]

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        if self.is_worker:  # before xdist tells the controller that collection is over
            if self._results_come_in is not None:
                hand_selection(self._results_come_in, [case.id for case in cases_of(session.items, self.run.cases)])
        elif self.run.runner is not None and not self._distributed():
            self.run.runner.cases = cases_of(session.items, self.run.cases)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: Any, ids: Sequence[str]) -> None:
        """A worker has collected: the controller, and nobody else, makes what all of them need, in one thread."""
        runner = self.run.runner
        if runner is not None and not runner.cases and self._handoff is not None:
            folder = Path(self._handoff.name)
            chosen = handed_selection(folder, list(self.run.cases))
            runner.cases = [self.run.cases[case_id] for case_id in chosen]
            threading.Thread(target=self._serve, args=(folder, chosen), daemon=True).start()

    def pytest_report_collectionfinish(self, items: Sequence[pytest.Item]) -> list[str]:
        lines, chosen = self.remarks, cases_of(items, self.run.cases)
        if self.config.option.collectonly:
            from pytest_clinical_drift.gate.starting import estimate

            with self.refusing():
                lines = estimate(chosen, self.run)
        elif not chosen and not self._distributed():
            lines = [*lines, f"no case selected out of {len(self.run.cases)}: nothing to ask, no verdict"]
        return [f"clinical-drift: {line}" for line in lines]

    # -- running

    def _make(self, case_id: str) -> DriftResult:
        """Wait for the conversations of a case, score and judge them; once for each case."""
        if case_id not in self._made:
            made, judge = self.run.result_of(case_id), judge_line(judge_record(self.run))
            self._made[case_id] = DriftResult(self.run.cases[case_id], *made, judge)
        return self._made[case_id]

    def _serve(self, folder: Path, case_ids: Sequence[str]) -> None:
        for case_id in case_ids:
            try:
                result = self._make(case_id)
                hand_over(folder, case_id, (result.transcripts, result.verdict, result.judge))
            except BaseException as error:  # whoever waits must hear of whatever kept a result from being made
                self._scorer_failed |= isinstance(error, ScorerError)
                hand_over(folder, case_id, error)

    def result(self, case_id: str) -> DriftResult:
        """Conversation, assessment and verdict of a case: from the process with the model, or made here."""
        try:
            if not self.is_worker:
                return self._make(case_id)
            return DriftResult(self.run.cases[case_id], *wait_for(self._results_come_in or Path(), case_id))
        except RunStopped as stopped:
            pytest.skip(str(stopped))  # with workers, a test may wait when another process has given up
        except InputError as error:
            self._scorer_failed |= isinstance(error, ScorerError)
            if not self.is_worker:  # every other case would say the same
                session: Any = self.config.pluginmanager.get_plugin("session")
                session.shouldfail = "a scorer of the project cannot be used"
            raise pytest.fail.Exception(str(error), pytrace=False) from None

    def mark(self, report: Any, item: pytest.Item, call: pytest.CallInfo[None]) -> None:
        if isinstance(item, CaseItem) and item.result is not None:
            report.drift_verdict = str(item.result.verdict.verdict)
            if call.when == "setup" and (seconds := item.result.generation_seconds) is not None:
                report.duration = seconds  # the case's own: how long its test waited depends on the others
            if call.when == "call" or (call.when == "setup" and report.failed):
                report.drift_case = item.name
        elif call.excinfo is not None and isinstance(call.excinfo.value, Unfinished):
            report.drift_outage = True

    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, Any] | None:
        if report.skipped:
            return None
        return status_of(report, spelled_out=self.config.get_verbosity() == 0 and not hasattr(report, "node"))

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if self.is_worker:
            return
        if (case_id := getattr(report, "drift_case", None)) is not None:
            result = self._made[case_id]
            self.collected.add(result.verdict, result.transcripts)
            write_figures(self.config, report, figures_of(result.verdict, self.run.session.name), result.text)
        elif report.failed and getattr(report, "drift_outage", False):
            self.collected.outages += 1
        elif report.failed and not getattr(report, "drift_whole", False):
            self.collected.foreign_failures += 1
        self._failed += report.failed
        if self.run.runner is not None and 0 < (self.config.option.maxfail or 0) <= self._failed:
            self.run.runner.give_up()  # workers finish the test they are at: it must not wait for its conversation

    # -- the gate on the set

    @pytest.hookimpl(tryfirst=True)
    def pytest_keyboard_interrupt(self) -> None:
        """Remembered here: a second Ctrl-C may keep pytest from setting the session's exit status."""
        self._interrupted = True

    def finish(self, session: pytest.Session) -> None:
        if self.config.option.collectonly:
            return
        self._interrupted |= session.exitstatus == pytest.ExitCode.INTERRUPTED
        self._interrupted |= isinstance(sys.exc_info()[1], KeyboardInterrupt)
        broken_off = self._scorer_failed or self._interrupted
        runner = self.run.runner
        try:
            if runner is not None:
                runner.stop(interrupted=broken_off)
                self.run.session.stop()
            with delayed_interrupt() as pressed:
                self._judge_and_write(session)
            if runner is not None:
                self._closing_remarks += ending_remarks(self.run, self.collected, broken_off=broken_off)
            if pressed:
                session.exitstatus = pytest.ExitCode.INTERRUPTED
                self._closing_remarks.append("Ctrl-C while the results were written: they were written to the end")
        except KeyboardInterrupt:
            session.exitstatus = pytest.ExitCode.INTERRUPTED
            self._problem = "Ctrl-C before the results were written: run again"

    def _judge_and_write(self, session: pytest.Session) -> None:
        """Judge the set, write what is known of it, and report it to pytest."""
        made, transcripts = self._made, self.collected.transcripts
        if transcripts:
            result = judge_run(self.run, self.collected)
            self._finished = FinishedRun(self.collected, result, record_run(self.run.results, result))
        elif made:
            of = f"on {len(made)} of {counted(len(self.run.cases), 'case')}"
            remark = f"clinical-drift: your own tests {of}: no release verdict (add {STUDY} for the gate)"
            self._closing_remarks.append(remark)
        try:
            if self._finished is not None:
                logs = logs_of(self.run.judged, self.collected.runs)
                judging = JudgingRecord.of(self.run.session)
                self._written = self._finished.publish(self.run.folder, self.run.sheet, logs, judging)
            else:
                self.run.folder.publish((), on_top=False)
        except (InputError, OSError) as error:
            self._problem = f"the results could not be written: {sentence(error)}"
        if self._finished is not None:
            report_whole(session, whole_result(self._finished, self._problem))
        if self._handoff is not None:
            self._handoff.cleanup()
        if session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            code = self.collected.exit_code()
            session.exitstatus = 4 if self._scorer_failed or (self._problem and code != 1) else code

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self._finished is not None:
            write_summary(terminalreporter, self._finished, self._written)
        for remark in self._closing_remarks:
            terminalreporter.write_line(remark)
        if self._problem:
            terminalreporter.write_line(f"ERROR: {self._problem}", red=True)
