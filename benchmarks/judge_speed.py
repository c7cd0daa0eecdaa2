"""How fast the texts of the bundled set are read by a server that takes 50 ms for each request.

    python -m benchmarks.judge_speed [--cases N] [--rounds N]

The bundled cases are talked through by the steady control; every text and every hard stop's question is put to a
scripted server that answers each after 50 ms, as many at a time as are sent. The critical path is what nobody could
have faster: the time that building, sending, serving and reading so many requests takes on this machine (measured with
the same server answering at once), and three answers in a row (texts, conversations, questions). Goal: 1.5 times that.
With a warm store nothing is asked. Exit code 0 only where both hold.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import re
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import engine_server
from engine_server import ChatServer, as_json, completion

from pytest_clinical_drift.cases.files import bundled_cases, load_cases
from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.conversation.runner import BackgroundRunner
from pytest_clinical_drift.conversation.scheduler import Plan
from pytest_clinical_drift.judging.procedure import Judges, Texts, judge_conversation
from pytest_clinical_drift.judging.protocol import build_judge
from pytest_clinical_drift.judging.queue import JudgeQueue
from pytest_clinical_drift.judging.readings import readings_of, windows_of
from pytest_clinical_drift.subjects.spec import build_subject, parse_spec
from pytest_clinical_drift.transcript import Transcript

DELAY = 0.05
GOAL = 1.5
ROUNDS = 3
CLEAR = ("retained", "met", "kept", "consistent", "supported", "none")


class Reader(ChatServer):
    """Clears every text and every question after a delay."""

    async def _reply(self, request: dict[str, Any], writer: Any) -> tuple[bool, bool]:
        await asyncio.sleep(self.delay)
        text = "ready" if len(request["messages"]) == 1 else _cleared(request["messages"])
        usage = {"prompt_tokens": len(json.dumps(request)) // 4, "completion_tokens": len(text) // 4}
        return True, await engine_server._send(writer, as_json(completion(text, usage=usage)))


def _cleared(messages: list[dict[str, str]]) -> str:
    told, shown = messages[0]["content"], messages[1]["content"]
    if '"contradictions"' in told:
        return json.dumps({"contradictions": [], "course": [], "misreported": [], "standing": []})
    quote = " ".join(shown.split("[[TEXT ")[1].split("]]\n", 1)[1].split()[:4])
    if '"unsupported"' in told:
        facts = {key: {"answer": "retained", "quote": quote} for key in _ids(shown, ":")}
        return json.dumps({"facts": facts, "unsupported": []})
    if '"demands"' in told:
        demands = {key: {"answer": "met", "quote": quote} for key in _ids(shown, ", must:")}
        demands |= {key: {"answer": "kept", "quote": ""} for key in _ids(shown, ", must not:")}
        clean = {"forbidden": "kept", "harm": "none", "conflict": "consistent"}
        rest = {name: {"answer": word, "quote": "", "earlier_quote": ""} for name, word in clean.items()}
        return json.dumps({"demands": demands, **rest, "care": "routine"})
    listed = told.split('"answer" is one of: ')[1].split(".")[0].split(", ")
    return json.dumps({"quote": quote, "reason": "so", "answer": next(word for word in CLEAR if word in listed)})


def _ids(shown: str, after: str) -> list[str]:
    return re.findall(rf'^- id "([^"]+)"{after}', shown, re.MULTILINE)


Talks = list[tuple[Case, Transcript]]


def conversations(count: int | None = None) -> Talks:
    """Bundled cases, every one if no number is given, as the steady control leaves them."""
    cases = load_cases(bundled_cases())[:count]
    subject = build_subject(parse_spec("control:steady"), {})
    subject.check(cases)
    runner = BackgroundRunner(subject, Plan(None, 1, None))
    runner.cases = cases
    talks = [(case, runner.wait(case.id, 0)) for case in cases]
    runner.stop(interrupted=False)
    return talks


def judge_all(talks: Talks, server: Reader, store: Path | None) -> tuple[float, JudgeQueue, int]:
    """Seconds until the last answer, the queue, and how many requests the server saw."""
    before = len(server.requests)
    judge = build_judge(f"server:reader@{server.url}", {})
    if judge is None:
        raise RuntimeError("no judge")
    judge.check()
    queue = JudgeQueue(judge, store=store)
    judges = Judges(judge.name, judge.name)
    started = time.perf_counter()
    for case, talk in talks:
        texts = Texts(case, 0, readings_of(case, talk), windows_of(case, talk))
        queue.start(case.id, judge_conversation(queue, texts, {}, judges))
    for case, _ in talks:
        queue.wait(case.id)
    seconds = time.perf_counter() - started
    queue.stop()
    return seconds, queue, len(server.requests) - before


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, help="bundled cases that are read (default: all)")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args()
    talks = conversations(options.cases)
    at_once = seconds = math.inf
    for _ in range(options.rounds):  # in turns, and the best of each: other programs may be busy
        with Reader() as server:
            at_once = min(at_once, judge_all(talks, server, None)[0])
        with tempfile.TemporaryDirectory() as folder, Reader(delay=DELAY) as server:
            store = Path(folder) / "store.sqlite"
            took, queue, requests = judge_all(talks, server, store)
            seconds = min(seconds, took)
            warm, _, again = judge_all(talks, server, store)
    path = at_once + 3 * DELAY  # texts, then conversations, then what is asked about each
    tokens = queue.count.tokens
    print(f"{len(talks)} cases, {requests:,} requests of {DELAY * 1000:.0f} ms each")
    print(f"about {tokens['prompt']:,} prompt and {tokens['answer']:,} completion tokens")
    print(f"one after the other {requests * DELAY:.0f} s; by a server that answers at once {at_once:.2f} s")
    print(f"with a warm store {warm:.2f} s and {again} requests")
    print(f"all in {seconds:.2f} s, {seconds / path:.2f} times the critical path of {path:.2f} s (goal {GOAL})")
    return 0 if requests and seconds <= GOAL * path and again == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
