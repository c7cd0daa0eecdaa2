"""Slates as pytest items: one test per metric, and the hooks that are registered only with `--slate`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from pytest_clinical_drift.core.files import write_atomically
from pytest_clinical_drift.errors import InputError, SubjectError, sentence
from pytest_clinical_drift.gate import pytest_reports
from pytest_clinical_drift.gate.inside_pytest import name_suite
from pytest_clinical_drift.gate.options import OPTIONS, RESULTS, destination
from pytest_clinical_drift.gate.settings import path_option, switched_on
from pytest_clinical_drift.ranking.gate import INTEGRITY, SlateJudgement, SlateRun
from pytest_clinical_drift.ranking.page import render_slate
from pytest_clinical_drift.ranking.report import summary_lines
from pytest_clinical_drift.report.clean import LONGEST_LINE, one_line
from pytest_clinical_drift.results.files import write_json
from pytest_clinical_drift.verdict.reasons import FigureState, Verdict

PREFIX = "slate"
_SHARED = ("--drift-model", "--drift-slate", "--drift-thresholds", "--drift-results", "--drift-strict")
"""Options that say something about a slate; the others belong to conversations."""
_JUDGEMENT = TypeAdapter(SlateJudgement)


class SlateItem(pytest.Item):
    """The test of one metric of a slate; its id does not depend on where the folder lies."""

    judged: SlateJudgement
    """Once it is set up."""

    def __init__(self, *, plugin: SlatePlugin, slug: str, metric: str, **kwargs: Any) -> None:
        super().__init__(name=metric, nodeid=f"{PREFIX}/{slug}::{metric}", **kwargs)
        self.plugin = plugin
        self.slug = slug
        self.extra_keyword_matches.add(slug)
        self.add_marker(pytest.mark.clinical_drift)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        return self.path, None, f"{self.slug}: {self.name}"

    def setup(self) -> None:
        """Compute and judge; a ranker that could not be run is an error, not a failure."""
        try:
            self.judged = self.plugin.run.slates[self.slug].run_test(self.name)
        except SubjectError as error:
            raise pytest_reports.GateFailure(str(error)) from None
        if self.config.getini("drift_junit_properties"):
            self.user_properties.extend(properties(self.judged))

    def runtest(self) -> None:
        judged = self.judged
        if self.plugin.fails(judged.verdict):
            told = judged.detail if judged.metric == INTEGRITY else judged
            raise pytest_reports.GateFailure(f"{judged.verdict}: {told}")
        if judged.verdict == FigureState.NOT_EVALUATED:
            pytest.skip(f"{FigureState.NOT_EVALUATED}: {one_line(str(judged.detail), LONGEST_LINE)}")


class SlatePlugin(pytest_reports.GroupsPlugin):
    """The hooks of a gated slate. One object per pytest session, in the controller and in each worker."""

    def __init__(self, config: pytest.Config, run: SlateRun, selection: frozenset[str]) -> None:
        self.config = config
        self.run = run
        self.is_worker = hasattr(config, "workerinput")
        self.selection = selection
        """Ids of tests given as arguments; empty: all."""
        self._records: dict[str, dict[str, Any]] = {}
        self._written: list[Path] = []
        self._problems: list[str] = []
        """Why results could not be written."""
        self._failed = False
        self._incomplete = False
        self._strict = switched_on(config, "drift_strict")

    @classmethod
    def from_config(cls, config: pytest.Config) -> SlatePlugin:
        """Read the options and the slate, and decide what is collected.

        Options win over ini keys; paths on the command line are relative to where pytest was started.
        """
        for option, _, _ in OPTIONS:
            if option not in _SHARED and getattr(config.option, destination(option)) not in (None, [], False):
                raise pytest.UsageError(f"{option} has no meaning with --slate; it belongs to conversations")
        config.addinivalue_line("markers", "clinical_drift: a metric of the slate gate")
        with cls.refusing():
            run = SlateRun(
                folder=Path(config.invocation_params.dir, config.option.drift_slate),
                root=config.rootpath,
                model=config.option.drift_model,
                thresholds=path_option(config, "drift_thresholds"),
            )
            selected = pytest_reports.take_ids(config, "slate_selection", partial(_ids_in, run))
            return cls(config, run, frozenset(selected))

    def fails(self, verdict: str) -> bool:
        return verdict == FigureState.FAIL or (self._strict and verdict == FigureState.CAUTION)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        name_suite(self.config, f"clinical-drift {', '.join(self.run.slates)}")
        if self.run.model is None or self.is_worker or self.config.option.collectonly:
            return
        with self.refusing():
            _ = self.run.ranker

    def pytest_report_header(self) -> list[str]:
        gate = self.run.thresholds.resolve() if self.run.thresholds else "the bundled thresholds"
        model = f", ranker {self.run.model}" if self.run.model else ""
        alone = [] if self.config.args else ["clinical-drift: slate only; your tests are not collected"]
        return [f"clinical-drift: slate {', '.join(self.run.slates)}{model}, gate: {gate}", *alone]

    def groups(self, session: pytest.Session) -> list[pytest.Item]:
        items: list[pytest.Item] = []
        for slug, slate in self.run.slates.items():
            metrics = [name for name in slate.tests if self._is_selected(f"{PREFIX}/{slug}::{name}")]
            items += [SlateItem.from_parent(session, plugin=self, slug=slug, metric=metric) for metric in metrics]
        return items

    def _is_selected(self, test_id: str) -> bool:
        return not self.selection or test_id in self.selection

    def mark(self, report: Any, item: pytest.Item, call: pytest.CallInfo[None]) -> None:
        if isinstance(item, SlateItem):
            report.slate_test = True
            if call.when == "call":
                report.slate_result = [item.slug, _JUDGEMENT.dump_python(item.judged, mode="json")]
                report.drift_verdict = str(item.judged.verdict)

    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, Any] | None:
        return pytest_reports.status_of(report, spelled_out=False) if report.passed and report.when == "call" else None

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if self.is_worker or getattr(report, "drift_whole", False):
            return
        data = getattr(report, "slate_result", None)
        if data is not None:
            judged = _JUDGEMENT.validate_python(data[1])
            self.run.slates[data[0]].judged[judged.metric] = judged
            pytest_reports.write_figures(self.config, report, properties(judged))
        if report.failed:
            outage = getattr(report, "slate_test", False) and report.when == "setup"
            self._incomplete |= outage
            self._failed |= not outage

    def finish(self, session: pytest.Session) -> None:
        """Judge and write each slate; one more result of each reaches terminal and junit like that of a test.

        Exit code 0: PASS or CAUTION, 1: FAIL, 4: not written, 6: something not evaluated, 7: a part of the tests.
        """
        if self.config.option.collectonly:
            return
        for slug, slate in self.run.slates.items():
            if slate.judged:
                record = slate.record()
                self._records[slug] = record
                self._write(slug, record)
                pytest_reports.report_whole(session, self._whole(slug, record))
        if session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            session.exitstatus = self._exit_code()

    def _write(self, slug: str, record: dict[str, Any]) -> None:
        results = Path(self.config.option.drift_results or self.config.getini("drift_results") or RESULTS)
        folder = self.config.rootpath / results / slug
        try:
            page = render_slate(record)
            written = write_json(record, folder / "slate_results.json")
            self._written += [written, write_atomically(folder / "slate_report.html", page)]
        except (InputError, OSError) as error:
            self._problems.append(f"the results could not be written: {sentence(error)}")

    def _whole(self, slug: str, record: dict[str, Any]) -> pytest_reports.ResultWithoutTest:
        """A slate's verdict as one more result of pytest."""
        verdict = record["verdict"]
        undecided = verdict in (Verdict.PARTIAL, FigureState.NOT_EVALUATED)
        return pytest_reports.ResultWithoutTest(
            place=f"{PREFIX}/{slug}",
            name="verdict",
            verdict=verdict,
            outcome="failed" if undecided or self.fails(verdict) else "passed",
            message=one_line(f"{verdict}: {'; '.join(record['reasons'])}".rstrip(": "), LONGEST_LINE),
            figures=[("verdict", verdict)],
            error=undecided,
        )

    def _exit_code(self) -> int:
        verdicts = [record["verdict"] for record in self._records.values()]
        if self._failed or any(map(self.fails, verdicts)):
            return 1
        if self._problems:
            return 4
        if self._incomplete or FigureState.NOT_EVALUATED in verdicts:
            return 6
        return 7 if Verdict.PARTIAL in verdicts else 0

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        for slug, record in self._records.items():
            colour = {FigureState.PASS: "green", FigureState.FAIL: "red"}.get(record["verdict"], "yellow")
            terminalreporter.section(f"slate: {slug}", **{colour: True})
            for line in summary_lines(record):
                terminalreporter.write_line(line)
        for file in self._written:
            terminalreporter.write_line(f"written: {pytest_reports.shown(file)}")
        for problem in self._problems:
            terminalreporter.write_line(f"ERROR: {problem}", red=True)


def _ids_in(run: SlateRun, argument: str) -> list[str] | None:
    """Ids of the tests that an argument of pytest names; None if it names a file or something else."""
    if not argument.startswith(f"{PREFIX}/") or Path(argument.partition("::")[0]).exists():
        return None
    slug, _, metric = argument.removeprefix(f"{PREFIX}/").partition("::")
    if slug not in run.slates or (metric and metric not in run.slates[slug].tests):
        raise InputError(f"{argument}: no such test; slates here: {', '.join(run.slates)}")
    return [argument] if metric else [f"{argument}::{name}" for name in run.slates[slug].tests]


def properties(judged: SlateJudgement) -> list[pytest_reports.Property]:
    """A test's figures for junit: plain values, undefined ones left out."""
    metric = judged.metric
    figure = judged.figure
    figures: dict[str, object] = {"verdict": str(judged.verdict)}
    if figure.value is not None:
        figures |= {metric: figure.value, "n": figure.n}
    if figure.interval is not None:
        figures |= {"interval_low": figure.interval.low, "interval_high": figure.interval.high}
    figures |= {f"{metric}_{year}": value for year, value in figure.per_year.items() if value is not None}
    return list(figures.items())
