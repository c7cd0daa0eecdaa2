"""The server subject against a small server of ours that misbehaves on demand."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from engine_cases import make_cases
from engine_runs import answers
from engine_server import Answer, ChatServer, as_json, completion

from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.subjects.base import ConcurrentSubject, Request
from pytest_clinical_drift.subjects.server import ServerSubject
from pytest_clinical_drift.subjects.server_access import parse_address
from pytest_clinical_drift.subjects.server_http import read_answer, retry_after
from pytest_clinical_drift.transcript import Message, Reply, Usage


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer() as running:
        yield running


def subject_at(server: ChatServer, **settings: object) -> ServerSubject:
    return ServerSubject(f"model-a@{server.url}", {key: str(value) for key, value in settings.items()})


def ask(subject: ServerSubject, text: str = "Hello", *, repeat: int = 0) -> Reply:
    return answers(subject, [Request("case-001", repeat, 1, "dialogue", (Message("user", text),))])[0]


def always(answer: Answer) -> Callable[[dict[str, Any]], Answer]:
    return lambda _: answer


# -- addresses, keys and settings


@pytest.mark.parametrize(
    ("target", "model", "chat"),
    [
        ("m@http://localhost:8000/v1", "m", "http://localhost:8000/v1/chat/completions"),
        ("m@http://localhost:8000", "m", "http://localhost:8000/v1/chat/completions"),
        ("org/m@v2@https://host/api/v3/", "org/m@v2", "https://host/api/v3/chat/completions"),
        ("m@http-beta@https://host/v1/chat/completions", "m@http-beta", "https://host/v1/chat/completions"),
    ],
)
def test_the_target_is_split_at_the_last_http(target: str, model: str, chat: str) -> None:
    """The model's name may hold @ itself; a bare host means its /v1."""
    address = parse_address(target)
    assert (address.model, address.chat) == (model, chat)


@pytest.mark.parametrize("target", ["m", "@http://host/v1", "m@http://", "m@http://host:99999/v1"])
def test_a_target_that_is_no_address_is_refused(target: str) -> None:
    """The sentence names the option."""
    with pytest.raises(InputError, match="--model server"):
        parse_address(target)


@pytest.mark.parametrize("url", ["http://user:hunter2@host/v1", "https://host/v1?api_key=hunter2"])
def test_a_secret_in_the_address_is_refused_without_repeating_it(url: str) -> None:
    """Specs end up in reports, so that a key must not stand in one."""
    with pytest.raises(InputError, match="environment variable") as caught:
        ServerSubject(f"m@{url}", {})
    assert "hunter2" not in str(caught.value)


def test_settings_are_named_and_bounded() -> None:
    """An unknown key lists the valid ones; a value below its least is refused."""
    with pytest.raises(InputError, match=r"max_token: .*valid settings: .*max_tokens"):
        ServerSubject("m@http://h/v1", {"max_token": "5"})
    with pytest.raises(InputError, match="retries: expected at least 1, found 0"):
        ServerSubject("m@http://h/v1", {"retries": "0"})


