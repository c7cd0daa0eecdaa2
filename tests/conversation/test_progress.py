"""Progress: a line that leaves the terminal as it found it, plain lines in logs, nothing when nothing takes time."""

from __future__ import annotations

import io
from types import SimpleNamespace

import pytest

from pytest_clinical_drift.conversation import progress as module
from pytest_clinical_drift.conversation.progress import Progress, terminal_progress
from pytest_clinical_drift.errors import FailureCode, failure
from pytest_clinical_drift.judging.queue import Count


class Clock:
    """Time that passes when told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    stand_in = Clock()
    monkeypatch.setattr(module, "time", stand_in)
    return stand_in


def started(written: list[str], *, live: bool, line: str = "") -> Progress:
    shown = Progress(written.append, live=live, width=100, current_line=lambda: line)
    shown.begin(cases=4, turns=40, replies=80)
    return shown


def wait(shown: Progress, clock: Clock, seconds: float) -> None:
    for _ in range(round(seconds / 0.1)):
        shown.waiting()
        clock.now += 0.1


def test_questions_without_an_answer_are_told_from_answered_ones(clock: Clock) -> None:
    """Of 9 that came back 6 were lost: 3 of 12 are answered."""
    shown = started([], live=True)
    shown.questions(*Count(asked=12, answered=9, unanswered=6).progress)
    assert shown.text().endswith("0/80 replies; 3/12 questions, 6 without an answer")
    shown.questions(12, 12)
    assert shown.text().endswith("; 12/12 questions")


@pytest.mark.parametrize("live", [True, False])
def test_a_server_that_is_tried_again_is_named(clock: Clock, live: bool) -> None:
    """In front of the figures where there is one line only, and gone as soon as an answer comes."""
    written: list[str] = []
    shown, judge = started(written, live=live), SimpleNamespace(trouble=None)
    shown.watch(object(), judge)
    judge.trouble = failure(FailureCode.REFUSED, status=500, error="out of memory")
    wait(shown, clock, 2)
    assert "trying again: " in written[-1]
    assert "out of memory" in written[-1]
    judge.trouble = None
    wait(shown, clock, 31)
    assert "trying again" not in written[-1]


def test_figures_are_cases_turns_replies_speed_and_time_left(clock: Clock) -> None:
    """20 fresh replies in 10 s are 2/s, the 50 that are left take 25 s; reused ones do not count as speed."""
    shown = started([], live=True)
    for number in range(30):
        shown.reply_received(reused=number < 10, ends_turn=number % 2 == 1)
    shown.case_finished()
    clock.now += 10
    assert shown.text() == "1/4 cases, 15/40 turns, 30/80 replies, 2/s, 25 s left"


def test_no_time_is_given_that_the_judge_alone_decides(clock: Clock) -> None:
    """While both work it is that of the replies; once they are all in, nobody knows how long the questions take."""
    shown = started([], live=True)
    for number in range(60):
        shown.reply_received(reused=False, ends_turn=number % 2 == 0)
    clock.now += 10
    shown.questions(100, 490, 2)
    assert shown.text() == (
        "0/4 cases, 30/40 turns, 60/80 replies, 6/s, 3 s left for the replies; 100/490 questions, 2 without an answer"
    )
    shown.questions(488, 490, 2)
    assert "3 s left; " in shown.text()
    for _ in range(20):
        shown.reply_received(reused=False, ends_turn=False)
    shown.questions(101, 490)
    assert shown.text() == "0/4 cases, 30/40 turns, 80/80 replies; 101/490 questions"


def test_nothing_is_shown_for_a_short_wait(clock: Clock) -> None:
    """A run that takes no time draws nothing."""
    written: list[str] = []
    for live in (True, False):
        shown = started(written, live=live)
        wait(shown, clock, 0.8)
        shown.arrived()
    assert written == []


def test_the_line_on_a_terminal_is_redrawn_and_removed(clock: Clock) -> None:
    """It stands below the line that pytest is writing; afterwards the cursor is back where it was."""
    written: list[str] = []
    shown = started(written, live=True, line="study_c/case ")
    wait(shown, clock, 2)
    shown.arrived()
    assert written[0].startswith("\n  [")
    assert all(text.startswith("\r  [") for text in written[1:-1])
    assert written[-1] == "\r\x1b[K\x1b[A\x1b[13C"


def test_a_log_gets_a_line_every_half_minute(clock: Clock) -> None:
    """After one second, then every 30; what pytest had written of its line is written again."""
    written: list[str] = []
    shown = started(written, live=False, line="study_c/case ")
    wait(shown, clock, 65)
    assert written == ["\nclinical-drift: 0/4 cases, 0/40 turns, 0/80 replies\nstudy_c/case "] * 3


def test_many_short_waits_do_not_flood_a_log(clock: Clock) -> None:
    """The half minute counts across tests."""
    written: list[str] = []
    shown = started(written, live=False)
    for _ in range(15):
        wait(shown, clock, 2)
        shown.arrived()
    assert len(written) == 1


@pytest.mark.parametrize(("seconds", "text"), [(5, "5 s"), (89, "89 s"), (600, "10 min"), (7200, "2.0 h")])
def test_durations_are_told_in_words_a_person_would_use(seconds: float, text: str) -> None:
    """Seconds, minutes, hours."""
    assert module._duration(seconds) == text


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Writer:
    fullwidth = 80

    def __init__(self, file: io.StringIO) -> None:
        self._file = file


class Reporter:
    def __init__(self, file: io.StringIO) -> None:
        self._tw = Writer(file)


def test_quiet_runs_show_nothing() -> None:
    """-q means none at all, on a terminal too."""
    for file in (io.StringIO(), Terminal()):
        assert terminal_progress(Reporter(file), None, -1) is None
        assert terminal_progress(Reporter(file), None, 0) is not None
    assert terminal_progress(None, None, 0) is None


@pytest.mark.parametrize(
    ("file", "environment", "workers", "live"),
    [
        (Terminal(), {"TERM": "xterm"}, False, True),
        (Terminal(), {"TERM": "xterm", "CI": "true"}, False, False),
        (Terminal(), {"TERM": "dumb"}, False, False),
        (Terminal(), {"TERM": "xterm"}, True, False),
        (io.StringIO(), {"TERM": "xterm"}, False, False),
    ],
)
def test_only_a_terminal_that_is_ours_alone_gets_a_bar(
    file: io.StringIO,
    environment: dict[str, str],
    workers: bool,
    live: bool,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """CI, pipes, terminals without cursor, and runs with worker processes get plain lines."""
    monkeypatch.delenv("CI", raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    shown = terminal_progress(Reporter(file), None, 0, workers=workers)
    assert shown is not None
    shown.begin(cases=4, turns=40, replies=80)
    wait(shown, clock, 3)
    assert ("\x1b[K" in file.getvalue()) is live
    assert ("clinical-drift: 0/4 cases" in file.getvalue()) is not live


def test_a_terminal_that_went_away_disturbs_nothing(clock: Clock) -> None:
    """The pipe was closed: the run goes on."""
    file = io.StringIO()
    shown = terminal_progress(Reporter(file), None, 0)
    file.close()
    assert shown is not None
    shown.say("waiting")
    wait(shown, clock, 3)


def test_what_is_said_before_the_run_stands_on_a_line_of_its_own() -> None:
    """As while a server is waited for."""
    written: list[str] = []
    Progress(written.append, live=True).say("waiting for the server")
    assert written == ["clinical-drift: waiting for the server\n"]
