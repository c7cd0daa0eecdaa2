"""The first request to a server: what stops the run, what is got over, and what a silent one costs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from engine_runs import answers
from engine_server import Answer, ChatServer, as_json

from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.subjects.base import Request
from pytest_clinical_drift.subjects.server import ServerSubject
from pytest_clinical_drift.transcript import Message


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer() as running:
        yield running


def subject_at(server: ChatServer, **settings: object) -> ServerSubject:
    return ServerSubject(f"model-a@{server.url}", {key: str(value) for key, value in settings.items()})


def always(answer: Answer) -> Callable[[dict[str, Any]], Answer]:
    return lambda _: answer


@pytest.mark.parametrize(
    ("status", "words"), [(401, "refuses access"), (403, "refuses access"), (404, "does not know")]
)
def test_preflight_stops_on_refusals(
    server: ChatServer, monkeypatch: pytest.MonkeyPatch, status: int, words: str
) -> None:
    """401, 403 and 404 stop the run in one sentence; a key that the server repeats is struck out."""
    monkeypatch.setenv("CLINICAL_DRIFT_API_KEY", "sk-very-secret")
    server.answer = always(as_json({"error": {"message": "bad key sk-very-secret"}}, status))
    with pytest.raises(InputError, match=words) as caught:
        subject_at(server).check([])
    assert "sk-very-secret" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_preflight_stops_when_there_is_no_server(server: ChatServer) -> None:
    """Told at once, without retries."""
    server.close()
    started = time.monotonic()
    with pytest.raises(InputError, match=r"no server answers at http://127\.0\.0\.1"):
        subject_at(server).check([])
    assert time.monotonic() - started < 20


def test_preflight_gets_over_a_passing_fault(server: ChatServer) -> None:
    """A single 500 or 429 stops nothing."""
    answers = iter([as_json({}, 500), as_json({"error": "rate"}, 429, {"retry-after": "0.01"})])
    server.answer = lambda _: next(answers, None)
    assert subject_at(server).check([]) == []


def test_preflight_learns_the_newer_name_of_the_token_limit(server: ChatServer) -> None:
    """Hosted models that reject max_tokens get max_completion_tokens."""
    seen: list[dict[str, Any]] = []

    def picky(body: dict[str, Any]) -> Answer | None:
        seen.append(body)
        if "max_tokens" in body:
            return as_json({"error": {"message": "'max_tokens' is unsupported, use 'max_completion_tokens'"}}, 400)
        return None

    server.answer = picky
    subject = subject_at(server, max_tokens=33)
    subject.check([])
    (reply,) = answers(subject, [Request("case-001", 0, 1, "dialogue", (Message("user", "Hello"),))])
    assert reply.error is None
    assert seen[-1]["max_completion_tokens"] == 33


@pytest.mark.parametrize(("status", "words"), [(200, None), (401, "refuses access")])
def test_preflight_learns_it_after_an_outage(server: ChatServer, status: int, words: str | None) -> None:
    """What the server says of max_tokens is no outage, at whichever attempt it comes: the other name is tried too."""
    busy = iter([as_json({"error": "loading"}, 503), as_json({"error": "rate"}, 429, {"retry-after": "0.01"})])
    refused = as_json({"error": {"message": "use 'max_completion_tokens'"}}, 400)
    last = None if status == 200 else as_json({"error": "no"}, status)
    server.answer = lambda body: next(busy, refused if "max_tokens" in body else last)
    if words is None:
        assert subject_at(server).check([]) == []
    else:
        with pytest.raises(InputError, match=words):
            subject_at(server).check([])


def test_preflight_does_not_wait_for_ever_for_a_silent_server(server: ChatServer) -> None:
    """Accepts and never answers: three attempts of the given timeout, and one sentence."""
    server.delay = 60
    with pytest.raises(InputError, match=r"cannot be used: no answer within 0\.2 s; .*timeout=SECONDS") as caught:
        subject_at(server, timeout=0.2).check([])
    assert len(server.headers) == 3
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("settings", [{}, {"deadline": 0.1}, {"timeout": 0.1}])
def test_preflight_has_a_patience_of_its_own(
    server: ChatServer, monkeypatch: pytest.MonkeyPatch, settings: dict[str, object]
) -> None:
    """Without a timeout it is shorter than that of a reply; a timeout or a shorter deadline of the user's counts."""
    monkeypatch.setattr("pytest_clinical_drift.subjects.server._FIRST_PATIENCE", 0.1)
    server.delay = 60
    with pytest.raises(InputError, match=r"no answer within 0\.1 s"):
        subject_at(server, **settings).check([])


def test_preflight_leaves_an_outage_to_the_cases(server: ChatServer) -> None:
    """A server that answers 503 is there: address, key and model may be right, so the run goes on with a remark."""
    server.answer = always(as_json({"error": "loading"}, 503))
    (remark,) = subject_at(server).check([])
    assert remark == (
        f"{server.url} returns errors (the server answered 503: loading); cases without a reply become INCOMPLETE"
    )


def test_preflight_stops_at_what_is_no_chat_server(server: ChatServer) -> None:
    """A page in place of an answer: the address is wrong."""
    server.answer = always((200, {"content-type": "text/html"}, b"<html>welcome</html>"))
    with pytest.raises(InputError, match="cannot be used: a web page came instead of an answer"):
        subject_at(server).check([])
