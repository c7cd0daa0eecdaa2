"""Puts what many procedures ask to the judges, all in flight at once, and takes each further with the answers."""

import contextlib
import threading
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from concurrent import futures
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_clinical_drift.errors import Failure, SubjectError
from pytest_clinical_drift.judging.answer_store import AnswerStore
from pytest_clinical_drift.judging.answers import Outage
from pytest_clinical_drift.judging.procedure import Procedure
from pytest_clinical_drift.judging.prompts import prompt_hash
from pytest_clinical_drift.judging.protocol import Feed, Given, Judge, JudgeRequest

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

    def add(self, answer: Given, *, reused: bool) -> None:
        """An answer is there, or will not come."""
        sent = not reused and not answer.unsent
        self.answered += 1
        self.reused += reused
        self.sent += sent
        if answer.failed:
            self.failed += 1
            self.last_failure = answer.failed
            self.unanswered += answer.outage
            self.lost += answer.outage and sent
        if answer.tokens is not None:
            used = {"prompt": answer.tokens[0], "answer": answer.tokens[1], "answers": 1}
            self.tokens.update(used)
            self.sent_tokens.update(used if sent else ())


class _Line(Feed):
    """What one judge is asked, with its thread, its part of the store, and how it answers."""

    def __init__(self, judge: Judge, store: Path | None, deliver: Callable[[JudgeRequest, Given], None]) -> None:
        super().__init__(deliver)
        self.judge = judge
        identity = judge.identity()
        self.store = AnswerStore(store, identity.fingerprint(prompt_hash()), proven=identity.proven)
        self.thread: threading.Thread | None = None
        self.failures = 0
        self.outages = 0
        """In a row."""
        self.error = ""
        """Of the latest outage."""
        self.given_up = ""


