"""Slates as pytest items: one test per metric, and the hooks that are registered only with `--slate`."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from _pytest._code.code import ReprEntryNative, ReprExceptionInfo, ReprFileLocation, ReprTraceback
from _pytest.junitxml import xml_key

from .errors import InputError, SubjectError
from .ranking.gate import CAUTION, FAIL, NOT_EVALUATED, PASS, SlateVerdict
from .report.clean import one_line, printable
from .report.slate_text import summary_lines
from .slate_run import PARTIAL, SlateRun, SlateSettings, TestResult, exit_code, result_from_json, result_to_json

PREFIX = "slate"
GATE = "verdict"
_MEANINGLESS = ("cases", "system", "judge", "ner", "tier", "nli_stride", "store", "baseline", "repeats", "set")
"""Options of the conversation gate that say nothing about a slate."""

Property = tuple[str, object]


class SlateFailure(Exception):
    """A metric is past its fail line; the text is the whole message."""


class SlateGroup(pytest.Collector):
    """One slate; its test ids do not depend on where the folder lies."""

    def __init__(self, *, plugin: SlatePlugin, slug: str, **kwargs: Any) -> None:
        super().__init__(name=slug, nodeid=f"{PREFIX}/{slug}", **kwargs)
        self.plugin = plugin

    def collect(self) -> Iterable[pytest.Item]:
        for metric in self.plugin.run.tests(self.name):
            if self.plugin.wants(self.name, metric):
                yield SlateItem.from_parent(self, plugin=self.plugin, slug=self.name, metric=metric)


class SlateItem(pytest.Item):
    """One metric of one slate against its limits."""

    def __init__(self, *, plugin: SlatePlugin, slug: str, metric: str, parent: pytest.Collector, **kwargs: Any) -> None:
        super().__init__(name=metric, parent=parent, nodeid=f"{PREFIX}/{slug}::{metric}", **kwargs)
        self.plugin = plugin
        self.slug = slug
        self.result: TestResult | None = None
        self.add_marker(pytest.mark.clinical_drift)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        return self.path, None, f"{self.slug}: {self.name}"

    def setup(self) -> None:
        """Compute and judge; a ranker that could not be run is an error, not a failure."""
        try:
            self.result = self.plugin.run.run_test(self.slug, self.name)
        except SubjectError as error:
            raise SlateFailure(str(error)) from None
        if self.config.getini("drift_junit_properties"):
            self.user_properties.extend(properties(self.result))

    def runtest(self) -> None:
        if self.result is None:
            return
        judged = self.result.judgement
        if judged.verdict == FAIL or (self.plugin.strict and judged.verdict == CAUTION):
            raise SlateFailure(
                f"{judged.verdict}: {judged.detail if judged.metric == 'integrity' else judged.sentence}"
            )
        if judged.verdict == NOT_EVALUATED:
            pytest.skip(f"{NOT_EVALUATED}: {one_line(judged.detail, 300)}")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if not isinstance(excinfo.value, SlateFailure):
            return super().repr_failure(excinfo, style)
        return _failure_repr(printable(str(excinfo.value)), f"{PREFIX}/{self.slug}")


class SlatePlugin:
    """The hooks of a gated slate. One object per pytest session, in the controller and in each worker."""

    def __init__(self, config: pytest.Config, run: SlateRun, selection: frozenset[str]) -> None:
        self.config = config
        self.run = run
        self.strict = run.settings.strict
        self.is_worker = hasattr(config, "workerinput")
        self._selection = selection
        self._verdicts: dict[str, SlateVerdict] = {}
        self._written: list[Path] = []
        self._failed = self._incomplete = False

    @classmethod
    def from_config(cls, config: pytest.Config) -> SlatePlugin:
        """Read the options and the slate, and decide what is collected."""
        for name in _MEANINGLESS:
            if getattr(config.option, f"drift_{name}") not in (None, []):
                option = f"--drift-{name.replace('_', '-')}"
                raise pytest.UsageError(f"{option} has no meaning with --slate; it belongs to conversations")
        try:
            run = SlateRun(_read_settings(config))
            selection = _take_selection(config, run)
        except InputError as error:
            raise pytest.UsageError(printable(str(error))) from None
        return cls(config, run, selection)

    def wants(self, slug: str, metric: str) -> bool:
        """Whether the command line names this test, or none."""
        return not self._selection or not self._selection.isdisjoint((f"{PREFIX}/{slug}::{metric}", f"{PREFIX}/{slug}"))

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        if self.run.settings.model is None or self.is_worker or self.config.option.collectonly:
            return
        try:
            _ = self.run.ranker
        except InputError as error:
            raise pytest.UsageError(printable(str(error))) from None

    def pytest_report_header(self) -> list[str]:
        slates = ", ".join(self.run.slates)
        gate = self.run.thresholds_file.name if self.run.thresholds_file else "the bundled thresholds"
        model = f", ranker {self.run.settings.model}" if self.run.settings.model else ""
        return [f"clinical-drift: slate {slates}{model}, gate: {gate}"]

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        report = yield
        if isinstance(collector, pytest.Session) and report.passed:
            groups = [SlateGroup.from_parent(collector, plugin=self, slug=slug) for slug in self.run.slates]
            report.result = [*report.result, *groups]
        return report

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if isinstance(item, SlateItem):
            report.slate_test = True  # type: ignore[attr-defined]
            if item.result is not None and call.when == "call":
                report.slate_result = result_to_json(item.result)  # type: ignore[attr-defined]
                report.slate_verdict = item.result.judgement.verdict  # type: ignore[attr-defined]
        return report

    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, Any] | None:
        if not report.passed or getattr(report, "slate_verdict", None) != CAUTION:
            return None
        return "caution", "C", ("CAUTION", {"yellow": True})

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if self.is_worker or getattr(report, "slate_gate", False):
            return
        data = getattr(report, "slate_result", None)
        if data is not None:
            result = result_from_json(data)
            self.run.take(result)
            self._write_figures(report, properties(result))
        if report.failed:
            outage = getattr(report, "slate_test", False) and report.when == "setup"
            self._incomplete |= outage
            self._failed |= not outage

    def _write_figures(self, report: pytest.TestReport, figures: list[Property]) -> None:
        """Figures as `name=value` lines in junit's system-out, which CI pages show."""
        xml = self.config.stash.get(xml_key, None)
        if xml is not None:
            element = ElementTree.Element("system-out")
            element.text = "\n".join(f"{name}={printable(str(value))}" for name, value in figures)
            xml.node_reporter(report).append(element)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.is_worker or self.config.option.collectonly:
            return
        for slug in self.run.slates:
            if (verdict := self.run.verdict(slug)) is not None:
                self._verdicts[slug] = verdict
                self._written += self.run.write(slug, verdict)
                self._report_verdict(session, slug, verdict)
        if session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            cautious = self.strict and any(verdict.verdict == CAUTION for verdict in self._verdicts.values())
            verdicts = list(self._verdicts.values())
            session.exitstatus = exit_code(verdicts, failed=self._failed or cautious, incomplete=self._incomplete)

    def _report_verdict(self, session: pytest.Session, slug: str, verdict: SlateVerdict) -> None:
        """One more result per slate, on the controller only: it reaches terminal and junit like that of a test."""
        if (terminal := self.config.pluginmanager.get_plugin("terminalreporter")) is not None:
            terminal.ensure_newline()
        place = f"{PREFIX}/{slug}"
        message = one_line(": ".join((verdict.verdict, "; ".join(verdict.reasons))).rstrip(": "), 300)
        outcome: Any = "failed" if verdict.verdict == FAIL or (self.strict and verdict.verdict == CAUTION) else "passed"
        longrepr: Any = _failure_repr(message, place) if outcome == "failed" else None
        if verdict.verdict in (PARTIAL, NOT_EVALUATED):
            outcome, longrepr = "skipped", (place, None, message)
        figures: list[Property] = [("verdict", verdict.verdict)]
        phases: tuple[tuple[Any, Any, Any], ...] = (("call", outcome, longrepr), ("teardown", "passed", None))
        for phase, result, detail in phases:
            report = pytest.TestReport(
                nodeid=f"{place}::{GATE}",
                location=(place, None, GATE),
                keywords={},
                outcome=result,
                longrepr=detail,
                when=phase,
                user_properties=figures if self.config.getini("drift_junit_properties") else [],
            )
            report.slate_gate = True  # type: ignore[attr-defined]
            if phase == "call":
                session.testscollected += 1
                session.config.hook.pytest_runtest_logstart(nodeid=report.nodeid, location=report.location)
                report.slate_verdict = verdict.verdict  # type: ignore[attr-defined]
                self._write_figures(report, figures)
            session.config.hook.pytest_runtest_logreport(report=report)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        for slug, verdict in self._verdicts.items():
            colour = {PASS: "green", FAIL: "red"}.get(verdict.verdict, "yellow")
            terminalreporter.section(f"slate: {slug}", **{colour: True})
            taken, evaluated = self.run.results[slug], self.run.evaluated(slug)
            judgements = [taken[name].judgement for name in self.run.tests(slug) if name in taken]
            for line in summary_lines(verdict, judgements, evaluated.prospective, evaluated.everything):
                terminalreporter.write_line(line)
        for file in self._written:
            terminalreporter.write_line(f"written: {_shown(file)}")


