"""Runs many conversations together, turn by turn: the summary of turn t is asked for beside the reply of turn t + 1."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ..cases import Case
from ..subjects.base import BatchedSubject, ConcurrentSubject, Request, RunStopped, Subject
from ..transcript import Message, Reply, Transcript
from .dialogue import Dialogue, without_lost_answer
from .progress import Progress
from .store import StoredRun

_STOP_POLL_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Plan:
    """How conversations are run."""

    system_prompt: str | None = None
    """The deployed system prompt, part of the tested item."""
    repeats: int = 1


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
    return Dialogue(case, repeat, history)


class _Desk:
    """What all ways of running share: stored replies come first, new ones are stored before anything else happens."""

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

    def stored(self, request: Request) -> Reply | None:
        reply = self._store.get(request) if self._store else None
        if reply is not None:
            self._count(request, reply)
        return reply

    def received(self, request: Request, reply: Reply) -> Reply:
        reply = without_lost_answer(reply)
        if self._store is not None and reply.error is None:
            self._store.put(request, reply)
        self._count(request, reply)
        return reply

    def finished(self, dialogue: Dialogue) -> None:
        self._on_finished(dialogue.transcript())
        if self._progress is not None:
            self._progress.case_finished()

    def _count(self, request: Request, reply: Reply) -> None:
        if self._progress is not None:
            ends_turn = request.purpose == "summary"
            self._progress.reply_received(reused=reply.reused_from is not None, ends_turn=ends_turn)


# -- many requests in flight: a server


async def _run_concurrently(dialogues: Sequence[Dialogue], subject: ConcurrentSubject, desk: _Desk) -> None:
    everything = asyncio.gather(*(_converse(dialogue, subject, desk) for dialogue in dialogues))
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


async def _converse(dialogue: Dialogue, subject: ConcurrentSubject, desk: _Desk) -> None:
    """The replies one after the other; each summary on the side as soon as its turn is known."""

    async def ask(request: Request) -> None:
        reply = desk.stored(request)
        if reply is None:
            reply = desk.received(request, await subject.ask(request))
        dialogue.take(request, reply)

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

    def due(dialogue: Dialogue) -> list[Request]:
        """What the conversation can ask now, if it is not over."""
        requests = list(_due(dialogue, desk))
        owners.update((request, dialogue) for request in requests)
        if not any(owner is dialogue for owner in owners.values()):
            desk.finished(dialogue)
        return requests

    def admit() -> list[Request]:
        """Conversations that begin, as many as there is place for."""
        requests: list[Request] = []
        while waiting and not desk.stop() and len({id(owner) for owner in owners.values()}) < subject.batch_size:
            requests += due(waiting.popleft())
        return requests

    def deliver(request: Request, reply: Reply) -> Sequence[Request]:
        dialogue = owners.pop(request)
        dialogue.take(request, desk.received(request, reply))
        if request.purpose == "summary" and any(owner is dialogue for owner in owners.values()):
            return ()  # a summary makes nothing possible
        return [*due(dialogue), *admit()]

    with contextlib.suppress(RunStopped):
        while (requests := admit()) and not desk.stop():
            subject.answer(requests, deliver)


def _due(dialogue: Dialogue, desk: _Desk) -> Iterator[Request]:
    """The summary still owed and the next reply, after everything that the store knows."""
    while True:
        probe = dialogue.summary_of_last_reply()
        if probe is not None:
            reply = desk.stored(probe)
            if reply is None:
                yield probe
            else:
                dialogue.take(probe, reply)
        request = dialogue.next_reply()
        if request is None:
            return
        reply = desk.stored(request)
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
        reply = desk.stored(request)
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
