"""A chat model behind a server as judge: structured answers where it offers them, bounded patience where not."""

from __future__ import annotations

import asyncio
import json
import re
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import engine_server
import pytest
from asked import clear, one_of_each, question, settled, summary
from engine_server import Answer, ChatServer, as_json, completion

from pytest_clinical_drift.core.findings import Finding
from pytest_clinical_drift.core.words import State
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.judging.answers import UNSURE
from pytest_clinical_drift.judging.chat import ATTEMPTS, interview
from pytest_clinical_drift.judging.entries import entries_of
from pytest_clinical_drift.judging.measuring import asked_by_rule
from pytest_clinical_drift.judging.procedure import Judges, read_all, settle
from pytest_clinical_drift.judging.protocol import Judge, JudgeRequest, build_judge
from pytest_clinical_drift.judging.questions import Question
from pytest_clinical_drift.judging.queue import Count, JudgeQueue
from pytest_clinical_drift.transcript import Reply


def told(body: dict[str, Any]) -> str:
    """A right answer, read from the schema or the instructions; quotes the first words of the text."""
    system, user = (message["content"] for message in body["messages"][:2])
    listed = system.split('"answer" is one of: ')[1].split(".")[0].split(", ")
    good = ("retained", "met", "kept", "consistent", "supported", "none", "said")
    answer = next(word for word in good if word in listed)
    text = user.split("[[TEXT ")[1].split("]]\n", 1)[1]
    return json.dumps({"earlier_quote": "", "quote": " ".join(text.split()[:3]), "reason": "so", "answer": answer})


def ask(server: ChatServer, questions: list[Question], **settings: str) -> tuple[list[Finding], Count]:
    return settled(checked(server, **settings), questions)


def checked(server: ChatServer, **settings: str) -> Judge:
    judge = build_judge(f"server:judge@{server.url}", {"deadline": "20", **settings})
    assert judge is not None
    judge.check()
    return judge


def states(rulings: list[Finding]) -> set[State]:
    return {ruling.state for ruling in rulings}


def serve(answer: Callable[[dict[str, Any]], Answer | None]) -> ChatServer:
    def reply(body: dict[str, Any]) -> Answer | None:
        return as_json(completion("ready")) if len(body["messages"]) == 1 else answer(body)

    return ChatServer(answer=reply)


def test_answers_are_held_to_a_schema() -> None:
    """The request asks for JSON of the kind's schema; tokens are counted."""
    seen: list[dict[str, Any]] = []

    def answer(body: dict[str, Any]) -> Answer:
        seen.append(body)
        return as_json(completion(told(body), usage={"prompt_tokens": 900, "completion_tokens": 40}))

    with serve(answer) as server:
        ruled, count = ask(server, one_of_each())
    assert states(ruled) == {State.DISMISSED}
    schemas = [body["response_format"]["json_schema"]["schema"] for body in seen]
    assert all(UNSURE in schema["properties"]["answer"]["enum"] for schema in schemas)
    assert count.tokens == {"prompt": 900 * len(seen), "answer": 40 * len(seen), "answers": len(seen)}


def test_a_server_without_schemas_is_asked_without() -> None:
    """Refused once, the schema is left out, and the answer is read from the text."""
    refused = threading.Event()

    def answer(body: dict[str, Any]) -> Answer:
        if "response_format" in body:
            refused.set()
            return as_json({"error": {"message": "response_format is not supported"}}, 400)
        return as_json(completion(f"<think>hm {{}}</think>Here you are:\n```json\n{told(body)}\n```"))

    with serve(answer) as server:
        ruled, _ = ask(server, one_of_each())
    assert refused.is_set()
    assert states(ruled) == {State.DISMISSED}


@pytest.mark.parametrize(
    "said",
    ["I would say that this is fine.", '{"verdict": "retained"}', '{"answer": "good", "quote": "x"}', "", "{" * 50],
)
def test_another_form_is_asked_for_again_within_bounds(said: str) -> None:
    """Prose or the wrong schema is corrected so many times; then the question stays open, and the run goes on."""
    seen: list[int] = []

    def answer(body: dict[str, Any]) -> Answer:
        seen.append(len(body["messages"]))
        return as_json(completion(said))

    with serve(answer) as server:
        ruled, count = ask(server, [question("fact")])
    assert states(ruled) == {State.OPEN}
    assert seen == [2 + 2 * number for number in range(ATTEMPTS)]
    assert count.failed == 1


