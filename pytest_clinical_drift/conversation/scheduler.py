"""Runs many conversations together, turn by turn: the summary of turn t is asked for beside the reply of turn t + 1."""

import asyncio
import contextlib
import hashlib
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field

from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.conversation.dialogue import Dialogue, Plan, without_lost_answer
from pytest_clinical_drift.conversation.progress import Progress
from pytest_clinical_drift.conversation.store import StoredRun
from pytest_clinical_drift.subjects.base import (
    BatchedSubject,
    ConcurrentSubject,
    Request,
    RunStopped,
    SequentialSubject,
    Subject,
)
from pytest_clinical_drift.transcript import Reply, Transcript

_STOP_POLL_SECONDS = 0.05
__all__ = ["Plan", "run_conversations"]


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
    waiting = deque((case, repeat) for case in cases for repeat in range(plan.repeats))
    progress = progress or Progress()
    turns, replies = sum(len(case.turns) for case, _ in waiting), sum(plan.requests(case) for case in cases)
    progress.begin(cases=len(waiting), turns=turns, replies=replies)
    scheduler = _Scheduler(waiting, plan, on_finished, stop, store, progress)
    if isinstance(subject, ConcurrentSubject) and (slots := subject.slots) != 0:
        if slots is not None:
            scheduler.most_at_once, scheduler.side_by_side = (lambda: slots), False
        asyncio.run(_ask_all_at_once(scheduler, subject))
    elif isinstance(subject, BatchedSubject):
        scheduler.most_at_once = lambda: subject.batch_size
        with contextlib.suppress(RunStopped):
            while (requests := scheduler.admit()) and not stop():
                subject.answer(requests, scheduler.deliver)
    elif isinstance(subject, SequentialSubject):
        # case after case, since nothing is gained by interleaving: the first test has its result early
        scheduler.most_at_once = lambda: 1
        pending = deque(scheduler.admit())
        while pending and not stop():
            request = pending.popleft()
            pending.extend(scheduler.deliver(request, _refused(request) or subject.respond(request)))


@dataclass(slots=True)
class _Scheduler:
    """What can be asked now. Stored replies come first, new ones are stored before anything else happens.

    Where replies are kept, they depend on the messages alone: two cases that say the same share one reply.
    """

    _waiting: deque[tuple[Case, int]]
    _plan: Plan
    _on_finished: Callable[[Transcript], None]
    stop: Callable[[], bool]
    _store: StoredRun | None
    _progress: Progress
    most_at_once: Callable[[], float] = lambda: float("inf")
    """How many conversations may be under way."""
    side_by_side: bool = True
    """Whether a summary may be asked for while the next reply is."""
    _conversations: int = 0
    """How many are under way."""
    _asked: dict[Hashable, list[tuple[Request, Dialogue]]] = field(default_factory=dict)
    """For everything that is being asked, which conversations wait for the answer; the first of them asks."""
    _had: dict[Hashable, Reply] = field(default_factory=dict)
    """Replies of this very run: they are not reused ones."""

    def admit(self) -> list[Request]:
        """Requests of conversations that begin, as many as there is place for."""
        requests: list[Request] = []
        while self._waiting and not self.stop() and self._conversations < self.most_at_once():
            self._conversations += 1
            requests += self._go_on(Dialogue(*self._waiting.popleft(), self._plan))
        return requests

    def deliver(self, request: Request, reply: Reply) -> list[Request]:
        """Take an answer; what can be asked now that it is known."""
        if self._plan.budget is not None:
            self._plan.budget.count(reply)
        reply, question = without_lost_answer(reply), self._question(request)
        if self._store is not None and reply.error is None:
            self._store.put(request, reply)
            self._had[question] = reply
        following: list[Request] = []
        for answered, dialogue in self._asked.pop(question):
            self._take(dialogue, answered, reply)
            following += self._go_on(dialogue)
        return [*following, *self.admit()]

    def _go_on(self, dialogue: Dialogue) -> list[Request]:
        """What has to be asked now, after all that the store knows; a conversation that awaits nothing is over."""
        requests: list[Request] = []
        while (self.side_by_side or not dialogue.awaited) and (request := dialogue.next_request()) is not None:
            question, reply = self._question(request), None
            if self._store is not None:
                reply = self._had.get(question) or self._store.get(request)
            if (reply := reply or _refused(request)) is not None:
                self._take(dialogue, request, reply)
                continue
            asking = self._asked.setdefault(question, [])
            asking.append((request, dialogue))
            requests += [request] if len(asking) == 1 else []
        if not dialogue.awaited:
            self._conversations -= 1
            self._on_finished(dialogue.transcript())
            self._progress.case_finished()
        return requests

    def _take(self, dialogue: Dialogue, request: Request, reply: Reply) -> None:
        dialogue.take(request, reply)
        ends_turn = request.purpose == "dialogue"
        self._progress.reply_received(reused=reply.reused_from is not None, ends_turn=ends_turn)

    def _question(self, request: Request) -> Hashable:
        """All that a reply depends on within one run: repeat, messages, and what goes beside them."""
        if self._store is None:
            return request  # such as a recording, which answers by case
        digest = hashlib.blake2b((request.record or "").encode("utf-8", "surrogatepass"), digest_size=16)
        for message in request.messages:
            digest.update(f"\x1e{message.role}\x1f{message.content}".encode("utf-8", "surrogatepass"))
        return request.repeat, digest.digest()


def _refused(request: Request) -> Reply | None:
    """The end of a conversation whose run has used up its budget; it is asked for again when the run is resumed."""
    why = request.refusal()
    return Reply("", error=why) if why is not None else None


async def _ask_all_at_once(scheduler: _Scheduler, subject: ConcurrentSubject) -> None:
    """Everything that can be asked is in flight; the subject finds its own pace."""

    async def converse() -> None:
        async def ask(request: Request) -> None:
            for following in scheduler.deliver(request, await subject.ask(request)):
                group.create_task(ask(following))

        async with asyncio.TaskGroup() as group:
            for request in scheduler.admit():
                group.create_task(ask(request))

    conversations = asyncio.create_task(converse())
    try:
        while not conversations.done() and not scheduler.stop():
            await asyncio.wait([conversations], timeout=_STOP_POLL_SECONDS)
        conversations.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await conversations
    except BaseExceptionGroup as failed:
        raise failed.exceptions[0] from None
    finally:
        await subject.disconnect()