def properties(result: TestResult) -> list[Property]:
    """A test's figures for junit: plain values, undefined ones left out."""
    figure = result.judgement.figure
    figures: list[Property] = [("verdict", result.judgement.verdict)]
    if figure.value is not None:
        figures += [(result.judgement.metric, figure.value), ("n", figure.n)]
    if figure.interval is not None:
        figures += [("interval_low", figure.interval.low), ("interval_high", figure.interval.high)]
    return figures + [
        (f"{result.judgement.metric}_{year}", value) for year, value in result.per_year.items() if value is not None
    ]


def _read_settings(config: pytest.Config) -> SlateSettings:
    """Options win over ini keys; paths on the command line are relative to where pytest was started."""
    here, limits = config.invocation_params.dir, config.getini("drift_thresholds")
    given = config.option.drift_thresholds
    return SlateSettings(
        folder=Path(here, config.option.slate),
        root=config.rootpath,
        model=config.option.drift_model,
        thresholds=Path(here, given) if given else Path(config.rootpath, limits) if limits else None,
        results=Path(config.option.drift_results or config.getini("drift_results") or "results"),
        strict=config.option.drift_strict,
    )


def _failure_repr(text: str, place: str) -> ReprExceptionInfo:
    """A failure whose one-line message survives into junit. Not shared: the conversation gate's code is not loaded."""
    entry = ReprEntryNative([line + "\n" for line in text.splitlines()])
    return ReprExceptionInfo(
        reprtraceback=ReprTraceback([entry], None, style="native"),
        reprcrash=ReprFileLocation(place, 0, one_line(text, 300)),
    )


def _take_selection(config: pytest.Config, run: SlateRun) -> frozenset[str]:
    """Our test ids given as arguments are taken out of pytest's paths, which would not find them."""
    named = list(getattr(config.option, "slate_selection", None) or [])
    paths = []
    for argument in config.args if config.args_source is config.ArgsSource.ARGS else ():
        if argument.startswith(f"{PREFIX}/") and not Path(argument.partition("::")[0]).exists():
            slug, _, metric = argument.removeprefix(f"{PREFIX}/").partition("::")
            if slug not in run.slates or (metric and metric not in run.tests(slug)):
                raise InputError(f"{argument}: there is no such test; slates here: {', '.join(run.slates)}")
            named.append(argument)
        else:
            paths.append(argument)
    config.args = paths
    config.option.slate_selection = named
    return frozenset(named)


def _shown(path: Path) -> str:
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)
