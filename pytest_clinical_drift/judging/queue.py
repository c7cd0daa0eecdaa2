"""Puts what many procedures ask to the judges, all in flight at once, and takes each further with the answers."""

import threading
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_clinical_drift.errors import Failure, SubjectError
from pytest_clinical_drift.judging.answer_store import AnswerStore
from pytest_clinical_drift.judging.answers import Outage
from pytest_clinical_drift.judging.procedure import Procedure
from pytest_clinical_drift.judging.prompts import prompt_hash
from pytest_clinical_drift.judging.protocol import Ask, Feed, Given, Judge

_GIVEN_UP_AFTER = 40
"""Failures in a row, without one answer between them, after which a judge is not asked any more."""
_STOPPED_AFTER = 3
"""Outages in a row at the end of a run by which a judge has stopped answering; fewer may be chance."""
OFFLINE = "not in the store, and nobody is asked (offline=true)"
_Key = tuple[str, int, str]


@dataclass(slots=True)
class Count:
    """How far the requests are, each wording counted."""

    asked: int = 0
    """Put to a judge, found in the store, or given up."""
    answered: int = 0
    reused: int = 0
    """Answered from the store."""
    sent: int = 0
    """Sent to a judge, with or without success; asking again after an error is not counted."""
    failed: int = 0
    last_failure: str = ""
    """Why the latest of them failed."""
    unanswered: int = 0
    """Those among the failed to which nothing came from the judge, sent or not."""
    lost: int = 0
    """Those among the sent to which nothing came."""
    tokens: Counter[str] = field(default_factory=Counter)
    """Of prompts and answers, and over how many answers they were counted; stored answers included."""
    sent_tokens: Counter[str] = field(default_factory=Counter)
    """The same of requests that were sent."""
    kinds: Counter[str] = field(default_factory=Counter)
    """Requests by kind."""

    @property
    def progress(self) -> tuple[int, int, int]:
        """Requests that the judge has answered, asked, and those to which nothing came."""
        return self.answered - self.unanswered, self.asked, self.unanswered


@dataclass(slots=True)
class _Running:
    """A procedure, and the answers that it waits for."""

    procedure: Procedure[Any]
    begun: bool = False
    missing: set[_Key] = field(default_factory=set)
    wanted: list[_Key] = field(default_factory=list)
    done: bool = False
    result: Any = None
    error: BaseException | None = None


class _Line:
    """One judge with its feed, its thread and its part of the store."""

    def __init__(self, judge: Judge, store: AnswerStore, deliver: Callable[[Ask, Given], None]) -> None:
        self.judge, self.store = judge, store
        self.feed = Feed(deliver)
        self.failures = 0
        self.outages = 0
        """In a row."""
        self.error = ""
        """Of the latest outage."""
        self.given_up = ""
        self._thread: threading.Thread | None = None
        self._broken = ""

    @property
    def is_out(self) -> bool:
        """Whether nothing came to the latest request: a judge given up for malformed answers is there, and no use."""
        return self.outages > 0

    def put(self, asked: Sequence[Ask]) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="clinical-drift-judge", daemon=True)
            self._thread.start()
        self.feed.put(asked)
        if self._broken:
            self.feed.abandon(self._broken)

    def _run(self) -> None:
        try:
            self.judge.work(self.feed)
        except BaseException as error:  # whatever ended this thread is an outage of the judge, not of the run
            self.given_up = self._broken = f"the judge broke off ({type(error).__name__}: {error})"[:300]
            self.feed.abandon(self._broken)

    def stop(self, *, close: bool) -> None:
        self.feed.stop()
        if self._thread is not None:
            self._thread.join(timeout=10)
        if close:
            self.judge.close()
        self.store.close()


