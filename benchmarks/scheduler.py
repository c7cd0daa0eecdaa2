"""How close a run of 48 cases x 10 turns comes to its critical path.

python -m benchmarks.scheduler [CASES TURNS]
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import httpx2
from engine_cases import make_cases
from engine_server import ChatServer, completion, reply_text

from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.conversation.scheduler import Plan, run_conversations
from pytest_clinical_drift.conversation.store import Store
from pytest_clinical_drift.subjects.server import ServerSubject
from pytest_clinical_drift.transcript import Transcript

CASES, TURNS = 48, 10


class InProcess(httpx2.AsyncBaseTransport):
    """Answers after a delay, without a socket."""

    def __init__(self, delay: float) -> None:
        self._delay = delay

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        await asyncio.sleep(self._delay)
        body = json.loads(request.content)
        return httpx2.Response(200, content=json.dumps(completion(reply_text(body["messages"]))).encode())


def run(
    cases: Sequence[Case], target: str, transport: httpx2.AsyncBaseTransport | None, **settings: object
) -> tuple[float, ServerSubject]:
    """Wall time of all conversations, replies stored as in a real run."""
    subject = ServerSubject(target, {key: str(value) for key, value in settings.items()})
    subject.transport = transport
    done: list[Transcript] = []
    with tempfile.TemporaryDirectory() as folder:
        stored = Store(Path(folder) / "store.sqlite").begin(subject.identity())
        started = time.perf_counter()
        run_conversations(cases, subject, Plan(), on_finished=done.append, store=stored)
        seconds = time.perf_counter() - started
        stored.end(finished=True)
    if len(done) != len(cases) or any(transcript.failure for transcript in done):
        raise RuntimeError("not every conversation came to its end")
    return seconds, subject


def report(what: str, seconds: float, ideal: float, goal: float | None) -> bool:
    ratio = seconds / ideal
    held = goal is None or ratio <= goal
    limit = "" if goal is None else f" (goal {goal}: {'held' if held else 'MISSED'})"
    print(f"{what}: {seconds:.2f} s, {ratio:.2f} x {ideal:.2f} s{limit}")
    return held


def main() -> int:
    count, turns = (int(number) for number in sys.argv[1:3] or (CASES, TURNS))
    cases = make_cases(count, turns)
    requests = count * turns * 2
    path = turns + 1  # the replies one after the other, and the summary of the last
    run(cases, "m@http://in.process/v1", InProcess(0.0), concurrency=256)  # imports and first-use costs, not measured
    held = []
    seconds, _ = run(cases, "m@http://in.process/v1", InProcess(0.05), concurrency=256)
    held.append(report("free concurrency, 50 ms in process", seconds, path * 0.05, 1.3))
    with ChatServer(delay=0.5) as server:
        seconds, _ = run(cases, f"m@{server.url}", None, concurrency=256)
        held.append(report("free concurrency, 500 ms over loopback", seconds, path * 0.5, 1.3))
    seconds, _ = run(cases, "m@http://in.process/v1", InProcess(0.05), concurrency=16)
    held.append(report("limit of 16, 50 ms in process", seconds, requests / 16 * 0.05, 1.25))
    seconds, subject = run(cases, "m@http://in.process/v1", InProcess(0.05))
    report(f"adaptive start (8 to {int(subject.limiter.limit)})", seconds, path * 0.05, None)
    print(f"scheduler: {sum(held)} of {len(held)} goals held")
    return 0 if all(held) else 1


if __name__ == "__main__":
    raise SystemExit(main())
