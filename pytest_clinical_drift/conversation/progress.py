"""How far a run is: a line that redraws itself on a terminal, plain lines in a log."""

import contextlib
import os
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

_PATIENCE = 1.0
"""Seconds that a test must have waited before anything is shown."""
_REDRAW, _LINE_EVERY = 0.2, 30.0
_BAR = 24


@dataclass
class Progress:
    """Counted by the thread that talks to the subject; drawn by the one that waits, between pytest's own writes."""

    write: Callable[[str], object] = lambda text: None
    live: bool = False
    width: int = 80
    current_line: Callable[[], str] = lambda: ""
    """What pytest has written of the line that it is at."""
    uncaptured: Callable[[], AbstractContextManager[Any]] = contextlib.nullcontext
    _totals: dict[str, int] = field(init=False, default_factory=lambda: {"cases": 0, "turns": 0, "replies": 0})
    _done: Counter[str] = field(init=False, default_factory=Counter)
    _questions: tuple[int, int, int] = field(init=False, default=(0, 0, 0))
    """Put to the judge: answered, asked, without an answer."""
    _watched: Sequence[object] = field(init=False, default=())
    _started: float = field(init=False, default_factory=lambda: time.monotonic())
    _waiting_since: float | None = field(init=False, default=None)
    _last_drawn: float = field(init=False, default=0.0)
    _drawn: bool = field(init=False, default=False)

    # -- counting

    def begin(self, *, cases: int, turns: int, replies: int) -> None:
        """So many conversations, turns of them all, and replies with the summaries."""
        self._totals = {"cases": cases, "turns": turns, "replies": replies}
        self._started = time.monotonic()

    def watch(self, *sources: object) -> None:
        """Subjects and judges, of which some say in `trouble` why they are tried again."""
        self._watched = sources

    @property
    def _trouble(self) -> str:
        return next((f"trying again: {fault}" for it in self._watched if (fault := getattr(it, "trouble", None))), "")

    def reply_received(self, *, reused: bool, ends_turn: bool) -> None:
        """A reply or a summary came; the reply is what ends a turn."""
        self._done.update(replies=1, turns=int(ends_turn), fresh=int(not reused))

    def case_finished(self) -> None:
        self._done["cases"] += 1

    def questions(self, answered: int, asked: int, unanswered: int = 0) -> None:
        """So many questions were put to the judge; so many are answered, to so many nothing came."""
        self._questions = (answered, asked, unanswered)

    def text(self) -> str:
        """Cases, turns, replies, replies per second, the time left, and the questions put to a judge.

        The time is that of the replies: how many questions are to come is not known.
        """
        line = ", ".join(f"{self._done[what]}/{total} {what}" for what, total in self._totals.items())
        missing, (answered, asked, unanswered) = self._totals["replies"] - self._done["replies"], self._questions
        if self._done["fresh"] and missing > 0:
            speed = self._done["fresh"] / max(time.monotonic() - self._started, 1e-6)
            line += f", {speed:.2g}/s" if speed < 10 else f", {speed:.0f}/s"
            line += f", {_duration(missing / speed)} left{' for the replies' if answered + unanswered < asked else ''}"
        if asked:
            line += f"; {answered}/{asked} questions"
            line += f", {unanswered} without an answer" if unanswered else ""
        return f"{line}; {self._trouble}" if self._trouble else line

    # -- drawing

    def say(self, text: str) -> None:
        """A line of its own, before the run has begun."""
        with self.uncaptured():
            self.write(f"clinical-drift: {text}\n")

    def waiting(self) -> None:
        """Called again and again by the thread that waits for a conversation."""
        now = time.monotonic()
        if self._waiting_since is None:
            self._waiting_since = now
            self._last_drawn = max(self._last_drawn, now - _LINE_EVERY + _PATIENCE) if not self.live else 0.0
        if now - self._waiting_since < _PATIENCE or now - self._last_drawn < (_REDRAW if self.live else _LINE_EVERY):
            return
        self._last_drawn = now
        with self.uncaptured():
            if self.live:
                # on a line of its own below the one that pytest is writing
                filled = _BAR * self._done["replies"] // max(self._totals["replies"], 1)
                bar = f"[{'=' * filled}{' ' * (_BAR - filled)}] {self.text()}"
                bar = f"  {self._trouble or bar}"[: self.width - 1]
                self.write(("\r" if self._drawn else "\n") + bar + "\x1b[K")
                self._drawn = True
            else:
                line = self.current_line()
                self.write(("\n" if line else "") + f"clinical-drift: {self.text()}\n{line}")

    def arrived(self) -> None:
        """The wait is over: leave the terminal as it was found."""
        self._waiting_since = None
        if self._drawn:
            column = len(self.current_line()) % self.width
            with self.uncaptured():
                self.write("\r\x1b[K\x1b[A" + (f"\x1b[{column}C" if column else ""))
            self._drawn = False


def terminal_progress(reporter: Any, capture: Any, verbosity: int, *, workers: bool = False) -> Progress | None:
    """Progress on the terminal of pytest's reporter, past its capture plugin; None with -q or without a terminal.

    With worker processes, whose results are written at any moment, there are plain lines only.
    """
    if verbosity < 0 or reporter is None:
        return None
    writer, file = reporter._tw, reporter._tw._file

    def write(text: str) -> None:
        with contextlib.suppress(OSError, ValueError, UnicodeError):
            file.write(text)
            file.flush()

    terminal = bool(getattr(file, "isatty", lambda: False)()) and os.environ.get("TERM", "") != "dumb"
    return Progress(
        write,
        live=terminal and not workers and not os.environ.get("CI"),
        width=int(writer.fullwidth),
        current_line=lambda: str(getattr(writer, "_current_line", "")),
        uncaptured=capture.global_and_fixture_disabled if capture is not None else contextlib.nullcontext,
    )


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 90 * 60 else f"{seconds / 3600:.1f} h"
