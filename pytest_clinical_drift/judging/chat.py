"""Judges that are chat models, on the subject's own engines: `server:MODEL@URL` and `hf:REPO_OR_PATH`.

They share their prompts, the reading of answers, and asking once more for what is malformed.
"""

import asyncio
from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from itertools import count

from pytest_clinical_drift.conversation.hygiene import strip_reasoning
from pytest_clinical_drift.errors import Failure, FailureCode
from pytest_clinical_drift.judging.answers import KINDS, UNSURE, enum_of, find_object, strict_object
from pytest_clinical_drift.judging.entries import ReadingAnswer, reading_schema, usable
from pytest_clinical_drift.judging.pdsqi import fully_rated, rating_schema
from pytest_clinical_drift.judging.prompts import correction, messages_for
from pytest_clinical_drift.judging.protocol import EVERYTHING, Feed, Given, JudgeRequest
from pytest_clinical_drift.judging.questions import Question, check_answer
from pytest_clinical_drift.judging.readings import PDSQI, Reading
from pytest_clinical_drift.subjects.base import Identity, Request, RunStopped, Subject
from pytest_clinical_drift.transcript import Message, Purpose, Reply, Role

ATTEMPTS = 3
"""How often a judge is asked for an answer in the right form."""
_OWN_FAULTS = (FailureCode.CONTEXT_LENGTH, FailureCode.TOKEN_LIMIT, FailureCode.ENDLESS)
"""Errors that are the judge's inability, however well its server works."""
_BEFORE_SENDING = (FailureCode.DEADLINE, FailureCode.SERVER_SILENT)
"""Errors of a request that waited in vain for its turn; after another attempt it has been sent."""
_POLL_SECONDS = 0.005
_IN_FLIGHT = 64
"""Requests at a time that the pace may grow to unless told: more connections cost this process more than they gain."""
_READY = 4 * _IN_FLIGHT
"""Questions whose prompts are built and wait for their turn."""
_PARTS = ("facts", "unsupported", "demands", "harm", "contradictions", "course", "misreported", "ratings")


Interview = Generator[Request, Reply, Given]
"""One question or reading for a chat model: yields what is sent, gets the reply, returns the answer."""


def interview(asked: JudgeRequest) -> Interview:
    """Ask with as many attempts as it takes within the bound."""
    item, tokens = asked.item, (0, 0)
    if isinstance(item, Question):
        words = ("earlier_quote", "quote", "reason") if item.kind == "conflict" else ("quote", "reason")
        answers = enum_of((*KINDS[item.kind], UNSURE))
        schema = strict_object({**{key: {"type": "string"} for key in words}, "answer": answers})
    else:
        schema = rating_schema() if item.kind == PDSQI else reading_schema(item)
    name, messages, counted = f"judge/{item.id}/{asked.wording}", messages_for(item, asked.wording), False
    for attempt in count():
        reply = yield Request(name, attempt, item.turn, Purpose.DIALOGUE, messages, schema=schema)
        used = reply.usage
        if used.prompt_tokens is not None and used.completion_tokens is not None:
            tokens, counted = (tokens[0] + used.prompt_tokens, tokens[1] + used.completion_tokens), True
        text, last = strip_reasoning(reply.text), attempt + 1 >= ATTEMPTS
        if (error := reply.error) is not None:
            unsent = attempt == 0 and error.attempts == 1 and error.code in _BEFORE_SENDING
            answer = asked.fail(str(error), outage=error.code not in _OWN_FAULTS, unsent=unsent)
        else:
            answer = read_text(asked, text, last=last, cut=bool(reply.truncated))
        if not answer.failed or error is not None or last:
            break
        messages = (*messages, Message(Role.ASSISTANT, text or "(nothing)"), Message(Role.USER, correction(item)))
    return replace(answer, tokens=tokens if counted else None)