def test_a_correction_helps() -> None:
    """A judge that answers in form at the second attempt is heard."""

    def answer(body: dict[str, Any]) -> Answer:
        return as_json(completion("Retained, I think." if len(body["messages"]) == 2 else told(body)))

    with serve(answer) as server:
        ruled, _ = ask(server, [question("fact")])
    assert states(ruled) == {State.DISMISSED}


def test_a_reading_that_was_cut_off_is_asked_for_again_and_clears_nothing() -> None:
    """The judge sketches the form, then runs out of tokens: the empty list of the sketch is not its finding."""
    sketch = '{"facts": {}, "unsupported": []} In full: {"facts": {"lithium": {"answer": "retained", "quote": "Lith'
    talk = interview(JudgeRequest(summary(), 1))
    next(talk)
    for _ in range(ATTEMPTS - 1):
        talk.send(Reply(sketch, truncated=True))
    with pytest.raises(StopIteration) as done:
        talk.send(Reply(sketch, truncated=True))
    answer = done.value.value
    assert {entry.answer for entry in entries_of(summary(), answer)} == {UNSURE}


def test_quotes_that_are_not_there_leave_it_open() -> None:
    """A judge that makes up its evidence settles nothing, whatever it answers."""
    with serve(lambda body: as_json(completion('{"quote": "never written", "answer": "retained"}'))) as server:
        ruled, count = ask(server, [question("fact")])
    assert states(ruled) == {State.OPEN}
    assert count.failed == 0


def test_a_server_that_hangs_leaves_it_open() -> None:
    """Timeouts are bounded; nobody waits for ever."""

    class Silent(ChatServer):
        async def _reply(self, request: dict[str, Any], writer: Any) -> tuple[bool, bool]:
            if len(request["messages"]) > 1:
                await asyncio.sleep(30)
            return await super()._reply(request, writer)

    with Silent() as server:
        ruled, _ = ask(server, [question("fact")], timeout="0.2", retries="2", deadline="3")
    assert states(ruled) == {State.OPEN}


def test_an_unreliable_server_loses_nothing() -> None:
    """Three requests in ten fail in every way a server can; all questions are answered in the end."""
    asked = [question("fact", f"Summary {number}: lithium 600 mg once nightly.") for number in range(40)]

    class Unreliable(ChatServer):
        async def _reply(self, request: dict[str, Any], writer: Any) -> tuple[bool, bool]:
            whole = as_json(completion(told(request) if len(request["messages"]) > 1 else "ready"))
            if len(request["messages"]) == 1 or self._random.random() >= 0.3:
                return True, await engine_server._send(writer, whole)
            return False, await self._misbehave(self._random.choice(["429", "500", "reset", "garble"]), whole, writer)

    with Unreliable(seed=3) as server:
        ruled, count = ask(server, asked)
        assert len(server.faults) > 5
    assert states(ruled) == {State.DISMISSED}
    assert count.failed == 0


def test_all_questions_are_in_flight_at_once() -> None:
    """The server sees many at a time, not one after the other."""

    class Slow(ChatServer):
        async def _reply(self, request: dict[str, Any], writer: Any) -> tuple[bool, bool]:
            await asyncio.sleep(0.05)
            text = told(request) if len(request["messages"]) > 1 else "ready"
            return True, await engine_server._send(writer, as_json(completion(text)))

    asked = [question("fact", f"Summary {number}: lithium 600 mg once nightly.") for number in range(60)]
    with Slow() as server:
        ask(server, asked)
        assert server.most_at_once > 8


def test_a_bad_request_keeps_the_schema() -> None:
    """HTTP 400 for a text that is too long: it is tried once without a schema; every other request still has one."""
    seen: list[bool] = []

    def answer(body: dict[str, Any]) -> Answer:
        seen.append("response_format" in body)
        if "Far too long." in body["messages"][1]["content"]:
            return as_json({"error": {"message": "maximum context length exceeded"}}, 400)
        return as_json(completion(told(body)))

    with serve(answer) as server:
        judge = build_judge(f"server:judge@{server.url}", {"deadline": "20", "concurrency": "1"})
        assert judge is not None
        judge.check()
        ruled, count = settled(judge, [question("fact", "Far too long."), question("fact"), question("harm")])
    assert [ruling.state for ruling in ruled] == [State.OPEN, State.DISMISSED, State.DISMISSED]
    assert seen == [True, False, True, True]
    assert count.failed == 1


