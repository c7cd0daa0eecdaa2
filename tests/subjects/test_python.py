"""`python:module:factory`: sync and async functions, their context, errors and time limits."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from engine_cases import make_cases

from pytest_clinical_drift.conversation.runner import BackgroundRunner
from pytest_clinical_drift.conversation.scheduler import Plan, run_conversations
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.subjects.python import PythonSubject
from pytest_clinical_drift.transcript import Transcript

SYNC = """
seen = []
def make():
    def chat(messages):
        return f"{len(messages)}"
    return chat
def aware():
    def chat(messages, context):
        seen.append((context, [m["content"] for m in messages]))
        return "ok"
    return chat
"""
ASYNC = """
import asyncio
running, most, order = 0, 0, []
def make():
    async def chat(messages):
        global running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.01)
        running -= 1
        if "Question 2 of patient 3" in messages[-1]["content"]:
            raise ValueError("no such patient")
        return f"{len(messages)}"
    return chat
def aware():
    async def chat(messages, *, context):
        order.append((context["session"], context["turn"], context["probe"], "begins"))
        await asyncio.sleep(0.001)
        order.append((context["session"], context["turn"], context["probe"], "ends"))
        return "ok"
    return chat
def slow():
    async def chat(messages):
        await asyncio.sleep(0.2 if "Question 2 of patient 1" in messages[-1]["content"] else 0)
        return "ok"
    return chat
def creeping():
    async def chat(messages):
        await asyncio.sleep(0.05)
        return "ok"
    return chat
class Client:
    async def __call__(self, messages):
        return "ok"
"""


@pytest.fixture(autouse=True)
def _modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "plain_app.py").write_text(SYNC, encoding="utf-8")
    (tmp_path / "async_app.py").write_text(ASYNC, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    yield
    for name in ("plain_app", "async_app"):
        sys.modules.pop(name, None)


def talk(target: str, count: int = 4, turns: int = 3, plan: Plan | None = None, **settings: str) -> list[Transcript]:
    subject, cases = PythonSubject(target, settings), make_cases(count, turns)
    subject.check(cases)
    finished: list[Transcript] = []
    run_conversations(cases, subject, plan or Plan(), on_finished=finished.append)
    subject.close()
    return sorted(finished, key=lambda transcript: transcript.case_id)


def test_a_plain_function_is_asked_one_thing_at_a_time() -> None:
    """The reply of turn 2 sees three messages, its summary five."""
    (first, *_) = talk("plain_app:make")
    assert [(e.reply.text, e.summary.text) for e in first.exchanges] == [("1", "3"), ("3", "5"), ("5", "7")]


def test_an_async_function_runs_concurrently_within_bounds() -> None:
    """Eight at a time unless told otherwise."""
    told = talk("async_app:creeping", 1)
    assert told[0].failure is None
    for settings, most in (({}, 8), ({"concurrency": "3"}, 3)):
        talk("async_app:make", 12, **settings)  # type: ignore[arg-type]
        module = sys.modules["async_app"]
        assert module.most == most
        module.most = 0


def test_an_error_of_one_conversation_leaves_the_others_alone() -> None:
    """The function raises for one patient: that case is incomplete, with the traceback; the rest is whole."""
    told = talk("async_app:make", 4)
    assert [t.failure is None for t in told] == [True, True, False, True]
    assert str(told[2].failure) == "turn 2, reply: ValueError: no such patient"
    failed = told[2].exchanges[1].reply.error
    error = failed.trace if failed else ""
    assert "async_app.py" in error


def test_a_call_that_takes_too_long_is_an_outage() -> None:
    """`timeout` bounds one call."""
    told = talk("async_app:slow", 2, timeout="0.05")
    assert str(told[0].failure) == "turn 2, reply: no answer within 0.05 s"
    assert told[1].failure is None


def test_a_case_that_takes_too_long_is_an_outage() -> None:
    """`deadline` bounds all calls of a case."""
    started = time.monotonic()
    (told,) = talk("async_app:creeping", 1, 30, deadline="0.12")
    assert "no answer within" in str(told.failure) or "deadline" in str(told.failure)
    assert time.monotonic() - started < 2


def test_context_names_the_request_and_gives_the_record() -> None:
    """Case, repeat, turn, session, whether it is a probe, and the record, wherever else the record goes."""
    talk("plain_app:aware", 2, 2, Plan(repeats=2, record="context"))
    seen = sys.modules["plain_app"].seen
    first, texts = seen[0]
    assert set(first) == {"case_id", "repeat", "turn", "session", "probe", "record"}
    assert (first["case_id"], first["repeat"], first["turn"], first["probe"]) == ("case-001", 0, 1, False)
    assert "sertraline 26 mg" in first["record"]
    assert texts == ["Question 1 of patient 1: what about tomorrow?"]
    assert len({context["session"] for context, _ in seen}) == 4
    assert [context["probe"] for context, _ in seen[:4]] == [False, True, False, True]
    readme = Path(__file__).parents[2].joinpath("README.md").read_text(encoding="utf-8")
    (row,) = (line for line in readme.splitlines() if line.startswith("| `python:module:factory`"))
    assert set(re.findall("`([a-z_]+)`", row)) == {"context", *seen[0][0]}


def test_a_function_with_a_state_gets_each_conversation_in_its_order() -> None:
    """Of one session never two calls at a time: a summary is over before the next message comes."""
    talk("async_app:aware", 5, 4)
    sessions: dict[str, list[tuple[int, bool, str]]] = {}
    for session, *rest in sys.modules["async_app"].order:
        sessions.setdefault(session, []).append(tuple(rest))
    assert len(sessions) == 5
    expected = [(t, probe, what) for t in range(1, 5) for probe in (False, True) for what in ("begins", "ends")]
    assert all(calls == expected for calls in sessions.values())


def test_a_function_with_a_state_is_never_resumed_in_the_middle(tmp_path: Path) -> None:
    """Stored replies would leave its memory without those turns: a second run asks for everything again."""
    for _ in range(2):
        subject = PythonSubject("plain_app:aware", {"revision": "a" * 40})
        subject.check(cases := make_cases(1, 2))
        runner = BackgroundRunner(subject, Plan(), store=tmp_path / "store.sqlite")
        runner.cases = cases
        runner.wait("case-001", 0)
        runner.stop()
    assert len(sys.modules["plain_app"].seen) == 8


def test_an_object_with_an_async_call_is_async_too() -> None:
    """What `factory()` returns may be an instance."""
    (told,) = talk("async_app:Client", 1)
    assert told.failure is None


def test_limits_of_a_plain_function_are_refused() -> None:
    """They could not be kept: nobody can stop a function that does not await."""
    subject = PythonSubject("plain_app:make", {"timeout": "5"})
    with pytest.raises(InputError, match="--drift-set timeout: only async functions have it"):
        subject.check(make_cases(1))


def test_other_code_is_another_model(tmp_path: Path) -> None:
    """A run that was broken off is not resumed after a change in a module that the function imports."""
    codes = []
    for helper in ("DOSE = 1\n", "DOSE = 2\n", "DOSE = 1\n"):
        (tmp_path / "app_helper.py").write_text(helper, encoding="utf-8")
        (tmp_path / "helped_app.py").write_text("import app_helper\ndef make():\n    return print\n", encoding="utf-8")
        codes.append(PythonSubject("helped_app:make", {}).identity().server["code"])
    assert codes[0] == codes[2] != codes[1]
