"""`header=NAME:VALUE` and `body=JSON`: sent with every request, secrets from the environment only."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from engine_server import ChatServer, as_json, completion

from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.judging.chat import ServerJudge
from pytest_clinical_drift.subjects.base import Request
from pytest_clinical_drift.subjects.server import ServerSubject
from pytest_clinical_drift.transcript import Message, Reply

SECRET = "t0p-secret-value-77"


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer() as running:
        yield running


def ask(subject: ServerSubject) -> Reply:
    async def once() -> Reply:
        try:
            return await subject.ask(Request("case", 0, 1, "dialogue", (Message("user", "Hello"),)))
        finally:
            await subject.disconnect()

    return asyncio.run(once())


def test_headers_and_fields_go_out_with_every_request(server: ChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Plain values, values of the environment, and fields beside those of other settings."""
    monkeypatch.setenv("GATE_TOKEN", SECRET)
    monkeypatch.setenv("WARD", "cardiology")
    bodies: list[dict[str, Any]] = []
    server.answer = lambda body: bodies.append(body)  # type: ignore[func-returns-value]
    body = {"metadata": {"ward": "env:WARD"}, "chat_template_kwargs": {"tools": False}}
    settings = {
        "header": "X-Team: gate\nX-Api-Key: env:GATE_TOKEN\nX-Signed-Token:Token env:GATE_TOKEN",
        "body": json.dumps(body),
        "thinking": "false",
    }
    subject = ServerSubject(f"m@{server.url}", settings)
    subject.check([])
    assert not ask(subject).error
    for sent in server.headers:
        assert (sent["x-team"], sent["x-api-key"]) == ("gate", SECRET)
        assert sent["x-signed-token"] == f"Token {SECRET}"
    for asked in bodies:
        assert asked["metadata"] == {"ward": "cardiology"}
        assert asked["chat_template_kwargs"] == {"tools": False, "enable_thinking": False}
    assert len(bodies) == 2  # the greeting and the question


def test_the_record_names_variables_and_not_their_values(server: ChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is set is part of the tested item; another header is another subject."""
    monkeypatch.setenv("GATE_TOKEN", SECRET)
    settings = {"header": "X-Api-Key:env:GATE_TOKEN", "body": '{"user": "env:GATE_TOKEN"}'}
    identity = ServerSubject(f"m@{server.url}", settings).identity()
    assert identity.settings["header"] == ["x-api-key:env:GATE_TOKEN"]
    assert identity.settings["body"] == {"user": "env:GATE_TOKEN"}
    assert SECRET not in repr(identity)
    assert identity != ServerSubject(f"m@{server.url}", {}).identity()


def test_a_secret_that_the_server_repeats_goes_no_further(server: ChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a reply, in an error and in what it tells of itself; a plain word of a variable stays in replies."""
    monkeypatch.setenv("GATE_TOKEN", SECRET)
    monkeypatch.setenv("WARD", "cardiology")
    settings = {"header": "X-Api-Key:env:GATE_TOKEN", "body": '{"ward": "env:WARD"}', "retries": "1"}
    subject = ServerSubject(f"m@{server.url}", settings)
    server.answer = lambda body: as_json(completion(f"You sent {SECRET} from cardiology."))
    assert ask(subject).text == "You sent [GATE_TOKEN] from cardiology."
    server.answer = lambda body: as_json({"error": {"message": f"bad key {SECRET}"}}, 400)
    assert "bad key [GATE_TOKEN]" in str(ask(subject).error)


def test_no_end_is_left_of_a_secret_that_begins_with_another(
    server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In whatever order they are struck out."""
    monkeypatch.setenv("CLINICAL_DRIFT_API_KEY", "sk-12345678")
    monkeypatch.setenv("GATE_TOKEN", "sk-12345678-ward")
    server.answer = lambda _: as_json(completion("sk-12345678 and sk-12345678-ward"))
    settings = {"header": "X-Api-Key:env:GATE_TOKEN"}
    assert ask(ServerSubject(f"m@{server.url}", settings)).text == "[key] and [GATE_TOKEN]"


def test_judges_take_them_too(server: ChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """With --drift-judge-set."""
    monkeypatch.setenv("JUDGE_TOKEN", SECRET)
    ServerJudge(f"m@{server.url}", {"header": "X-Api-Key:env:JUDGE_TOKEN"}).check()
    assert {sent["x-api-key"] for sent in server.headers} == {SECRET}


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"header": "X-Team"}, "header: write header=NAME:VALUE"),
        ({"header": "X Team:a"}, "header: write header=NAME:VALUE"),
        ({"header": "Host:a"}, "header=Host: this header is part of every request already"),
        ({"header": f"X-Api-Key:{SECRET}"}, "put the value into an environment variable"),
        ({"header": f"Authorization:Bearer {SECRET}"}, "header=Authorization:env:VARIABLE"),
        ({"header": "X-Team:è"}, "characters that cannot be sent"),
        ({"body": "[1]"}, "body: expected a JSON object"),
        ({"body": "{"}, "body: expected a JSON object"),
        ({"body": '{"max_tokens": 3}'}, "body: max_tokens is set by the gate or by a setting of its own"),
        ({"body": '{"messages": []}'}, "body: messages is set by the gate"),
        ({"body": json.dumps({"auth": {"token": SECRET}})}, 'write "env:VARIABLE"'),
    ],
)
def test_bad_ones_are_refused_and_not_repeated(settings: dict[str, str], told: str) -> None:
    """One sentence, without a value that may be a secret."""
    with pytest.raises(InputError) as refused:
        ServerSubject("m@http://localhost:1/v1", settings)
    assert told in str(refused.value)
    assert str(refused.value).startswith("--drift-set ")
    assert SECRET not in str(refused.value)


def test_a_variable_that_is_not_set_ends_the_run_before_the_first_case(
    server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is named, with the setting."""
    monkeypatch.delenv("NOT_THERE", raising=False)
    with pytest.raises(InputError, match="header=x-team: the environment variable NOT_THERE is not set"):
        ServerSubject(f"m@{server.url}", {"header": "X-Team:env:NOT_THERE"}).check([])


def test_no_file_of_a_run_holds_a_value_of_the_environment(
    server: ChatServer, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Results, page, transcripts, store and junit, though the server repeats it in every reply."""
    monkeypatch.setenv("GATE_TOKEN", SECRET)
    server.answer = lambda body: as_json(completion(f"Your token is {SECRET}."))
    cases = Path(__file__).parents[2] / "examples" / "my_clinic" / "cases"
    given = ("--drift-set", "header=X-Api-Key:env:GATE_TOKEN", "--drift-set", 'body={"user": "env:GATE_TOKEN"}')
    result = pytester.runpytest("--model", f"server:m@{server.url}", "--drift-cases", cases, "--junitxml=j.xml", *given)
    assert "verdict" in result.stdout.str()
    files = [file for file in pytester.path.rglob("*") if file.is_file()]
    assert {"study_c_results.json", "report.html", "store.sqlite", "j.xml"} <= {file.name for file in files}
    assert not [file for file in files if SECRET.encode() in file.read_bytes()]
    assert "GATE_TOKEN" in next(file for file in files if file.name == "study_c_results.json").read_text("utf-8")
    assert SECRET not in result.stdout.str()
