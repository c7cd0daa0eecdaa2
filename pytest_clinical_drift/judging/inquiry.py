"""Puts the questions of many conversations to a judge, all in flight at once, and says what the answers amount to."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import hashlib
import json
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import TypeAdapter

from pytest_clinical_drift.conversation.store import connect
from pytest_clinical_drift.errors import InputError, SubjectError
from pytest_clinical_drift.judging.answers import UNSURE, Answer
from pytest_clinical_drift.judging.opinions import Ruling, needs_second, weigh
from pytest_clinical_drift.judging.prompts import prompt_hash
from pytest_clinical_drift.judging.protocol import Asked, Feed, Judge
from pytest_clinical_drift.judging.questions import Question

_GIVEN_UP_AFTER = 40
"""Failures in a row, without one answer between them, after which a judge is not asked any more."""
OFFLINE = "not in the store, and nobody is asked (offline=true)"

Given = list[tuple[int, Answer]]
"""The answers to a question, each with its wording."""
_Key = tuple[str, int]
_TABLE = (
    "CREATE TABLE IF NOT EXISTS answers "
    "(key TEXT PRIMARY KEY, created TEXT NOT NULL, answer TEXT NOT NULL) WITHOUT ROWID"
)
_ANSWER = TypeAdapter(Answer)


@dataclass(slots=True)
class Count:
    """How far the questions are, each wording counted."""

    asked: int = 0
    """Put to the judge or found in the store."""
    answered: int = 0
    reused: int = 0
    failed: int = 0
    last_failure: str = ""
    """Why the latest of them failed."""
    seconds: float = 0.0
    """In which at least one question was with the judge."""
    tokens: Counter[str] = field(default_factory=Counter)
    """Of prompts and answers, and over how many answers they were counted; stored answers included."""


class _Archive:
    """Answers already had, in the run's store: nothing is asked twice, and a verdict can be had again offline."""

    def __init__(self, path: Path | None, judge: str) -> None:
        self._judge = judge
        self._guard = threading.Lock()
        try:
            if path is not None:
                path.parent.mkdir(parents=True, exist_ok=True)
            self._rows = connect(path or ":memory:")
            self._rows.execute(_TABLE)
        except (sqlite3.Error, OSError) as error:
            raise InputError(f"--drift-store {path}: cannot be used as a store ({error})") from None

    def get(self, asked: Asked) -> Answer | None:
        with self._guard, contextlib.suppress(sqlite3.Error, ValueError):
            row = self._rows.execute("SELECT answer FROM answers WHERE key = ?", (self._key(asked),)).fetchone()
            return _ANSWER.validate_python(json.loads(row[0])) if row is not None else None
        return None

    def put(self, asked: Asked, answer: Answer) -> None:
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        row = (self._key(asked), now, json.dumps(dataclasses.asdict(answer), ensure_ascii=True))
        with self._guard, contextlib.suppress(sqlite3.Error):
            self._rows.execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?)", row)

    def close(self) -> None:
        with self._guard, contextlib.suppress(sqlite3.Error):
            self._rows.close()

    def _key(self, asked: Asked) -> str:
        return hashlib.sha256(f"{self._judge}/{asked.question.id}/{asked.wording}".encode()).hexdigest()


