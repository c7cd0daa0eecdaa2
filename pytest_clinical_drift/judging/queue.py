"""Puts what many procedures ask to the judges, all in flight at once, on one event loop in a thread of its own."""

import asyncio
import dataclasses
import threading
from collections import Counter
from collections.abc import Callable, Coroutine, Hashable, Mapping, Sequence
from concurrent import futures
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_clinical_drift.core.log import Answer
from pytest_clinical_drift.core.words import Seat
from pytest_clinical_drift.errors import Failure, SubjectError
from pytest_clinical_drift.judging.answer_store import AnswerStore
from pytest_clinical_drift.judging.answers import Outage
from pytest_clinical_drift.judging.prompts import prompt_hash
from pytest_clinical_drift.judging.protocol import Feed, Judge, JudgeRequest

_GIVEN_UP_AFTER = 40
"""Failures in a row, without one answer between them, after which a judge is not asked any more."""
_STOPPED_AFTER = 3
"""Outages in a row at the end of a run by which a judge has stopped answering; fewer may be chance."""
OFFLINE = "not in the store, and nobody is asked (offline=true)"
_Key = tuple[str, int, Seat]


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

    def add(self, answer: Answer, *, reused: bool) -> None:
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

    def __init__(self, judge: Judge, store: Path | None, deliver: Callable[[JudgeRequest, Answer], None]) -> None:
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
    """The judges of a run, as procedures ask them."""

    def __init__(
        self, reader: Judge, questioner: Judge | None = None, *, store: Path | None = None, offline: bool = False
    ) -> None:
        """Without a `store` answers live as long as the queue; `offline`: only stored answers are used."""
        self._guard = threading.RLock()
        first = _Line(reader, store, self._take)
        second = _Line(questioner, store, self._take) if questioner is not None else first
        self._lines: Mapping[Seat, _Line] = {Seat.READER: first, Seat.QUESTIONER: second}
        self._offline = offline
        self.on_progress: Callable[[Count], object] | None = None
        """Called after every answer, on whichever thread it comes."""
        self.spent: Callable[[], Failure | None] = lambda: None
        """Why nothing may be asked any more: the run's budget is used up."""
        self._over = ""
        self.count = Count()
        self._answers: dict[_Key, Future[Answer]] = {}
        self._pending: dict[_Key, JudgeRequest] = {}
        """Not yet answered."""
        self._results: dict[Hashable, Future[Any]] = {}
        self._stopped = False
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="clinical-drift-judging", daemon=True)

    # ---- for those who ask

    def start(self, group: Hashable, procedure: Coroutine[Any, Any, Any]) -> None:
        """Begin a procedure; returns at once."""
        if not self._thread.is_alive():
            self._thread.start()
        self._results[group] = asyncio.run_coroutine_threadsafe(procedure, self._loop)

    def wait(self, group: Hashable, *, waiting: Callable[[], object] | None = None) -> Any:
        """The result of a procedure, once it is there."""
        result = self._results[group]
        while not result.done():
            if self._stopped:
                raise SubjectError("the judge was stopped")
            futures.wait([result], timeout=0.2)
            if waiting is not None and not result.done():
                waiting()
        try:
            return self._results.pop(group).result()
        except futures.CancelledError:
            raise SubjectError("the judge was stopped") from None

    async def ask(self, requests: Sequence[JudgeRequest]) -> list[Answer]:
        """The answers to requests, in their order; SubjectError once the run's budget is used up."""
        self._put(requests)
        answers = []
        for request in requests:
            answer = self._answers[request.key]
            answers.append(answer.result() if answer.done() else await asyncio.wrap_future(answer))
        if self._over and any(answer.failed == self._over for answer in answers):
            raise SubjectError(self._over)
        return answers

    def stop(self, *, close: bool = True) -> None:
        """End: procedures that wait get no answer; `close` gives up the judges too."""
        self._stopped = True
        for line in dict.fromkeys(self._lines.values()):
            line.stop()
            if line.thread is not None:
                line.thread.join(timeout=10)
            if close:
                line.judge.close()
            line.store.close()
        if self._thread.is_alive():
            asyncio.run_coroutine_threadsafe(self._cancel_procedures(), self._loop)
            self._thread.join(timeout=10)
        if not self._thread.is_alive() and not self._loop.is_closed():
            self._loop.close()

    async def _cancel_procedures(self) -> None:
        """Cancel what still waits, let it end, then stop the loop."""
        this = asyncio.current_task()
        waiting = [task for task in asyncio.all_tasks() if task is not this]
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        self._loop.stop()

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

    # ---- between procedures and judges

    def _put(self, requests: Sequence[JudgeRequest]) -> None:
        """Put to the judges what was not asked before, is not stored, and is not certain to fail."""
        with self._guard:
            fresh: dict[Seat, list[JudgeRequest]] = {}
            for request in requests:
                if request.key in self._answers:
                    continue
                self._answers[request.key] = Future()
                self._pending[request.key] = request
                self.count.asked += 1
                self.count.kinds[request.item.kind] += 1
                line = self._lines[request.to]
                stored = line.store.get(request.item, request.wording)
                if stored is not None:
                    self._deliver(request, stored, reused=True)
                    continue
                self._refuse_if_spent(line)
                if line.given_up or self._offline:
                    self._refuse(request, line)
                else:
                    fresh.setdefault(request.to, []).append(request)
            for seat, asked in fresh.items():
                self._send(self._lines[seat], asked)

    def _send(self, line: "_Line", requests: Sequence[JudgeRequest]) -> None:
        line.put(requests)
        if line.thread is None:
            line.thread = threading.Thread(target=self._run, args=(line,), name="clinical-drift-judge", daemon=True)
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
        over = None if line.given_up else self.spent()
        if over is not None:
            self._over = str(over)
            line.given_up = self._over

    def _refuse(self, asked: JudgeRequest, line: _Line) -> None:
        """Nothing is sent; that a judge answers, but not usably, is no outage."""
        outage = line.outages > 0 or self._offline
        self._deliver(asked, asked.fail(line.given_up or OFFLINE, outage=outage, unsent=True))

    def _take(self, asked: JudgeRequest, answer: Answer) -> None:
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

    def _deliver(self, asked: JudgeRequest, answer: Answer, *, reused: bool = False) -> None:
        with self._guard:
            if self._pending.pop(asked.key, None) is not None:  # not given up before
                self.count.add(answer, reused=reused)
                voiced = dataclasses.replace(answer, voter=self._lines[asked.to].judge.name)
                self._answers[asked.key].set_result(voiced)