def test_the_key_comes_from_the_environment_only(server: ChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is sent as a bearer token and is part of no identity."""
    monkeypatch.setenv("SOME_KEY", "sk-very-secret")
    subject = subject_at(server, key_env="SOME_KEY")
    ask(subject)
    assert server.headers[-1]["authorization"] == "Bearer sk-very-secret"
    assert "sk-very-secret" not in repr(subject.identity())


def test_a_key_variable_that_is_not_set_stops_the_run(server: ChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """One sentence, before anything is sent."""
    monkeypatch.delenv("SOME_KEY", raising=False)
    with pytest.raises(InputError, match="environment variable SOME_KEY is not set"):
        subject_at(server, key_env="SOME_KEY").check([])
    assert server.headers == []


def test_a_key_given_in_place_of_a_variable_name_is_not_repeated() -> None:
    """People paste the key itself; the message must not show it."""
    with pytest.raises(InputError, match="name of an environment variable") as caught:
        ServerSubject("m@http://h/v1", {"key_env": "sk-abc-123"})
    assert "sk-abc" not in str(caught.value)


# -- replies


def test_decoding_settings_reach_the_server(server: ChatServer) -> None:
    """Greedy by default; each repeat gets its own seed; thinking is a template argument."""
    seen: list[dict[str, Any]] = []
    server.answer = lambda body: seen.append(body)
    ask(subject_at(server))
    ask(subject_at(server, temperature=0.7, seed=5, top_p=0.9, thinking="off"), repeat=2)
    assert seen[0]["temperature"] == 0
    assert "seed" not in seen[0]
    assert (seen[1]["temperature"], seen[1]["seed"], seen[1]["top_p"]) == (0.7, 7, 0.9)
    assert seen[1]["chat_template_kwargs"] == {"enable_thinking": False}


def test_a_reply_carries_usage_reasoning_time_and_truncation(server: ChatServer) -> None:
    """Reasoning that comes in its own field stays apart from the text."""
    message = {"reasoning_content": "The patient asks…"}
    data = completion(
        "Take it daily.", message=message, finish_reason="length", usage={"prompt_tokens": 41, "completion_tokens": 4}
    )
    server.answer = always(as_json(data))
    reply = ask(subject_at(server))
    assert (reply.text, reply.reasoning, reply.truncated) == ("Take it daily.", "The patient asks…", True)
    assert reply.usage == Usage(41, 4)
    assert reply.seconds is not None
    assert reply.seconds > 0


@pytest.mark.parametrize(
    "message",
    [
        {"content": ""},
        {"content": None},
        {"content": None, "refusal": "I cannot help."},
        {"content": [{"type": "text", "text": "Hi"}]},
    ],
)
def test_an_empty_answer_and_a_refusal_are_replies(message: dict[str, Any]) -> None:
    """They are scored; they are no outage."""
    body = json.dumps({"choices": [{"message": message, "finish_reason": "stop"}]}).encode()
    reply = read_answer(200, {}, body)
    assert reply.error is None
    assert reply.text in ("", "I cannot help.", "Hi")


def test_a_token_limit_inside_the_reasoning_is_no_reply(server: ChatServer) -> None:
    """Nothing was answered, and asking again would end the same way: one request, one cause."""
    data = completion("", message={"reasoning_content": "Let me think"}, finish_reason="length")
    server.answer = always(as_json(data))
    assert "inside its reasoning" in str(ask(subject_at(server)).error)
    assert len(server.requests) == 1


def test_a_conversation_that_is_too_long_is_told_as_such(server: ChatServer) -> None:
    """Context length exceeded is a cause of its own and is not retried."""
    server.answer = always(as_json({"error": {"message": "This model's maximum context length is 4096 tokens."}}, 400))
    assert str(ask(subject_at(server)).error).startswith("context length exceeded (400")
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"{}",
        b'{"choices": []}',
        b'{"choices": [{"message": {}}]}',
        b'{"choices": [{"message": {"content": 5}}]}',
        b'{"error": "overloaded"}',
        b"\xff\xfe",
        b"[" * 100_000,
    ],
)
def test_malformed_answers_are_retried_and_then_an_error(server: ChatServer, body: bytes) -> None:
    """Bounded attempts, then a cause; never a reply, never an exception."""
    server.answer = always((200, {}, body))
    reply = ask(subject_at(server, retries=2))
    assert reply.text == ""
    assert reply.error
    assert len(server.requests) == 2


def test_a_single_slow_answer_is_given_up_and_asked_again(server: ChatServer) -> None:
    """The per-reply timeout counts as one failed attempt."""
    first = iter([True])

    def slow_once(_: dict[str, Any]) -> None:
        server.delay = 5.0 if next(first, False) else 0.0

    server.answer = slow_once
    started = time.monotonic()
    assert ask(subject_at(server, timeout=0.3)).error is None
    assert time.monotonic() - started < 30


def test_a_case_ends_at_its_deadline(server: ChatServer) -> None:
    """A server that fails for ever costs a case no more than its deadline."""
    server.answer = always(as_json({}, 500))
    started = time.monotonic()
    reply = ask(subject_at(server, deadline=0.8, retries=1000))
    assert time.monotonic() - started < 20
    assert "500" in str(reply.error)


def test_a_server_that_hangs_fails_every_case_within_the_deadline(server: ChatServer) -> None:
    """Those that wait for a free place, too."""
    server.delay = 60
    subject = subject_at(server, concurrency=2, deadline=1, timeout=60)
    requests = [Request(case.id, 0, 1, "dialogue", (Message("user", case.id),)) for case in make_cases(6)]
    started = time.monotonic()
    replies = answers(subject, requests)
    assert time.monotonic() - started < 40
    assert all(reply.error for reply in replies)


def test_retry_after_is_honoured(server: ChatServer) -> None:
    """The next attempt comes after the pause that the server asked for."""
    answers = iter([as_json({}, 429, {"retry-after": "0.5"})])
    server.answer = lambda _: next(answers, None)
    started = time.monotonic()
    assert ask(subject_at(server)).error is None
    assert time.monotonic() - started >= 0.5


def test_too_many_requests_shrink_the_concurrency(server: ChatServer) -> None:
    """A server that takes four at a time gets through; the limit ends near four, not at the start value."""
    server.limit, server.delay = 4, 0.01
    subject = subject_at(server, concurrency=32)
    requests = [Request(f"c{n}", 0, 1, "dialogue", (Message("user", str(n)),)) for n in range(120)]
    replies = answers(subject, requests)
    assert all(reply.error is None for reply in replies)
    assert subject.limiter.limit < 12


def test_the_subject_offers_the_concurrent_interface() -> None:
    """The scheduler finds out by the interface, not by the class."""
    assert isinstance(ServerSubject("m@http://h/v1", {}), ConcurrentSubject)


def test_identity_is_proven_by_a_named_revision_only() -> None:
    """Connection settings are no part of it."""
    plain = ServerSubject("m@http://h/v1", {"timeout": "5", "concurrency": "3"}).identity()
    named = ServerSubject("m@http://h/v1", {"revision": "sha256:" + "AB" * 32}).identity()
    assert (plain.proven, plain.revision) == (False, None)
    assert set(plain.settings) == {"max_tokens", "temperature"}
    assert (named.proven, named.revision) == (True, "sha256:" + "ab" * 32)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "3"}, 3.0),
        ({"retry-after-ms": "250"}, 0.25),
        ({"retry-after": "Thu, 01 Jan 1970 00:02:00 GMT"}, 20.0),
        ({"retry-after": "Thu, 01 Jan 1970 00:00:01 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "9999999"}, 600.0),
        ({}, None),
    ],
)
def test_retry_after_is_read_in_all_its_forms(headers: dict[str, str], seconds: float | None) -> None:
    """Seconds, milliseconds, a date (100 s after the epoch is now); nonsense is none."""
    assert retry_after(headers, now=100.0) == seconds


def test_hostile_text_is_sent_and_received(server: ChatServer) -> None:
    """Lone surrogates and control characters survive both ways."""
    server.answer = lambda body: as_json(completion(body["messages"][0]["content"]))
    assert ask(subject_at(server), "\ud800 \x00 µ").text == "\ud800 \x00 µ"
