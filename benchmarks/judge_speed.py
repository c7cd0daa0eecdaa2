"""How fast the questions of the bundled set are answered by a server that takes 50 ms for each.

    python -m benchmarks.judge_speed

The bundled cases are talked through by the steady control and read by rules; all their questions are put to a scripted
server that answers each after 50 ms, as many at a time as are sent. The critical path is what nobody could have faster:
the time that building, sending, serving and reading so many requests takes on this machine (measured with the same
server answering at once), and two answers in a row, because a second wording may follow from the first. Goal: 1.5 times
that. With a warm store nothing is asked. Exit code 0 only where both hold.
"""

from __future__ import annotations

import asyncio
import json
import math
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import engine_server
from engine_server import ChatServer, as_json, completion
from pytest_clinical_drift.judging.inquiry import Inquiry

from pytest_clinical_drift.cases.files import bundled_cases, load_cases
from pytest_clinical_drift.conversation.runner import BackgroundRunner
from pytest_clinical_drift.conversation.scheduler import Plan
from pytest_clinical_drift.judging.protocol import build_judge
from pytest_clinical_drift.judging.questions import Question, audit_of, audit_share, questions_of
from pytest_clinical_drift.scoring.scorer import Scorer
from pytest_clinical_drift.subjects.spec import build_subject, parse_spec

DELAY = 0.05
GOAL = 1.5
ROUNDS = 3
CLEAR = ("retained", "met", "kept", "consistent", "supported", "none")


class Reader(ChatServer):
    """Clears every question after a delay."""

    async def _reply(self, request: dict[str, Any], writer: Any) -> tuple[bool, bool]:
        await asyncio.sleep(self.delay)
        text = "ready" if len(request["messages"]) == 1 else _cleared(request["messages"])
        usage = {"prompt_tokens": len(json.dumps(request)) // 4, "completion_tokens": len(text) // 4}
        return True, await engine_server._send(writer, as_json(completion(text, usage=usage)))


def _cleared(messages: list[dict[str, str]]) -> str:
    listed = messages[0]["content"].split('"answer" is one of: ')[1].split(".")[0].split(", ")
    words = messages[1]["content"].split("[[TEXT ")[1].split("]]\n", 1)[1].split()[:4]
    answer = next(word for word in CLEAR if word in listed)
    return json.dumps({"quote": " ".join(words), "reason": "so", "answer": answer})


def conversations() -> dict[str, list[Question]]:
    """The questions of every bundled case, as the steady control leaves them."""
    cases, scorer = load_cases(bundled_cases()), Scorer()
    subject = build_subject(parse_spec("control:steady"), {})
    subject.check(cases)
    runner = BackgroundRunner(subject, Plan(None, 1, None))
    runner.cases = cases
    share, asked = audit_share(cases, 1), {}
    for case in cases:
        transcript = runner.wait(case.id, 0)
        findings = scorer.find(case, transcript)
        questions = questions_of(case, transcript, findings)
        asked[case.id] = questions + audit_of(case, transcript, findings, questions, share)
    runner.stop(interrupted=False)
    return asked


def answer_all(asked: dict[str, list[Question]], server: Reader, store: Path | None) -> tuple[float, Inquiry, int]:
    """Seconds until the last answer, the inquiry, and how many requests the server saw."""
    before = len(server.requests)
    judge = build_judge(f"server:reader@{server.url}", {})
    if judge is None:
        raise SystemExit("no judge")
    judge.check()
    inquiry = Inquiry(judge, store)
    started = time.perf_counter()
    for case_id, questions in asked.items():
        inquiry.submit(case_id, questions)
    for case_id in asked:
        inquiry.wait(case_id)
    seconds = time.perf_counter() - started
    inquiry.stop()
    return seconds, inquiry, len(server.requests) - before


def main() -> int:
    asked = conversations()
    questions = sum(map(len, asked.values()))
    at_once = seconds = math.inf
    for _ in range(ROUNDS):  # in turns, and the best of each: other programs may be busy
        with Reader() as server:
            at_once = min(at_once, answer_all(asked, server, None)[0])
        with tempfile.TemporaryDirectory() as folder, Reader(delay=DELAY) as server:
            store = Path(folder) / "store.sqlite"
            took, inquiry, requests = answer_all(asked, server, store)
            seconds = min(seconds, took)
            warm, _, again = answer_all(asked, server, store)
    path = at_once + 2 * DELAY
    tokens = inquiry.count.tokens
    print(f"{len(asked)} cases, {questions:,} questions, {requests:,} requests of {DELAY * 1000:.0f} ms each")
    print(f"about {tokens['prompt']:,} prompt and {tokens['answer']:,} completion tokens")
    print(f"one after the other {requests * DELAY:.0f} s; by a server that answers at once {at_once:.2f} s")
    print(f"with a warm store {warm:.2f} s and {again} requests")
    print(
        f"all questions in {seconds:.2f} s, {seconds / path:.2f} times the critical path of {path:.2f} s (goal {GOAL})"
    )
    return 0 if questions and seconds <= GOAL * path and again == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
