"""Progress: a line now and then, nothing when nothing takes time."""

from __future__ import annotations

import io

import pytest

from pytest_clinical_drift.conversation import progress as module
from pytest_clinical_drift.conversation.progress import Progress, terminal_progress


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


def started(written: list[str], line: str = "") -> Progress:
    shown = Progress(written.append, current_line=lambda: line)
    shown.begin(cases=4, turns=40, replies=80)
    return shown


def wait(shown: Progress, clock: Clock, seconds: float) -> None:
    for _ in range(round(seconds / 0.1)):
        shown.waiting()
        clock.now += 0.1


def test_figures_are_cases_turns_replies_speed_and_time_left(clock: Clock) -> None:
    """20 fresh replies in 10 s are 2/s, the 50 that are left take 25 s; reused ones do not count as speed."""
    shown = started([])
    for number in range(30):
        shown.reply_received(reused=number < 10, ends_turn=number % 2 == 1)
    shown.case_finished()
    clock.now += 10
    assert shown.text() == "1/4 cases, 15/40 turns, 30/80 replies, 2/s, 25 s left"


def test_nothing_is_shown_for_a_short_run(clock: Clock) -> None:
    """A run that takes no time writes nothing."""
    written: list[str] = []
    wait(started(written), clock, 0.8)
    assert written == []


def test_a_line_every_half_minute(clock: Clock) -> None:
    """After one second, then every 30; what pytest had written of its line is written again."""
    written: list[str] = []
    wait(started(written, line="study_c/case "), clock, 65)
    assert written == ["\nclinical-drift: 0/4 cases, 0/40 turns, 0/80 replies\nstudy_c/case "] * 3


@pytest.mark.parametrize(("seconds", "text"), [(5, "5 s"), (89, "89 s"), (600, "10 min"), (7200, "2.0 h")])
def test_durations_are_told_in_words_a_person_would_use(seconds: float, text: str) -> None:
    """Seconds, minutes, hours."""
    assert module._duration(seconds) == text


class Writer:
    def __init__(self, file: io.StringIO) -> None:
        self._file = file


class Reporter:
    def __init__(self, file: io.StringIO) -> None:
        self._tw = Writer(file)


def test_quiet_runs_show_nothing() -> None:
    """-q means none at all."""
    assert terminal_progress(Reporter(io.StringIO()), None, -1) is None
    assert terminal_progress(Reporter(io.StringIO()), None, 0) is not None
    assert terminal_progress(None, None, 0) is None


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
    Progress(written.append).say("waiting for the server")
    assert written == ["clinical-drift: waiting for the server\n"]