class Inquiry:
    def __init__(self, judge: Judge, store: Path | None = None, *, offline: bool = False) -> None:
        """Without a `store` answers live as long as the run."""
        self._judge = judge
        self._archive = _Archive(store, judge.identity().fingerprint(prompt_hash()))
        self._offline = offline
        self.on_progress: Callable[[Count], object] | None = None
        """Hears of every answer, on whichever thread it comes."""
        self.count = Count()
        self._feed = Feed(self._take)
        self._news = threading.Condition(threading.RLock())
        self._asked: dict[_Key, Asked] = {}
        self._answers: dict[_Key, Answer] = {}
        self._with_judge: set[_Key] = set()
        self._busy_since = 0.0
        self._groups: dict[Hashable, tuple[Question, ...]] = {}
        self._failures = 0
        self._given_up = ""
        self._thread: threading.Thread | None = None

    # ---- for those who ask

    def submit(self, group: Hashable, questions: Sequence[Question]) -> None:
        """Ask the questions of one conversation; kinds that the judge cannot answer are left out."""
        kept = tuple(question for question in questions if question.kind in self._judge.kinds)
        with self._news:
            self._groups[group] = kept
        fresh = self._fresh([Asked(q, wording) for q in kept for wording in ((1, 2) if q.severe else (1,))])
        if fresh:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="clinical-drift-judge", daemon=True)
                self._thread.start()
            self._feed.put(fresh)

    def wait(self, group: Hashable, *, waiting: Callable[[], object] | None = None) -> list[tuple[Question, Given]]:
        """The answers to the questions of a conversation, once they are all there; failed ones included."""
        left: list[Question] | None = None
        while True:
            with self._news:
                if left is None and group in self._groups:
                    left = list(self._groups[group])
                while left and self._complete(left[-1]):
                    left.pop()
                if left == []:
                    return [(question, self._given(question)) for question in self._groups[group]]
                if self._feed.stopped:
                    raise SubjectError("the judge was stopped")
                self._news.wait(0.2)
            if waiting is not None:
                waiting()

    def rulings(
        self, group: Hashable, deciding: frozenset[str], *, waiting: Callable[[], object] | None = None
    ) -> dict[str, Ruling]:
        """What the answers of a conversation amount to, by question id; kinds outside `deciding` decide nothing."""
        return {
            question.id: weigh(question, answers, self._judge.name, decides=question.kind in deciding)
            for question, answers in self.wait(group, waiting=waiting)
        }

    def stop(self) -> None:
        self._feed.stop()
        with self._news:
            self._news.notify_all()
        if self._thread is not None:
            self._thread.join(timeout=10)
        self._judge.close()
        self._archive.close()

    # ---- asking

    def _fresh(self, wanted: Sequence[Asked]) -> list[Asked]:
        """What the judge has to be asked; answers that need no asking are taken at once, and may call for more."""
        fresh, queue = [], list(reversed(wanted))
        while queue:
            asked = queue.pop()
            with self._news:
                key = asked.question.id, asked.wording
                if key in self._asked:
                    continue
                self._asked[key] = asked
                self.count.asked += 1
                answer = self._without_asking(asked)
                if answer is None:
                    if not self._with_judge:
                        self._busy_since = time.monotonic()
                    self._with_judge.add(key)
            if answer is None:
                fresh.append(asked)
            else:
                queue.extend(self._record(asked, answer))
        return fresh

    def _without_asking(self, asked: Asked) -> Answer | None:
        """A stored answer, or the certainty that there will be none."""
        stored = self._archive.get(asked)
        if stored is not None:
            self.count.reused += 1
            return stored
        failed = self._given_up or (OFFLINE if self._offline else "")
        return Answer(UNSURE, failed=failed) if failed else None

    def _run(self) -> None:
        try:
            self._judge.work(self._feed)
        except BaseException as error:  # whatever ended this thread is an outage of the judge, not of the run
            self._give_up(f"the judge broke off ({type(error).__name__}: {error})"[:300])

    # ---- answers

    def _take(self, asked: Asked, answer: Answer) -> Sequence[Asked]:
        """An answer arrives from the judge; returns what it makes necessary and is not stored."""
        self._failures = self._failures + 1 if answer.failed else 0
        if not answer.failed:
            self._archive.put(asked, answer)
        fresh = self._fresh(self._record(asked, answer))
        if self._failures >= _GIVEN_UP_AFTER and not self._given_up:
            self._give_up(f"the judge was given up after {self._failures} failures in a row ({answer.failed})")
        return [] if self._given_up else fresh

    def _give_up(self, reason: str) -> None:
        """Nothing more is asked: what is unanswered stays open, and the run goes on."""
        with self._news:
            self._given_up = reason
            left = [self._asked[key] for key in self._with_judge]
        self._feed.take(len(left))  # nobody need ask them any more
        for asked in left:
            self._record(asked, Answer(UNSURE, failed=reason))

    def _record(self, asked: Asked, answer: Answer) -> list[Asked]:
        """Keep an answer; returns the second wording where it becomes necessary."""
        key = asked.question.id, asked.wording
        with self._news:
            if key in self._answers:
                return []  # too late: it was given up
            self._answers[key] = answer
            self.count.answered += 1
            self.count.failed += bool(answer.failed)
            self.count.last_failure = answer.failed or self.count.last_failure
            if answer.tokens is not None:
                self.count.tokens.update(prompt=answer.tokens[0], answer=answer.tokens[1], answers=1)
            if key in self._with_judge:
                self._with_judge.remove(key)
                if not self._with_judge:
                    self.count.seconds += time.monotonic() - self._busy_since
            self._news.notify_all()
        if self.on_progress is not None:
            self.on_progress(self.count)
        again = asked.wording == 1 and not asked.question.severe and needs_second(asked.question, answer)
        return [Asked(asked.question, 2)] if again else []

    def _complete(self, question: Question) -> bool:
        first = self._answers.get((question.id, 1))
        return first is not None and (not needs_second(question, first) or (question.id, 2) in self._answers)

    def _given(self, question: Question) -> Given:
        return [(w, self._answers[question.id, w]) for w in (1, 2) if (question.id, w) in self._answers]
