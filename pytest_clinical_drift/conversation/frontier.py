"""Runs many conversations together, turn by turn: the summary of turn t is asked for beside the reply of turn t + 1."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass

from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.conversation.dialogue import Dialogue, without_lost_answer
from pytest_clinical_drift.conversation.progress import Progress
from pytest_clinical_drift.conversation.store import StoredRun
from pytest_clinical_drift.subjects.base import BatchedSubject, ConcurrentSubject, Request, RunStopped, Subject
from pytest_clinical_drift.transcript import Message, Reply, Transcript

_STOP_POLL_SECONDS = 0.05

Question = tuple[int, tuple[Message, ...]]
"""All that a reply depends on within one run: the repeat and the message list."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How conversations are run."""

    system_prompt: str | None = None
    """The deployed system prompt, part of the tested item."""
    repeats: int = 1
    probe: str | None = None
    """The project's own request for a summary; None: the bundled one."""


def run_conversations(
    cases: Sequence[Case],
    subject: Subject,
    plan: Plan,
    *,
    on_finished: Callable[[Transcript], None],
    stop: Callable[[], bool] = lambda: False,
    store: StoredRun | None = None,
    progress: Progress | None = None,
) -> None:
    """Run every case (and repeat) to its end; `on_finished` gets each transcript as soon as it is complete."""
    dialogues = [_open(case, repeat, plan) for case in cases for repeat in range(plan.repeats)]
    desk = _Desk(on_finished, stop, store, progress)
    if isinstance(subject, ConcurrentSubject):
        asyncio.run(_run_concurrently(dialogues, subject, desk))
    elif isinstance(subject, BatchedSubject):
        _run_in_batches(dialogues, subject, desk)
    else:
        _run_one_by_one(dialogues, subject, desk)


def _open(case: Case, repeat: int, plan: Plan) -> Dialogue:
    history = [Message("system", plan.system_prompt)] if plan.system_prompt else []
    return Dialogue(case, repeat, history, probe=plan.probe)


def _question(request: Request) -> Question:
    return request.repeat, request.messages


class _Desk:
    """What all ways of running share: stored replies come first, new ones are stored before anything else happens.

    Where replies are kept, they depend on the messages alone: two cases that say the same share one reply.
    """

    def __init__(
        self,
        on_finished: Callable[[Transcript], None],
        stop: Callable[[], bool],
        store: StoredRun | None,
        progress: Progress | None,
    ) -> None:
        self.stop = stop
        self._on_finished = on_finished
        self._store = store
        self._progress = progress
        self._had: dict[Question, Reply] = {}
        """Replies of this very run: they are not reused ones."""

    @property
    def shares(self) -> bool:
        """Whether a reply serves every request with the same messages."""
        return self._store is not None

    def known(self, request: Request) -> Reply | None:
        if self._store is None:
            return None
        reply = self._had.get(_question(request)) or self._store.get(request)
        if reply is not None:
            self.count(request, reply)
        return reply

    def received(self, request: Request, reply: Reply) -> Reply:
        reply = without_lost_answer(reply)
        if self._store is not None and reply.error is None:
            self._store.put(request, reply)
            self._had[_question(request)] = reply
        self.count(request, reply)
        return reply

    def finished(self, dialogue: Dialogue) -> None:
        self._on_finished(dialogue.transcript())
        if self._progress is not None:
            self._progress.case_finished()

    def count(self, request: Request, reply: Reply) -> None:
        if self._progress is not None:
            ends_turn = request.purpose == "summary"
            self._progress.reply_received(reused=reply.reused_from is not None, ends_turn=ends_turn)


# -- many requests in flight: a server


async def _run_concurrently(dialogues: Sequence[Dialogue], subject: ConcurrentSubject, desk: _Desk) -> None:
    in_flight: dict[Question, asyncio.Future[Reply]] = {}

    async def answer(request: Request) -> Reply:
        """What is known, what somebody else is asking for right now, or what the subject says."""
        if (reply := desk.known(request)) is not None:
            return reply
        if not desk.shares:
            return desk.received(request, await subject.ask(request))
        question = _question(request)
        if (asked := in_flight.get(question)) is not None:
            reply = await asyncio.shield(asked)
            desk.count(request, reply)
            return reply
        asked = in_flight[question] = asyncio.get_running_loop().create_future()
        try:
            reply = desk.received(request, await subject.ask(request))
            asked.set_result(reply)
            return reply
        finally:
            asked.cancel()  # without effect on a result
            del in_flight[question]

    everything = asyncio.gather(*(_converse(dialogue, answer, desk) for dialogue in dialogues))
    try:
        while not everything.done() and not desk.stop():
            await asyncio.wait({everything}, timeout=_STOP_POLL_SECONDS)
        if everything.done():
            everything.result()
    finally:
        everything.cancel()
        with contextlib.suppress(asyncio.CancelledError, Exception):  # the first failure is on its way already
            await everything
        await subject.disconnect()