def read_text(asked: JudgeRequest, text: str, *, last: bool = True, cut: bool = False) -> Given:
    """A judge's text as an answer; a reading that lacks a part counts only at the last attempt, that part unsure."""
    item = asked.item
    given = find_object(text, _PARTS if isinstance(item, Reading) else ("answer",), cut=cut)
    if given is not None and isinstance(item, Reading):
        if last or (fully_rated(given) if item.kind == PDSQI else usable(item, given)):
            return ReadingAnswer(given)
    elif given is not None and isinstance(item, Question):
        return check_answer(item, given)
    return asked.fail(f"no answer in the form asked for: {text[:80]!r}", outage=False)


class _ChatJudge:
    """A judge that is asked as a subject is; its engine is imported only when it is chosen."""

    kinds = EVERYTHING
    _subject: Subject

    def check(self) -> list[str]:
        return self._subject.check([])

    def identity(self) -> Identity:
        return self._subject.identity()

    def close(self) -> None:
        self._subject.close()


class ServerJudge(_ChatJudge):
    """Behind an OpenAI-compatible server: all requests in flight at once, as far as the server's pace allows."""

    def __init__(self, target: str, settings: Mapping[str, str]) -> None:
        from pytest_clinical_drift.subjects.server import ServerSubject

        self._subject = self._server = ServerSubject(target, {"max_tokens": "4096", **settings}, option="--drift-judge")
        if "concurrency" not in settings:
            self._server.limiter.ceiling = _IN_FLIGHT
        self._ready = max(_READY, 2 * self._server.limiter.ceiling)
        self.name = self._server.address.model
        self.host = self._server.address.root
        """Where the judged texts go."""

    @property
    def trouble(self) -> Failure | None:
        """Why the last attempt failed, until one succeeds."""
        return self._server.trouble

    def work(self, feed: Feed) -> None:
        asyncio.run(self._work(feed))

    async def _work(self, feed: Feed) -> None:
        tasks: set[asyncio.Task[None]] = set()
        try:
            while not feed.stopped:
                for asked in feed.take(self._ready - len(tasks)):
                    task = asyncio.create_task(self._interview(asked, feed))
                    tasks.add(task)
                    task.add_done_callback(tasks.discard)
                await asyncio.sleep(_POLL_SECONDS)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await self._server.disconnect()

    async def _interview(self, asked: JudgeRequest, feed: Feed) -> None:
        try:
            talk = interview(asked)
            request = next(talk)
            while True:
                request = talk.send(await self._server.ask(request))
        except StopIteration as finished:
            answer = finished.value
        except Exception as error:  # a question that cannot be asked stays open; the run goes on
            answer = asked.fail(f"{type(error).__name__}: {error}"[:300])
        feed.deliver(asked, answer)


class HuggingFaceJudge(_ChatJudge):
    """In this process, asked in batches; questions of one kind share the instructions that open their prompts."""

    def __init__(self, target: str, settings: Mapping[str, str]) -> None:
        from pytest_clinical_drift.subjects.huggingface import HuggingFaceSubject

        given = {"max_tokens": "2048", **settings}
        self._subject = self._model = HuggingFaceSubject(target, given, option="--drift-judge")
        self.name = f"hf:{target}"

    def work(self, feed: Feed) -> None:
        talks: dict[Request, tuple[JudgeRequest, Interview]] = {}

        def begin(most: int, *, wait: float = 0.0) -> list[Request]:
            begun = [(asked, interview(asked)) for asked in feed.take(most, wait=wait)]
            new = {next(talk): (asked, talk) for asked, talk in begun}
            talks.update(new)
            return list(new)

        def deliver(request: Request, reply: Reply) -> Sequence[Request]:
            """Asks again, or hands over the answer and takes the next question: the batch stays full."""
            asked, talk = talks.pop(request)
            try:
                again = talk.send(reply)
            except StopIteration as finished:
                feed.deliver(asked, finished.value)
                if feed.stopped:
                    self._model.cancel()
                return begin(1)
            talks[again] = asked, talk
            return [again]

        while not feed.stopped:
            requests = begin(self._model.batch_size, wait=0.2)
            if requests:
                try:
                    self._model.answer(requests, deliver)
                except RunStopped:
                    return