class JudgeQueue:
    def __init__(
        self, reader: Judge, questioner: Judge | None = None, *, store: Path | None = None, offline: bool = False
    ) -> None:
        """Without a `store` answers live as long as the queue; `offline`: only stored answers are used."""
        self._guard = threading.RLock()
        first = _Line(reader, store, self._take)
        self._lines = {"reader": first, "questioner": _Line(questioner, store, self._take) if questioner else first}
        self._offline = offline
        self.on_progress: Callable[[Count], object] | None = None
        """Hears of every answer, on whichever thread it comes."""
        self.spent: Callable[[], Failure | None] = lambda: None
        """Why nothing may be asked any more: the run's budget is used up."""
        self._over = ""
        self.count = Count()
        self._answers: dict[_Key, Future[Given]] = {}
        self._pending: dict[_Key, JudgeRequest] = {}
        """Not yet answered."""
        self._results: dict[Hashable, Future[Any]] = {}
        self._stopped = False
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="clinical-drift-procedure")

    # ---- for those who ask

    def start(self, group: Hashable, procedure: Procedure[Any]) -> None:
        """Begin a procedure; returns at once."""
        self._results[group] = Future()
        self._worker.submit(self._advance, procedure, None, self._results[group])

    def wait(self, group: Hashable, *, waiting: Callable[[], object] | None = None) -> Any:
        """The result of a procedure, once it is there."""
        result = self._results[group]
        while not result.done():
            if self._stopped:
                raise SubjectError("the judge was stopped")
            futures.wait([result], timeout=0.2)
            if waiting is not None and not result.done():
                waiting()
        return self._results.pop(group).result()

    def stop(self, *, close: bool = True) -> None:
        """Nobody waits any more; `close` gives up the judges too."""
        self._stopped = True
        self._worker.shutdown(wait=False, cancel_futures=True)
        for line in dict.fromkeys(self._lines.values()):
            line.stop()
            if line.thread is not None:
                line.thread.join(timeout=10)
            if close:
                line.judge.close()
            line.store.close()

    @property
    def answers_ignored(self) -> int:
        """Stored answers that were not used, because a seal does not fit."""
        return sum(line.store.ignored for line in dict.fromkeys(self._lines.values()))

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

    def _advance(self, procedure: Procedure[Any], wanted: Sequence[_Key] | None, result: Future[Any]) -> None:
        """Send a procedure the answers that it waited for, until it waits for others or ends."""
        try:
            while (missing := self._missing(wanted or ())) is None:
                answers = {key: self._answers[key].result() for key in wanted or ()}
                if self._over and any(answer.failed == self._over for answer in answers.values()):
                    raise SubjectError(self._over)
                asks = next(procedure) if wanted is None else procedure.send(answers)
                wanted = [ask.key for ask in asks]
                self._ask(asks)
        except StopIteration as finished:
            result.set_result(finished.value)
        except BaseException as error:
            result.set_exception(error)
        else:
            # emptied by the answer, which is kept as long as the queue, and with it all that this holds
            left = [(procedure, wanted, result)]

            def arrived(_: Future[Given]) -> None:
                with contextlib.suppress(RuntimeError):  # nobody is waiting
                    self._worker.submit(self._advance, *left.pop())

            missing.add_done_callback(arrived)

    def _missing(self, wanted: Sequence[_Key]) -> Future[Given] | None:
        """The last answer that is not there yet: it is looked again when it comes."""
        return next((answer for key in reversed(wanted) if not (answer := self._answers[key]).done()), None)

    def _ask(self, asks: Sequence[JudgeRequest]) -> None:
        """Put to the judges what was not asked before, is not stored, and is not certain to fail."""
        with self._guard:
            fresh: dict[str, list[JudgeRequest]] = {}
            for ask in asks:
                if ask.key in self._answers:
                    continue
                self._answers[ask.key], self._pending[ask.key] = Future(), ask
                self.count.asked += 1
                self.count.kinds[ask.item.kind] += 1
                line = self._lines[ask.to]
                if (stored := line.store.get(ask.item, ask.wording)) is not None:
                    self._deliver(ask, stored, reused=True)
                    continue
                self._refuse_if_spent(line)
                if line.given_up or self._offline:
                    self._refuse(ask, line)
                else:
                    fresh.setdefault(ask.to, []).append(ask)
            for to, asked in fresh.items():
                line = self._lines[to]
                line.put(asked)
                if line.thread is None:
                    line.thread = threading.Thread(
                        target=self._run, args=(line,), name="clinical-drift-judge", daemon=True
                    )
                    line.thread.start()

    def _run(self, line: _Line) -> None:
        """A judge's thread."""
        try:
            line.judge.work(line)
        except BaseException as error:  # whatever ended this thread is an outage of the judge, not of the run
            with self._guard:  # from now on nothing is put into the line
                line.given_up = f"the judge broke off ({type(error).__name__}: {error})"[:300]
                unsent = {ask.key for ask in line.take(None)}
                for ask in [ask for ask in self._pending.values() if self._lines[ask.to] is line]:
                    self._take(ask, ask.fail(line.given_up, unsent=ask.key in unsent))

    def _refuse_if_spent(self, line: _Line) -> None:
        if not line.given_up and (over := self.spent()):
            line.given_up = self._over = str(over)

    def _refuse(self, asked: JudgeRequest, line: _Line) -> None:
        """Nothing is sent; that a judge answers, but not usably, is no outage."""
        outage = line.outages > 0 or self._offline
        self._deliver(asked, asked.fail(line.given_up or OFFLINE, outage=outage, unsent=True))

    def _take(self, asked: JudgeRequest, answer: Given) -> None:
        """An answer arrives from a judge."""
        line = self._lines[asked.to]
        line.failures = line.failures + 1 if answer.failed else 0
        line.outages = line.outages + 1 if answer.outage else 0
        if answer.outage and not (answer.unsent and line.error):
            line.error = answer.failed
        if not answer.failed:
            line.store.put(asked.item, asked.wording, answer)
        elif line.failures >= _GIVEN_UP_AFTER and not line.given_up:
            line.given_up = f"the judge was given up after {line.failures} failures in a row ({answer.failed})"
        self._refuse_if_spent(line)
        self._deliver(asked, answer)
        for item in line.take(None) if line.given_up else ():
            self._refuse(item, line)
        if self.on_progress is not None:
            self.on_progress(self.count)

    def _deliver(self, asked: JudgeRequest, answer: Given, *, reused: bool = False) -> None:
        with self._guard:
            if self._pending.pop(asked.key, None) is not None:  # not given up before
                self.count.add(answer, reused=reused)
                self._answers[asked.key].set_result(answer)
