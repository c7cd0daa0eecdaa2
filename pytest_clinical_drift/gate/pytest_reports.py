"""How a gate's results reach pytest: texts without traceback, a result for the whole, figures for junit files.

Shared by conversations and slates; knows neither.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest

from pytest_clinical_drift.errors import InputError, sentence
from pytest_clinical_drift.gate.inside_pytest import complete_junit, junit_of
from pytest_clinical_drift.report.clean import LONGEST_LINE, loggable, one_line, printable

Property = tuple[str, object]
Say = Callable[[str], object]
"""Gets the lines that a command prints."""
_UNDECIDED = {"UNSETTLED": ("unsettled", "U"), "PARTIAL": ("partial", "P")}
"""Verdicts that decide nothing: the terminal's category and letter."""


class GateFailure(pytest.fail.Exception):  # type: ignore[name-defined, misc]  # public, though not as a type
    """Something did not get through the gate; the text is the whole message, told without a traceback."""

    def __init__(self, text: str, message: str | None = None) -> None:
        super().__init__(loggable(text), pytrace=False)
        self.line = one_line(message or text, LONGEST_LINE)
        """The same in one line."""

    def put_line(self, longrepr: Any, nodeid: str) -> None:
        """Into what pytest made of the failure, for junit and the short summary."""
        crash = longrepr.reprcrash
        crash.path, crash.lineno, crash.message = nodeid.partition("::")[0], 0, self.line


class GroupsPlugin(ABC):
    """A plugin whose tests stand beside those that pytest finds in files."""

    @staticmethod
    @contextmanager
    def refusing() -> Iterator[None]:
        """What is wrong with the input ends the session in one sentence, with exit code 4."""
        try:
            yield
        except (InputError, OSError) as error:
            raise pytest.UsageError(sentence(error)) from None

    @abstractmethod
    def groups(self, session: pytest.Session) -> Sequence[pytest.Collector | pytest.Item]:
        """What is collected beside the files."""

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        report = yield
        if isinstance(collector, pytest.Session) and report.passed:
            report.result = [*report.result, *self.groups(collector)]
        return report

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if call.excinfo is not None and isinstance(failure := call.excinfo.value, GateFailure):
            failure.put_line(report.longrepr, report.nodeid)
        self.mark(report, item, call)
        return report

    @abstractmethod
    def mark(self, report: Any, item: pytest.Item, call: pytest.CallInfo[None]) -> None:
        """Put on a report what the controller has to know; plain values only."""

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Generator[None, Any, Any]:
        if not hasattr(session.config, "workerinput"):
            self.finish(session)
        decided = session.exitstatus
        result = yield
        if decided:  # some plugins add bits of their own, and 6 with one more is 7
            session.exitstatus = decided
        return result

    @abstractmethod
    def finish(self, session: pytest.Session) -> None:
        """Judge the whole, write its files, and give pytest the exit code; not called in workers."""


@dataclass(frozen=True, slots=True)
class ResultWithoutTest:
    """A result that no pytest test stands behind: of a whole set or slate, or of a case of a run without pytest."""

    place: str
    name: str
    verdict: str
    outcome: Literal["passed", "failed"]
    message: str
    """One line; shown unless passed."""
    figures: list[Property]
    text: str = ""
    """The failure in full; empty: the message."""
    error: bool = False
    """Nothing was found against the model: something could not be run, or is not decided yet."""

    def reports(self, *, properties: bool = True, seconds: float = 0.0) -> tuple[Any, Any]:
        """As pytest reports a test: the phase that decides, and the teardown that ends it."""
        longrepr = None
        try:
            if self.outcome == "failed":
                raise GateFailure(self.text or self.message, self.message)
        except GateFailure as failure:
            longrepr = pytest.ExceptionInfo.from_exception(failure).getrepr(style="value")
            failure.put_line(longrepr, self.place)
        shared: Any = {
            "nodeid": f"{self.place}::{self.name}",
            "location": (self.place, None, self.name),
            "keywords": {},
            "user_properties": self.figures if properties else [],
        }
        when: Any = "setup" if self.error else "call"
        decisive: Any = pytest.TestReport(
            **shared, when=when, outcome=self.outcome, longrepr=longrepr, duration=seconds
        )
        teardown: Any = pytest.TestReport(**shared, when="teardown", outcome="passed", longrepr=None)
        for report in (decisive, teardown):
            report.drift_whole, report.drift_verdict = True, self.verdict
        return decisive, teardown


def report_whole(session: pytest.Session, whole: ResultWithoutTest) -> None:
    """Send it where the results of tests go: terminal, junit and exit code; on the controller only."""
    config = session.config
    if (terminal := config.pluginmanager.get_plugin("terminalreporter")) is not None:
        terminal.ensure_newline()
    decisive, teardown = whole.reports(properties=config.getini("drift_junit_properties"))
    session.testscollected += 1
    config.hook.pytest_runtest_logstart(nodeid=decisive.nodeid, location=decisive.location)
    config.hook.pytest_runtest_logreport(report=decisive)
    write_figures(config, decisive, whole.figures)
    config.hook.pytest_runtest_logreport(report=teardown)


def take_ids(config: pytest.Config, kept_as: str, ids_in: Callable[[str], Sequence[str] | None]) -> list[str]:
    """Our test ids among the arguments, taken out of pytest's paths: no file stands behind them.

    `ids_in` says which ids an argument names; None: it is a path. They stay in the option `kept_as` for workers.
    """
    named, paths = list(getattr(config.option, kept_as, None) or []), []
    for argument in config.args if config.args_source is config.ArgsSource.ARGS else ():
        if (ids := ids_in(argument)) is None:
            paths.append(argument)
        else:
            named += ids
    config.args = paths
    setattr(config.option, kept_as, named)
    return named


def status_of(report: pytest.TestReport, *, spelled_out: bool) -> tuple[str, str, Any] | None:
    """Category, letter and word of one of our results; what is neither a PASS nor a FAIL is yellow.

    None: as pytest shows any other test. UNSETTLED and PARTIAL are errors of set-up to pytest and to junit files.
    """
    verdict = getattr(report, "drift_verdict", None)
    undecided = _UNDECIDED.get(str(verdict)) if report.when == "setup" and report.failed else None
    if verdict is None or (report.when != "call" and undecided is None):
        return None
    category, letter, colour = ("passed", ".", "green") if report.passed else ("failed", "F", "red")
    if undecided is not None:
        category, letter, colour = *undecided, "yellow"
    elif report.passed and verdict != "PASS":
        category, letter, colour = "caution", "C", "yellow"
    word = category.upper()
    return category, word if spelled_out else letter, (word, {colour: True})


def write_figures(config: pytest.Config, report: pytest.TestReport, figures: list[Property], text: str = "") -> None:
    """Figures as `name=value` lines in junit's system-out, which CI pages show, with `text` after them.

    To be called once pytest has written the test.
    """
    complete_junit(junit_of(config), report, figure_lines(figures, text))


def figure_lines(figures: list[Property], text: str = "") -> str:
    lines = [f"{name}={value}" for name, value in figures]
    return printable("\n".join([*lines, "", text] if text else lines))


def shown(path: Path) -> str:
    """A path from here, where it lies below."""
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)
