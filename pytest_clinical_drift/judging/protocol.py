"""The interface every judge shares, and how one is named on the command line."""

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from typing import Any, Protocol

from pytest_clinical_drift.core.log import Answer, loggable
from pytest_clinical_drift.core.words import Seat
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.judging.answers import KINDS
from pytest_clinical_drift.judging.questions import Question, answered
from pytest_clinical_drift.judging.readings import READINGS, Reading
from pytest_clinical_drift.subjects.base import Identity, is_digest

RULES = "rules"
EVERYTHING = frozenset((*KINDS, *READINGS))
"""Kinds of a judge that reads texts and answers single questions."""
UNPROVEN_DAYS = 30
"""So long answers and calibration of a judge count whose identity is not proven: its name may be another's tomorrow."""


Item = Question | Reading


@dataclass(frozen=True, slots=True)
class JudgeRequest:
    """A question or reading in one wording, for the judge that reads or for the one that answers questions."""

    item: Item
    wording: int
    to: Seat = Seat.QUESTIONER

    @property
    def key(self) -> tuple[str, int, Seat]:
        return self.item.id, self.wording, self.to

    def answer(self, given: Mapping[str, Any], *, voter: str = "") -> Answer:
        """What a judge returned, as the log keeps it; failed where it is none of the answers to a question."""
        kept = loggable(given)
        if isinstance(self.item, Question):
            return answered(self.item, voter, self.wording, kept)
        return Answer(voter, self.item.id, self.wording, kept)

    def fail(self, why: str, *, outage: bool = True, unsent: bool = False) -> Answer:
        """The answer that did not come; no `outage` where the judge answered, but not usably."""
        return Answer("", self.item.id, self.wording, failed=why, outage=outage, unsent=unsent)


class Feed:
    """Requests that wait for an answer; more may come while a judge works. Shared between two threads."""

    def __init__(self, deliver: Callable[[JudgeRequest, Answer], object]) -> None:
        self.deliver = deliver
        """Hands over an answer."""
        self._waiting: list[JudgeRequest] = []
        self._news = threading.Condition()
        self.stopped = False
        """Nobody waits any more: end at once."""

    def put(self, asked: Sequence[JudgeRequest]) -> None:
        """All of them at once, so that a judge that works in batches finds a whole one."""
        with self._news:
            self._waiting.extend(asked)
            self._news.notify_all()

    def stop(self) -> None:
        with self._news:
            self.stopped = True
            self._news.notify_all()

    def take(self, most: int | None, *, wait: float = 0.0) -> list[JudgeRequest]:
        """Up to a number of what waits, after so many seconds if nothing does; each has to be delivered."""
        with self._news:
            if wait and not self._waiting and not self.stopped:
                self._news.wait(wait)
            taken = self._waiting[:most]
            self._waiting = self._waiting[most:] if most is not None else []
            return taken


class Judge(Protocol):
    """Reads texts and answers questions; a failure is an answer with `failed`, never an exception."""

    name: str
    """Short, for headlines."""
    kinds: frozenset[str]
    """Kinds of question and of reading that it can answer at all."""

    def check(self) -> list[str]:
        """Look before anything runs: InputError for what cannot work, remarks for the header otherwise."""

    def identity(self) -> Identity:
        """Who answers: the answers of another one do not count."""

    def work(self, feed: Feed) -> None:
        """Answer what the feed holds, and whatever comes, until it is stopped."""

    def close(self) -> None:
        """Give up connections, threads and memory."""


class OneByOne(ABC):
    """What judges share that answer one request after the other in this process."""

    name: str
    _settings: Mapping[str, Any]

    def identity(self) -> Identity:
        revision = self._settings.get("revision")
        return Identity(self.name, revision, proven=is_digest(revision), settings=self._settings)

    def work(self, feed: Feed) -> None:
        while not feed.stopped:
            for asked in feed.take(1, wait=0.2):
                try:
                    answer = self.answer(asked)
                except Exception as error:  # whatever it raises leaves its point open; the run goes on
                    answer = asked.fail(f"{type(error).__name__}: {error}"[:300])
                feed.deliver(asked, answer)

    @abstractmethod
    def answer(self, asked: JudgeRequest) -> Answer: ...

    def close(self) -> None:  # noqa: B027  (most hold nothing that has to be given back)
        """What is held goes with the object."""


_JUDGES = {
    "server": "chat:ServerJudge",
    "hf": "chat:HuggingFaceJudge",
    "nli": "nli:NliJudge",
    "python": "python:PythonJudge",
    "control": "control:ControlJudge",
}
"""By the word of a SPEC; imported only when chosen."""
_WITHOUT_TARGET = ("nli", "control")
_ENTRY_POINTS = "clinical_drift.judges"
"""Group of entry points by which packages add judges: a class called with the target and the settings."""


def build_judge(spec: str, settings: Mapping[str, str]) -> Judge | None:
    """The judge that a SPEC names, not yet loaded; None for `rules`."""
    kind, colon, target = spec.strip().partition(":")
    if kind == RULES and not colon:
        for name in settings:
            raise InputError(f"--drift-judge-set {name}: no judge; give one with --drift-judge")
        return None
    points = {each.name: each for each in metadata.entry_points(group=_ENTRY_POINTS)}
    others = "".join(f", {name}:TARGET" for name in sorted(points))
    points |= {name: metadata.EntryPoint(name, f"{__package__}.{place}", "") for name, place in _JUDGES.items()}
    if kind not in points or (not target and kind not in _WITHOUT_TARGET):
        forms = "rules, server:MODEL@URL, hf:REPO_OR_PATH, nli[:MODEL], python:module:factory, control, reviews:FILE"
        raise InputError(f"--drift-judge {spec}: write one of {forms}{others}")
    judge: Judge = points[kind].load()(target, settings)
    return judge
