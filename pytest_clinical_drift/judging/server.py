"""`server:MODEL@URL`: a chat model behind an OpenAI-compatible server, with the subject's HTTP, pacing and retries."""

import asyncio
from collections.abc import Mapping

from pytest_clinical_drift.errors import Failure
from pytest_clinical_drift.judging.chat import Interview
from pytest_clinical_drift.judging.protocol import EVERYTHING, Feed, JudgeRequest
from pytest_clinical_drift.subjects.base import Identity
from pytest_clinical_drift.subjects.server import ServerSubject

_POLL_SECONDS = 0.005
_IN_FLIGHT = 64
"""Requests at a time that the pace may grow to unless told: more connections cost this process more than they gain."""
_READY = 4 * _IN_FLIGHT
"""Questions whose prompts are built and wait for their turn."""


class ServerJudge:
    """All requests in flight at once, as far as the server's pace allows."""

    kinds = EVERYTHING

    def __init__(self, target: str, settings: Mapping[str, str]) -> None:
        self._server = ServerSubject(target, {"max_tokens": "4096", **settings}, option="--drift-judge")
        if "concurrency" not in settings:
            self._server.limiter.ceiling = _IN_FLIGHT
        self._ready = max(_READY, 2 * self._server.limiter.ceiling)
        self.name = self._server.address.model

    def check(self) -> list[str]:
        return self._server.check([])

    def identity(self) -> Identity:
        return self._server.identity()

    @property
    def host(self) -> str:
        """Where the judged texts go."""
        return self._server.address.root

    @property
    def trouble(self) -> Failure | None:
        """Why the last attempt failed, until one succeeds."""
        return self._server.trouble

    def work(self, feed: Feed) -> None:
        asyncio.run(self._work(feed))

    def close(self) -> None:
        self._server.close()

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
        interview, answer = Interview(asked), None
        try:
            while answer is None:
                answer = interview.take(await self._server.ask(interview.request()))
        except Exception as error:  # a question that cannot be asked stays open; the run goes on
            answer = asked.fail(f"{type(error).__name__}: {error}"[:300])
        feed.deliver(asked, answer)
