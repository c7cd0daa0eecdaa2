"""How a gate's results reach pytest: texts without traceback, a result for the whole, figures for junit files.

Shared by conversations and slates; knows neither.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from xml.etree import ElementTree

import pytest
from _pytest._code.code import ReprEntryNative, ReprExceptionInfo, ReprFileLocation, ReprTraceback
from _pytest.junitxml import xml_key

from pytest_clinical_drift.report.clean import one_line, printable

Property = tuple[str, object]
_LONGEST_MESSAGE = 300
"""Characters of the one line that junit and the short summary show."""


class GateFailure(Exception):
    """Something did not get through the gate; the text is the whole message."""

    def __init__(self, text: str, message: str | None = None) -> None:
        super().__init__(text)
        self.message = message or text
        """The same in one line."""


class GatedItem(pytest.Item):
    """A test whose failures are told in words instead of a traceback."""

    place: str
    """First part of the test id."""

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        return self._repr_failure_py(excinfo, style)

    def _repr_failure_py(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Our own text; pytest asks here, and not in the public method, for errors of set-up."""
        failure = excinfo.value
        if not isinstance(failure, GateFailure):
            return super()._repr_failure_py(excinfo, style)
        return failure_repr(str(failure), self.place, failure.message)


class GroupsPlugin:
    """A plugin whose tests stand beside those that pytest finds in files."""

    def groups(self, session: pytest.Session) -> list[pytest.Collector]:
        """What is collected beside the files."""
        raise NotImplementedError

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        report = yield
        if isinstance(collector, pytest.Session) and report.passed:
            report.result = [*report.result, *self.groups(collector)]
        return report


@dataclass(frozen=True, slots=True)
class WholeResult:
    """The result on the whole, which no test of its own stands behind."""

    place: str
    name: str
    verdict: str
    outcome: Literal["passed", "failed", "skipped"]
    message: str
    """One line; shown unless passed."""
    figures: list[Property]
    text: str = ""
    """The failure in full; empty: the message."""
    error: bool = False
    """The failure lies in what could not be run, not in what was found."""

    @property
    def longrepr(self) -> Any:
        """What pytest keeps as the text of this result."""
        if self.outcome == "passed":
            return None
        if self.outcome == "skipped":
            return (self.place, None, self.message)
        return failure_repr(self.text or self.message, self.place, self.message)


def report_whole(session: pytest.Session, whole: WholeResult) -> None:
    """Send it where the results of tests go: terminal, junit and exit code; on the controller only."""
    config = session.config
    if (terminal := config.pluginmanager.get_plugin("terminalreporter")) is not None:
        terminal.ensure_newline()
    when: Literal["setup", "call"] = "setup" if whole.error else "call"
    for phase in (when, "teardown"):
        report = pytest.TestReport(
            nodeid=f"{whole.place}::{whole.name}",
            location=(whole.place, None, whole.name),
            keywords={},
            outcome=whole.outcome if phase == when else "passed",
            longrepr=whole.longrepr if phase == when else None,
            when=phase,
            user_properties=whole.figures if config.getini("drift_junit_properties") else [],
        )
        report.drift_whole = True  # type: ignore[attr-defined]
        report.drift_verdict = whole.verdict  # type: ignore[attr-defined]
        if phase == when:
            session.testscollected += 1
            config.hook.pytest_runtest_logstart(nodeid=report.nodeid, location=report.location)
            write_figures(config, report, whole.figures)
        config.hook.pytest_runtest_logreport(report=report)


def status_of(report: pytest.TestReport, *, spelled_out: bool) -> tuple[str, str, Any] | None:
    """Category, letter and word of one of our results; what passed its test without being a PASS is yellow."""
    verdict = getattr(report, "drift_verdict", None)
    if verdict is None:
        return None
    category, letter, colour = ("passed", ".", "green") if report.passed else ("failed", "F", "red")
    if report.passed and verdict != "PASS":
        category, letter, colour = (
            ("unsettled", "U", "yellow") if verdict == "UNSETTLED" else ("caution", "C", "yellow")
        )
    word = category.upper()
    return category, word if spelled_out else letter, (word, {colour: True})


def failure_repr(text: str, place: str, message: str) -> ReprExceptionInfo:
    """A failure text whose one-line message survives into junit, with and without xdist."""
    entry = ReprEntryNative([line + "\n" for line in printable(text).splitlines()])
    return ReprExceptionInfo(
        reprtraceback=ReprTraceback([entry], None, style="native"),
        reprcrash=ReprFileLocation(place, 0, one_line(message, _LONGEST_MESSAGE)),
    )


def write_figures(config: pytest.Config, report: pytest.TestReport, figures: list[Property], text: str = "") -> None:
    """Figures as `name=value` lines in junit's system-out, which CI pages show; `text` follows them."""
    xml = config.stash.get(xml_key, None)
    if xml is None:
        return
    lines = [f"{name}={printable(str(value))}" for name, value in figures]
    element = ElementTree.Element("system-out")
    element.text = "\n".join([*lines, "", printable(text)] if text else lines)
    xml.node_reporter(report).append(element)


def name_suite(config: pytest.Config, name: str) -> None:
    """Name the junit suite after the model, unless the project has named it."""
    xml = config.stash.get(xml_key, None)
    if xml is not None and xml.suite_name == "pytest":
        xml.suite_name = name


def shown(path: Path) -> str:
    """A path from here, where it lies below."""
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)