class JudgeQueue:
    def __init__(
        self,
        reader: Judge,
        questioner: Judge | None = None,
        *,
        store: Path | None = None,
        offline: bool = False,
        fresh: bool = False,
    ) -> None:
        """Without a `store` answers live as long as the queue.

        `offline`: only stored answers are used, nobody is asked; `fresh`: stored answers are not used.
        """
        self._news = threading.Condition(threading.RLock())
        self._lines = {"reader": self._line(reader, store)}
        self._lines["questioner"] = self._lines["reader"] if questioner is None else self._line(questioner, store)
        self._offline, self._fresh = offline, fresh
        self.on_progress: Callable[[Count], object] | None = None
        """Hears of every answer, on whichever thread it comes."""
        self.spent: Callable[[], Failure | None] = lambda: None
        """Why nothing may be asked any more: the run's budget is used up."""
        self._over = ""
        self.count = Count()
        self._answers: dict[_Key, Given] = {}
        self._waiting: dict[_Key, list[_Running]] = {}
        self._with_judge: set[_Key] = set()
        self._groups: dict[Hashable, _Running] = {}
        self._stopped = False
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="clinical-drift-procedure")

    def _line(self, judge: Judge, store: Path | None) -> _Line:
        archive = AnswerStore(store, judge.identity().fingerprint(prompt_hash()))
        return _Line(judge, archive, self._take)

    # ---- for those who ask

    def start(self, group: Hashable, procedure: Procedure[Any]) -> None:
        """Begin a procedure; returns at once."""
        running = _Running(procedure)
        with self._news:
            self._groups[group] = running
        self._worker.submit(self._advance, running)

    def wait(self, group: Hashable, *, waiting: Callable[[], object] | None = None) -> Any:
        """The result of a procedure, once it is there."""
        while True:
            with self._news:
                running = self._groups[group]
                if running.done:
                    del self._groups[group]
                    if running.error is not None:
                        raise running.error
                    return running.result
                if self._stopped:
                    raise SubjectError("the judge was stopped")
                self._news.wait(0.2)
            if waiting is not None:
                waiting()

    def stop(self, *, close: bool = True) -> None:
        """Nobody waits any more; `close` gives up the judges too."""
        with self._news:
            self._stopped = True
            self._news.notify_all()
        self._worker.shutdown(wait=False, cancel_futures=True)
        for line in dict.fromkeys(self._lines.values()):
            line.stop(close=close)

    def outage(self) -> Outage | None:
        """What the judges left without an answer; None where they answered everything."""
        count = self.count
        if not count.unanswered:
            return None
        last = max(self._lines.values(), key=lambda line: line.outages)
        error = next((line.error for line in (last, *self._lines.values()) if line.error), OFFLINE)
        stopped = last.outages >= _STOPPED_AFTER
        return Outage(count.unanswered, count.asked, error, stopped, self._offline, count.sent, count.lost)

    # ---- taking procedures further

    def _advance(self, running: _Running) -> None:
        """Send a procedure the answers that it waited for, until it waits for others or ends."""
        try:
            while True:
                with self._news:
                    answers = {key: self._answers[key] for key in running.wanted}
                if self._over and any(answer.failed == self._over for answer in answers.values()):
                    raise SubjectError(self._over)
                asks = running.procedure.send(answers if running.begun else None)  # type: ignore[arg-type]
                running.begun = True
                if self._wait_for(running, asks):
                    return
        except StopIteration as finished:
            running.result = finished.value
        except BaseException as error:
            running.error = error
        with self._news:
            running.done = True
            self._news.notify_all()

    def _wait_for(self, running: _Running, asks: Sequence[Ask]) -> bool:
        """Note what a procedure waits for and ask what is new; False where every answer is there already."""
        with self._news:
            running.wanted = [ask.key for ask in asks]
            fresh = [ask for ask in dict.fromkeys(asks) if not self._known(ask)]
            running.missing = {ask.key for ask in asks if ask.key not in self._answers}
            waits = bool(running.missing)  # seen later, it may be empty already: whoever delivered it goes on
            for key in running.missing:
                self._waiting.setdefault(key, []).append(running)
            self._with_judge.update(ask.key for ask in fresh)
        for to, line in self._lines.items():
            if asked := [ask for ask in fresh if ask.to == to]:
                line.put(asked)
        return waits

    def _known(self, ask: Ask) -> bool:
        """Whether an ask needs no asking: answered, under way, stored, or certain to fail."""
        if ask.key in self._answers or ask.key in self._with_judge:
            return True
        self.count.asked += 1
        self.count.kinds[ask.item.kind] += 1
        line = self._lines[ask.to]
        stored = None if self._fresh else line.store.get(ask.item, ask.wording)
        if not line.given_up and stored is None and (over := self.spent()):
            line.given_up = self._over = str(over)
        failed = line.given_up or (OFFLINE if self._offline else "")
        if stored is None and not failed:
            return False
        if stored is None:
            self._record(ask.key, ask.fail(failed, outage=line.is_out or self._offline, unsent=True))
        else:
            self._record(ask.key, stored, reused=True)
        return True

    def _take(self, asked: Ask, answer: Given) -> None:
        """An answer arrives from a judge."""
        line = self._lines[asked.to]
        line.failures = line.failures + 1 if answer.failed else 0
        line.outages = line.outages + 1 if answer.outage else 0
        line.error = answer.failed if answer.outage else line.error
        if not answer.failed:
            line.store.put(asked.item, asked.wording, answer)
        if line.failures >= _GIVEN_UP_AFTER and not line.given_up:
            line.given_up = f"the judge was given up after {line.failures} failures in a row ({answer.failed})"
        if not line.given_up and (over := self.spent()):
            line.given_up = self._over = str(over)
        self._deliver([(asked.key, answer)])
        if line.given_up:
            dropped = line.feed.take(1_000_000)
            self._deliver([(item.key, item.fail(line.given_up, outage=line.is_out, unsent=True)) for item in dropped])

    def _deliver(self, answers: Sequence[tuple[_Key, Given]]) -> None:
        ready = []
        with self._news:
            for key, answer in answers:
                self._with_judge.discard(key)
                self._record(key, answer)
                for running in self._waiting.pop(key, ()):
                    running.missing.discard(key)
                    if not running.missing:
                        ready.append(running)
            stopped = self._stopped
        for running in ready:
            if not stopped:
                self._worker.submit(self._advance, running)
        if self.on_progress is not None:
            self.on_progress(self.count)

    def _record(self, key: _Key, answer: Given, *, reused: bool = False) -> None:
        self._answers[key] = answer
        count, sent = self.count, not reused and not answer.unsent
        count.answered += 1
        count.reused += reused
        count.sent += sent
        if answer.failed:
            count.failed += 1
            count.last_failure = answer.failed
            count.unanswered += answer.outage
            count.lost += answer.outage and sent
        if answer.tokens is not None:
            used = {"prompt": answer.tokens[0], "answer": answer.tokens[1], "answers": 1}
            count.tokens.update(used)
            count.sent_tokens.update(used if sent else ())