async def _converse(dialogue: Dialogue, answer: Callable[[Request], Awaitable[Reply]], desk: _Desk) -> None:
    """The replies one after the other; each summary on the side as soon as its turn is known."""

    async def ask(request: Request) -> None:
        dialogue.take(request, await answer(request))

    summaries: list[asyncio.Task[None]] = []
    try:
        while (request := dialogue.next_reply()) is not None:
            await ask(request)
            if (probe := dialogue.summary_of_last_reply()) is not None:
                summaries.append(asyncio.create_task(ask(probe)))
        await asyncio.gather(*summaries)
    finally:
        for task in summaries:
            task.cancel()
    desk.finished(dialogue)


# -- batches: a model in this process


def _run_in_batches(dialogues: Sequence[Dialogue], subject: BatchedSubject, desk: _Desk) -> None:
    """So many conversations at a time; what a reply makes possible joins while the others run on."""
    waiting = deque(dialogues)
    owners: dict[Request, Dialogue] = {}
    twins: dict[Question, list[Request]] = {}
    """For everything that is being asked, who waits for the answer; the first of them asks."""

    def due(dialogue: Dialogue) -> list[Request]:
        """What has to be asked now for the conversation to go on, if it is not over."""
        requests = list(_due(dialogue, desk))
        owners.update((request, dialogue) for request in requests)
        if not any(owner is dialogue for owner in owners.values()):
            desk.finished(dialogue)
        return [request for request in requests if not asked_by_another(request)]

    def asked_by_another(request: Request) -> bool:
        if not desk.shares:
            return False
        alike = twins.setdefault(_question(request), [])
        alike.append(request)
        return alike[0] is not request

    def admit() -> list[Request]:
        """Conversations that begin, as many as there is place for."""
        requests: list[Request] = []
        while waiting and not desk.stop() and len({id(owner) for owner in owners.values()}) < subject.batch_size:
            requests += due(waiting.popleft())
        return requests

    def deliver(request: Request, reply: Reply) -> Sequence[Request]:
        reply, following = desk.received(request, reply), list[Request]()
        for answered in twins.pop(_question(request), [request]):
            if answered is not request:
                desk.count(answered, reply)
            dialogue = owners.pop(answered)
            dialogue.take(answered, reply)
            # a summary makes nothing possible
            if answered.purpose == "dialogue" or not any(owner is dialogue for owner in owners.values()):
                following += due(dialogue)
        return [*following, *admit()]

    with contextlib.suppress(RunStopped):
        while (requests := admit()) and not desk.stop():
            subject.answer(requests, deliver)


def _due(dialogue: Dialogue, desk: _Desk) -> Iterator[Request]:
    """The summary still owed and the next reply, after everything that the store knows."""
    while True:
        probe = dialogue.summary_of_last_reply()
        if probe is not None:
            reply = desk.known(probe)
            if reply is None:
                yield probe
            else:
                dialogue.take(probe, reply)
        request = dialogue.next_reply()
        if request is None:
            return
        reply = desk.known(request)
        if reply is None:
            yield request
            return
        dialogue.take(request, reply)


# -- one request at a time: everything else


def _run_one_by_one(dialogues: Sequence[Dialogue], subject: Subject, desk: _Desk) -> None:
    """Case after case, since nothing is gained by interleaving: the first test has its result early."""

    def ask(dialogue: Dialogue, request: Request | None) -> bool:
        if request is None or desk.stop():
            return False
        reply = desk.known(request)
        if reply is None:
            reply = desk.received(request, subject.respond([request])[0])
        dialogue.take(request, reply)
        return True

    for dialogue in dialogues:
        while ask(dialogue, dialogue.next_reply()):
            ask(dialogue, dialogue.summary_of_last_reply())
        if desk.stop():
            return
        desk.finished(dialogue)
