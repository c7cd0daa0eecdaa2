"""The hooks of a gated run; registered only when a model is given."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

import pytest
from _pytest.config.findpaths import determine_setup

from .assessment import assessment_from_json, assessment_to_json
from .case_files import bundled_cases
from .cases import Case
from .conversation.progress import Progress, terminal_progress
from .conversation.runner import BackgroundRunner, SharedTranscripts
from .errors import InputError, SubjectError
from .gate_report import name_suite, report_gate, write_figures
from .items import CaseGroup, CaseItem, DriftResult, mark_name
from .outcome import RunOutcome, case_properties
from .run import GateRun
from .selection import names_case, take_selection
from .subjects.base import RunStopped
from .transcript import Transcript
from .verdict import CAUTION, FAIL, PARTIAL, PASS, CaseVerdict, fails_run


class ActivePlugin:
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
        self._failed = 0

    @classmethod
    def from_config(cls, config: pytest.Config) -> ActivePlugin:
        """Read the options, check all that needs no model, and decide what is collected."""
        from .options import read_settings

        try:
            run = GateRun(read_settings(config, _project_root(config)))
            selection = take_selection(config, run)
        except InputError as error:
            raise pytest.UsageError(str(error)) from None
        for tag in sorted({tag for case in run.cases.values() for tag in case.tags}):
            config.addinivalue_line("markers", f"{mark_name(tag)}: tag of a clinical drift case")
        return cls(config, run, selection)

    # -- before the first test

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        if self.is_worker:
            self.run.source = SharedTranscripts(Path(self.config.workerinput["drift_folder"]))  # type: ignore[attr-defined]
            return
        name_suite(self.config, f"clinical-drift {self.run.slug}")
        if self.config.option.collectonly:
            return
        try:
            if self._distributed() and self.run.subject.exclusive:
                raise InputError(f"{self.run.spec} loads the model into each process: run it without -n")
            progress = self._progress()
            self.remarks = self.run.check(progress.say if progress else None)
            self._runner = self._make_runner(progress)
        except InputError as error:
            raise pytest.UsageError(str(error)) from None
        self.run.source = self._runner

    def _progress(self) -> Progress | None:
        capture, terminal = (self.config.pluginmanager.get_plugin(n) for n in ("capturemanager", "terminalreporter"))
        return terminal_progress(terminal, capture, self.config.get_verbosity(), workers=self._distributed())

    def _make_runner(self, progress: Progress | None) -> BackgroundRunner:
        folder: Path | None = None
        if self._distributed():
            self._shared = tempfile.TemporaryDirectory(prefix="clinical-drift-")
            folder = Path(self._shared.name)
        return BackgroundRunner(
            self.run.subject,
            self.run.plan,
            shared=folder,
            store=self.run.store_path,
            transcripts=self.run.results_folder / "transcripts",
            progress=progress,
        )

    def _distributed(self) -> bool:
        return bool(getattr(self.config.option, "tx", None)) or bool(getattr(self.config.option, "numprocesses", None))

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        node.workerinput["drift_folder"] = self._shared.name if self._shared else ""

    def pytest_report_header(self) -> list[str]:
        line = f"clinical-drift: {self.run.spec}, {len(self.run.cases)} cases from {_shown(self.run.cases_path)}, "
        gate = _shown(self.run.thresholds_file) if self.run.thresholds_file else "the bundled thresholds"
        return [line + f"gate: {gate}"]

    # -- collection

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        report = yield
        if isinstance(collector, pytest.Session) and report.passed:
            chosen = self.run.cases if self.selection is None else self.selection
            report.result = [*report.result, *(self._group(collector, case_id) for case_id in chosen)]
        return report

    def _group(self, session: pytest.Session, case_id: str) -> CaseGroup:
        return CaseGroup.from_parent(session, plugin=self, case_id=case_id)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        if self._runner is not None and not self._distributed():
            self._runner.select(self._cases_of(session.items))

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: Any, ids: Sequence[str]) -> None:
        """Workers have collected: the controller, and nobody else, starts talking to the model."""
        if self._runner is not None:
            named = {case_id for case_id in self.run.cases if any(names_case(nodeid, case_id) for nodeid in ids)}
            self._runner.select([case for case in self.run.cases.values() if case.id in named])
            self._runner.start()

    def _cases_of(self, items: Sequence[pytest.Item]) -> list[Case]:
        wanted = set()
        for item in items:
            if isinstance(item, CaseItem):
                wanted.add(item.case_id)
            elif isinstance(case := getattr(getattr(item, "callspec", None), "params", {}).get("drift_case"), Case):
                wanted.add(case.id)
        return [case for case in self.run.cases.values() if case.id in wanted]

    def pytest_report_collectionfinish(self, items: Sequence[pytest.Item]) -> list[str]:
        from .estimate import estimate

        if not self.config.option.collectonly:
            return [f"clinical-drift: {remark}" for remark in self.remarks]
        return [f"clinical-drift: {estimate(self._cases_of(items), self.run.plan)}"]

    # -- running

    def result(self, case_id: str) -> DriftResult:
        """Conversation, assessment and verdict of a case, made once."""
        if case_id not in self._results:
            case = self.run.cases[case_id]
            try:
                transcripts, assessments = self.run.assess(case_id)
            except RunStopped as stopped:
                pytest.skip(str(stopped))  # with workers, a test may wait when another process has given up
            except SubjectError as error:
                transcripts = [Transcript(case_id, (), incomplete=str(error))]
                assessments = [self.run.scorer.score(case, transcripts[0])]
            verdict = self.run.judge(assessments)
            self._results[case_id] = DriftResult(case, tuple(transcripts), tuple(assessments), verdict)
        return self._results[case_id]

    def fails(self, verdict: CaseVerdict) -> bool:
        """Whether this case fails its test."""
        strict = self.run.settings.strict and verdict.verdict == CAUTION
        return strict or fails_run(verdict, self.run.thresholds)

    def figures(self, result: DriftResult) -> list[tuple[str, object]]:
        """Figures for junit; plain values only, undefined ones left out."""
        return case_properties(result.verdict, result.assessments, self.run.settings.judge)

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
                payload = [assessment_to_json(assessment) for assessment in item.result.assessments]
                report.drift_assessments = payload  # type: ignore[attr-defined]
                report.drift_figures = self.figures(item.result)  # type: ignore[attr-defined]
        return report

    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, Any] | None:
        verdict = getattr(report, "drift_verdict", None)
        if verdict is None or report.when != "call" or report.skipped:
            return None
        spelled_out = self.config.get_verbosity() == 0 and not hasattr(report, "node")
        if report.passed and verdict in (CAUTION, FAIL):
            return "caution", "CAUTION" if spelled_out else "C", ("CAUTION", {"yellow": True})
        if report.passed:
            return "passed", "PASSED" if spelled_out else ".", ("PASSED", {"green": True})
        return "failed", "FAILED" if spelled_out else "F", ("FAILED", {"red": True})

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not self.is_worker:
            payload = getattr(report, "drift_assessments", None)
            if payload is not None:
                self.outcome.take([assessment_from_json(text) for text in payload])
                write_figures(self.config, report)
            elif report.failed and not getattr(report, "drift_gate", False):
                self.outcome.foreign_failures += 1
            self._failed += report.failed
            if self._runner is not None and 0 < (self.config.option.maxfail or 0) <= self._failed:
                self._runner.give_up()  # workers finish the test they are at: it must not wait for its conversation

    # -- the gate on the set

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self._runner is not None:
            self._runner.stop(interrupted=session.exitstatus == pytest.ExitCode.INTERRUPTED)
        if not self.is_worker and not self.config.option.collectonly and (verdict := self.outcome.judge()) is not None:
            self._written = self.outcome.write(self.run.subject.identity(), self._transcripts())
            report_gate(session, self.outcome, verdict)
        if self._shared is not None:
            self._shared.cleanup()
        if not self.is_worker and session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            fails = [self.fails(verdict) for _, verdict in self.outcome.cases]
            session.exitstatus = self.outcome.exit_code(fails=fails)

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
        """The whole table; with -v every fact lost, with -q the verdict alone."""
        verdict = self.outcome.verdict
        if verdict is None:
            return
        colour = {PASS: "green", CAUTION: "yellow", PARTIAL: "yellow"}.get(verdict.verdict, "red")
        lines = self.outcome.summary(terminalreporter._tw.fullwidth, self.config.get_verbosity())
        if self.config.get_verbosity() >= 0:
            terminalreporter.section(f"clinical drift: {self.run.slug}", **{colour: True})
            lines += [f"written: {_shown(file)}" for file in self._written]
        for line in lines:
            terminalreporter.write_line(line, **({colour: True} if line.startswith(verdict.headline) else {}))
        for command in self.outcome.annotations:
            terminalreporter.write_line(command)


def _project_root(config: pytest.Config) -> Path:
    """Where the project lies that pytest was started in.

    Without test paths pytest takes the values of options it does not know yet for paths: `--drift-cases /elsewhere`
    would move its root folder, and with it our results and the project's thresholds.
    """
    if config.args_source is config.ArgsSource.ARGS or config.option.rootdir or config.option.inifilename:
        return config.rootpath
    root, *_ = determine_setup(
        inifile=None,
        override_ini=None,
        args=[],
        rootdir_cmd_arg=None,
        invocation_dir=config.invocation_params.dir,
    )
    return root


def _shown(path: Path) -> str:
    """A path as a reader knows it: from here, or by what it is."""
    if path == bundled_cases():
        return "the bundled set"
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)
