"""The hooks of a gated run; registered only when a model is given."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

import pytest

from pytest_clinical_drift.cases.files import bundled_cases
from pytest_clinical_drift.conversation.progress import Progress, terminal_progress
from pytest_clinical_drift.conversation.runner import BackgroundRunner, SharedTranscripts
from pytest_clinical_drift.errors import InputError, SubjectError, sentence
from pytest_clinical_drift.gate.items import (
    CaseGroup,
    CaseItem,
    DriftResult,
    Unfinished,
    case_marks,
    cases_of,
    mark_name,
)
from pytest_clinical_drift.gate.outcome import RunOutcome, case_properties
from pytest_clinical_drift.gate.own_scores import ask_scorers
from pytest_clinical_drift.gate.parcel import pack, unpack
from pytest_clinical_drift.gate.reporting import GroupsPlugin, name_suite, shown, status_of, write_figures
from pytest_clinical_drift.gate.run import GateRun
from pytest_clinical_drift.gate.selection import STUDY, names_case, take_selection
from pytest_clinical_drift.gate.set_report import report_gate
from pytest_clinical_drift.gate.shared_rulings import SharedRulings
from pytest_clinical_drift.gate.summary import write_summary
from pytest_clinical_drift.report.judge_text import judge_line
from pytest_clinical_drift.subjects.base import RunStopped
from pytest_clinical_drift.transcript import Transcript
from pytest_clinical_drift.verdict.grounds import ungated
from pytest_clinical_drift.verdict.values import CAUTION, CaseVerdict, fails_run


class ActivePlugin(GroupsPlugin):
    """The hooks of a gated run. One object per pytest session, in the controller and in each worker."""

    def __init__(self, config: pytest.Config, run: GateRun, selection: Sequence[str] | None) -> None:
        self.config = config
        self.run = run
        self.selection = selection
        """Case ids named on the command line; None: all cases; empty: none, only the paths given."""
        self.is_worker = hasattr(config, "workerinput")
        self.remarks: list[str] = []
        self._results: dict[str, DriftResult] = {}
        self._shared: tempfile.TemporaryDirectory[str] | None = None
        self._runner: BackgroundRunner | None = None
        self.outcome = RunOutcome(run)
        self._written: list[Path] = []
        self._problem = ""
        """Why the results are not where they should be; empty where they are."""
        self._failed = 0

    @classmethod
    def from_config(cls, config: pytest.Config) -> ActivePlugin:
        """Read the options, check all that needs no model, and decide what is collected."""
        from pytest_clinical_drift.gate.options import read_settings

        try:
            run = GateRun(read_settings(config))
            selection = take_selection(config, run)
        except (InputError, OSError) as error:
            raise pytest.UsageError(sentence(error)) from None
        config.addinivalue_line("markers", "clinical_drift: a case of the clinical drift gate")
        for tag in sorted({tag for case in run.cases.values() for tag in case.tags}):
            config.addinivalue_line("markers", f"{mark_name(tag)}: tag of a clinical drift case")
        run.own_scores = ask_scorers(config)
        return cls(config, run, selection)

    # -- before the first test

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        if self.is_worker:
            folder = Path(self.config.workerinput["drift_folder"])  # type: ignore[attr-defined]
            self.run.source = SharedTranscripts(folder)
            if self.run.bench.active:
                self.run.ruling_source = SharedRulings(folder)
            return
        name_suite(self.config, f"clinical-drift {self.run.slug}")
        if self.config.option.collectonly:
            return
        try:
            if self._distributed() and self.run.subject.exclusive:
                raise InputError(f"{self.run.spec} loads the model into each process: run it without -n")
            progress = self._progress()
            self.remarks = self.run.check(progress.say if progress else None)
            self.run.make_results_folder()
            self._runner = self._make_runner(progress)
        except (InputError, OSError) as error:
            raise pytest.UsageError(sentence(error)) from None
        self.run.source = self._runner

    def _progress(self) -> Progress | None:
        capture, terminal = (self.config.pluginmanager.get_plugin(n) for n in ("capturemanager", "terminalreporter"))
        return terminal_progress(terminal, capture, self.config.get_verbosity(), workers=self._distributed())

    def _make_runner(self, progress: Progress | None) -> BackgroundRunner:
        folder: Path | None = None
        if self._distributed():
            self._shared = tempfile.TemporaryDirectory(prefix="clinical-drift-")
            folder = Path(self._shared.name)
        if self.run.bench.active:
            self.run.bench.open(list(self.run.cases.values()), self.run.plan.repeats, self.run.scorer, folder, progress)
        return BackgroundRunner(
            self.run.subject,
            self.run.plan,
            shared=folder,
            store=self.run.store_path,
            transcripts=self.run.results_folder / "transcripts",
            progress=progress,
            on_finished=self._consider if self.run.bench.active else None,
        )

    def _consider(self, transcript: Transcript) -> None:
        self.run.bench.consider(self.run.cases[transcript.case_id], transcript)

    def _distributed(self) -> bool:
        return bool(getattr(self.config.option, "tx", None)) or bool(getattr(self.config.option, "numprocesses", None))

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        node.workerinput["drift_folder"] = self._shared.name if self._shared else ""

    def pytest_report_header(self) -> list[str]:
        cases, limits = self.run.cases_path, self.run.thresholds_file
        source = "the bundled set" if cases == bundled_cases() else shown(cases)
        number = "1 case" if len(self.run.cases) == 1 else f"{len(self.run.cases)} cases"
        gate = limits.resolve() if limits else "the bundled thresholds"
        told = [f"{self.run.spec}, {number} from {source}, gate: {gate}"]
        if missing := ungated(self.run.thresholds):
            told.append(f"not gated: {', '.join(missing)}")
        if self.selection is None:
            told.append("gate only; your tests are not collected")
        elif not self.selection:
            told.append(f"your tests only; add {STUDY} for the gate")
        return [f"clinical-drift: {line}" for line in (*told, *self.run.bench.header)]

    # -- collection

    def groups(self, session: pytest.Session) -> list[pytest.Collector]:
        chosen = self.run.cases if self.selection is None else self.selection
        return [CaseGroup.from_parent(session, plugin=self, case_id=case_id) for case_id in chosen]

    def parameters(self) -> list[Any]:
        """The cases for tests of the project's own, with their tags as marks."""
        return [pytest.param(case, id=case.id, marks=case_marks(case)) for case in self.run.cases.values()]

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        if self._runner is not None and not self._distributed():
            self._runner.select(cases_of(session.items, self.run.cases))

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: Any, ids: Sequence[str]) -> None:
        """Workers have collected: the controller, and nobody else, starts talking to the model."""
        if self._runner is not None:
            named = {case_id for case_id in self.run.cases if any(names_case(nodeid, case_id) for nodeid in ids)}
            self._runner.select([case for case in self.run.cases.values() if case.id in named])
            self._runner.start()

    def pytest_report_collectionfinish(self, items: Sequence[pytest.Item]) -> list[str]:
        from pytest_clinical_drift.gate.estimate import estimate

        if not self.config.option.collectonly:
            return [f"clinical-drift: {remark}" for remark in self.remarks]
        told = estimate(cases_of(items, self.run.cases), self.run.plan, judged=self.run.bench.judge is not None)
        return [f"clinical-drift: {line}" for line in told]

    # -- running

    def result(self, case_id: str) -> DriftResult:
        """Conversation, assessment and verdict of a case, made once."""
        if case_id not in self._results:
            case = self.run.cases[case_id]
            try:
                transcripts, assessments = self.run.assess(case_id)
            except RunStopped as stopped:
                pytest.skip(str(stopped))  # with workers, a test may wait when another process has given up
            except InputError as error:  # a scorer of the project's own gave no figure
                pytest.fail(str(error), pytrace=False)
            except SubjectError as error:
                transcripts = [Transcript(case_id, (), incomplete=str(error))]
                assessments = [self.run.scorer.score(case, transcripts[0])]
            verdict = self.run.judge(assessments)
            self._results[case_id] = DriftResult(case, tuple(transcripts), tuple(assessments), verdict, self._judge)
        return self._results[case_id]

    @property
    def _judge(self) -> str:
        return judge_line(self.run.bench.manifest())

    def fails(self, verdict: CaseVerdict) -> bool:
        """Whether this case fails its test."""
        strict = self.run.settings.strict and verdict.verdict == CAUTION
        return strict or fails_run(verdict, self.run.thresholds)

    def figures(self, result: DriftResult) -> list[tuple[str, object]]:
        """Figures for junit; plain values only, undefined ones left out."""
        return case_properties(result.verdict, result.assessments, self.run.bench.name)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if isinstance(item, CaseItem) and item.result is not None:
            report.drift_verdict = item.result.verdict.verdict  # type: ignore[attr-defined]
            if call.when == "setup" and (seconds := item.result.generation_seconds) is not None:
                report.duration = seconds  # the case's own: how long its test waited depends on the others
            if call.when == "call" or (call.when == "setup" and report.failed):
                report.drift_case = item.case_id  # type: ignore[attr-defined]
                if self.is_worker:
                    parcel = pack(item.result.assessments, item.result.verdict)
                    report.drift_parcel = parcel  # type: ignore[attr-defined]
        elif call.excinfo is not None and isinstance(call.excinfo.value, Unfinished):
            report.drift_outage = True  # type: ignore[attr-defined]
        return report

    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, Any] | None:
        if report.when != "call" or report.skipped:
            return None
        return status_of(report, spelled_out=self.config.get_verbosity() == 0 and not hasattr(report, "node"))

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if self.is_worker:
            return
        if (case_id := getattr(report, "drift_case", None)) is not None:
            self._take(case_id, report)
        elif report.failed and not getattr(report, "drift_whole", False):
            if getattr(report, "drift_outage", False):
                self.outcome.outages += 1
            else:
                self.outcome.foreign_failures += 1
        self._failed += report.failed
        if self._runner is not None and 0 < (self.config.option.maxfail or 0) <= self._failed:
            self._runner.give_up()  # workers finish the test they are at: it must not wait for its conversation

    def _take(self, case_id: str, report: pytest.TestReport) -> None:
        """Keep a case's result: a worker has sent it, or it was made in this process."""
        if (parcel := getattr(report, "drift_parcel", None)) is not None:
            result = DriftResult(self.run.cases[case_id], (), *unpack(parcel), self._judge)
        else:
            result = self._results[case_id]
        self.outcome.take(result.assessments, result.verdict)
        write_figures(self.config, report, self.figures(result), result.text)

    # -- the gate on the set

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self._runner is not None:
            self._runner.stop(interrupted=session.exitstatus == pytest.ExitCode.INTERRUPTED)
            self.run.bench.stop()
        if not self.is_worker and not self.config.option.collectonly and (verdict := self.outcome.judge()) is not None:
            try:
                self._written = self.outcome.write(self.run.subject.identity(), self._transcripts())
            except OSError as error:
                self._problem = f"the results could not be written: {sentence(error)}"
            report_gate(session, self.outcome, verdict)
        if self._shared is not None:
            self._shared.cleanup()
        if not self.is_worker and session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            fails = [self.fails(verdict) for _, verdict in self.outcome.cases]
            code = self.outcome.exit_code(fails=fails)
            session.exitstatus = pytest.ExitCode.USAGE_ERROR if self._problem and code != 1 else code

    def _transcripts(self) -> dict[str, list[Transcript]]:
        """The conversations behind the results, wherever they were scored."""
        told: dict[str, list[Transcript]] = {
            case_id: list(result.transcripts) for case_id, result in self._results.items()
        }
        for run in self.outcome.runs:
            if self._runner is not None and run.case_id not in self._results:
                with contextlib.suppress(SubjectError):
                    told.setdefault(run.case_id, []).append(self._runner.wait(run.case_id, run.repeat))
        return told

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        write_summary(terminalreporter, self.outcome, self._written, self.fails)
        if self._problem:
            terminalreporter.write_line(f"ERROR: {self._problem}", red=True)