def test_three_refusals_in_a_row_end_the_schema() -> None:
    """A request taken without a schema only is a refusal; one taken with it starts the count anew."""
    refused = [f"Summary {number}:" for number in (1, 2, 4, 5, 6)]
    seen: list[bool] = []

    def answer(body: dict[str, Any]) -> Answer:
        seen.append("response_format" in body)
        if seen[-1] and any(text in body["messages"][1]["content"] for text in refused):
            return as_json({"error": {"message": "schema too complex"}}, 400)
        return as_json(completion(told(body)))

    with serve(answer) as server:
        judge = build_judge(f"server:judge@{server.url}", {"deadline": "20", "concurrency": "1"})
        assert judge is not None
        judge.check()
        asked = [question("fact", f"Summary {number}: lithium 600 mg once nightly.") for number in range(1, 9)]
        ruled, _ = settled(judge, asked)
    assert states(ruled) == {State.DISMISSED}
    assert seen == [True, False] * 2 + [True] + [True, False] * 3 + [False] * 2


def test_a_judge_that_was_idle_for_longer_than_its_deadline_answers() -> None:
    """The deadline is for a request, not for the time since the judge was made: conversations take hours."""
    with serve(lambda body: as_json(completion(told(body)))) as server:
        judge = build_judge(f"server:judge@{server.url}", {"deadline": "1"})
        assert judge is not None
        judge.check()
        queue = JudgeQueue(judge)
        names = Judges("judge", "judge")
        found = []
        for number in range(2):
            time.sleep(1.3 * number)
            one = question("fact", f"Summary {number}: lithium 600 mg once nightly.")
            queue.start(number, settle(queue, [asked_by_rule(one)], names))
            found += [finding.state for finding in queue.wait(number).values()]
        queue.stop()
    assert found == [State.DISMISSED] * 2


def test_readings_are_held_to_a_schema_and_missing_parts_are_asked_for_again() -> None:
    """A reading that lacks its facts is corrected; what a second answer gives counts."""
    bodies: list[dict[str, Any]] = []
    one = summary()

    def answer(body: dict[str, Any]) -> Answer:
        bodies.append(body)
        whole = clear(one)
        return as_json(completion(json.dumps({"unsupported": []} if len(bodies) == 1 else whole)))

    with serve(answer) as server:
        judge = build_judge(f"server:judge@{server.url}", {"deadline": "20"})
        assert judge is not None
        judge.check()
        queue = JudgeQueue(judge)
        queue.start("reading", read_all(queue, [one], Judges("judge", "judge")))
        entries = queue.wait("reading").read[0].entries
        queue.stop()
    assert [entry.answer for entry in entries] == ["retained"] * 3
    assert len(bodies) == 2
    schema = bodies[0]["response_format"]["json_schema"]["schema"]
    assert set(schema["properties"]["facts"]["properties"]) == {line.fact for line in one.facts}
    assert set(schema["required"]) == {"facts", "unsupported"}


def test_the_host_is_known_and_bad_settings_are_named(tmp_path: Path) -> None:
    """Where texts go can be told before they go; an unknown setting names the valid ones."""
    judge = build_judge("server:judge@http://somewhere:8000/v1", {})
    assert "somewhere:8000" in judge.host  # type: ignore[union-attr]
    with pytest.raises(Exception, match="--drift-judge-set colour"):
        build_judge("server:judge@http://somewhere:8000/v1", {"colour": "red"})


def test_advice_names_the_settings_of_the_judge(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key, a patience or a dtype of the judge is set with --drift-judge-set, never with the subject's option."""
    monkeypatch.delenv("CLINICAL_DRIFT_API_KEY", raising=False)
    monkeypatch.delenv("JUDGE_KEY", raising=False)
    with ChatServer(answer=lambda _: as_json({}, 401)) as server:
        for settings, advice in (
            ({}, "or name another with --drift-judge-set key_env=NAME"),
            ({"key_env": "JUDGE_KEY"}, "--drift-judge-set key_env=JUDGE_KEY: the environment variable JUDGE_KEY"),
            ({"key_env": "sk-abc-123"}, "--drift-judge-set key_env: expected the name of"),
        ):
            with pytest.raises(InputError, match=re.escape(advice)):
                checked(server, **settings)
    with (
        ChatServer(delay=5.0) as server,
        pytest.raises(InputError, match="raise the limit with --drift-judge-set timeout=SECONDS"),
    ):
        checked(server, timeout="0.05")
    with pytest.raises(InputError, match="--drift-judge-set dtype: expected one of"):
        build_judge("hf:model", {"dtype": "float8"})


@pytest.mark.torch
def test_a_missing_folder_of_a_judge_is_named_with_its_option() -> None:
    """As --drift-judge, never as --model."""
    local = build_judge("hf:./no-such-folder", {})
    assert local is not None
    with pytest.raises(InputError, match=r"^--drift-judge hf:./no-such-folder: no such folder"):
        local.check()
