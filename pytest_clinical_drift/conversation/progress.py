"""How far a run is: a line now and then, on a line of its own between those that pytest writes."""

import contextlib
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

_PATIENCE, _LINE_EVERY = 1.0, 30.0
"""Seconds that a run takes before anything is shown, and between two lines."""


class Progress:
    """Counted by the thread that talks to the subject; written by the one that waits, between pytest's own writes."""

    def __init__(
        self,
        write: Callable[[str], Any] = lambda text: None,
        *,
        current_line: Callable[[], str] = lambda: "",
        uncaptured: Callable[[], AbstractContextManager[Any]] = contextlib.nullcontext,
    ) -> None:
        self._write, self._current_line, self._uncaptured = write, current_line, uncaptured
        self._cases = self._turns = self._replies = self._fresh = 0
        self._total_cases = self._total_turns = self._total_replies = 0
        self._answered = self._asked = 0
        self._started = time.monotonic()
        self._next_line = self._started + _PATIENCE

    # -- counting

    def begin(self, *, cases: int, turns: int, replies: int) -> None:
        """So many conversations, turns of them all, and replies with the summaries."""
        self._total_cases, self._total_turns, self._total_replies = cases, turns, replies
        self._started = time.monotonic()
        self._next_line = self._started + _PATIENCE

    def reply_received(self, *, reused: bool, ends_turn: bool) -> None:
        """A reply or a summary came; the reply is what ends a turn."""
        self._replies += 1
        self._turns += ends_turn
        self._fresh += not reused

    def case_finished(self) -> None:
        self._cases += 1

    def questions(self, answered: int, asked: int) -> None:
        """So many questions were put to the judge, so many are answered."""
        self._answered, self._asked = answered, asked

    def text(self) -> str:
        """Cases, turns, replies, replies per second, the time left, and the questions put to a judge."""
        line = f"{self._cases}/{self._total_cases} cases, {self._turns}/{self._total_turns} turns, "
        line += f"{self._replies}/{self._total_replies} replies"
        if self._fresh:
            speed = self._fresh / max(time.monotonic() - self._started, 1e-6)
            line += f", {speed:.2g}/s" if speed < 10 else f", {speed:.0f}/s"
            line += f", {_duration((self._total_replies - self._replies) / speed)} left"
        return line + (f"; {self._answered}/{self._asked} questions" if self._asked else "")

    # -- writing

    def say(self, text: str) -> None:
        """A line of its own; what pytest had written of its line is written again below."""
        line = self._current_line()
        with self._uncaptured():
            self._write(("\n" if line else "") + f"clinical-drift: {text}\n{line}")

    def waiting(self) -> None:
        """Called again and again by the thread that waits for a conversation."""
        now = time.monotonic()
        if now >= self._next_line:
            self._next_line = now + _LINE_EVERY
            self.say(self.text())


def terminal_progress(reporter: Any, capture: Any, verbosity: int) -> Progress | None:
    """Progress on the terminal of pytest's reporter, past its capture plugin; None with -q or without a terminal."""
    if verbosity < 0 or reporter is None:
        return None
    writer = reporter._tw

    def write(text: str) -> None:
        with contextlib.suppress(OSError, ValueError, UnicodeError):
            writer._file.write(text)
            writer._file.flush()

    return Progress(
        write,
        current_line=lambda: str(getattr(writer, "_current_line", "")),
        uncaptured=capture.global_and_fixture_disabled if capture is not None else contextlib.nullcontext,
    )


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 90 * 60 else f"{seconds / 3600:.1f} h"
