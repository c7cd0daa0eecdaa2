"""What weak models do in long conversations, each met in a whole pytest run: scored, or an outage with its turn."""

from __future__ import annotations

import json
from typing import Any

import pytest
from engine_cases import make_cases
from engine_runs import arguments, lay_out, results
from engine_server import Answer, ChatServer, as_json, completion

SCRIPT = """
LOOP = "Please drink a glass of water and rest for a while before you call us again. "

def make():
    def chat(messages):
        text = " ".join(m["content"] for m in messages)
        summary = "handover summary" in messages[-1]["content"]
        turn = sum(m["role"] == "user" for m in messages) - summary
        if "sertraline 26 mg" in text:
            return LOOP * 30
        if "sertraline 27 mg" in text:
            return ""
        if "sertraline 28 mg" in text:
            return "Die Patientin hat eine Penicillinallergie und nimmt täglich Sertralin 28 mg."
        if "sertraline 29 mg" in text and turn == 2 and not summary:
            return "<think>Let me consider this once more. Is it tomorrow? Let me consider"
        return "She has a penicillin allergy and takes sertraline 29 mg."
    return chat
"""


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    return lay_out(pytester, monkeypatch)


def test_loops_silence_and_another_language_are_scored_and_a_lost_thought_is_not(project: pytest.Pytester) -> None:
    """The first three fail or stay open as what they are; who never left its thoughts at turn 2 is INCOMPLETE there."""
    project.path.joinpath("weak.py").write_text(SCRIPT, encoding="utf-8")
    result = project.runpytest("--drift-model", "python:weak:make", "--drift-cases", "cases.json")
    cases: dict[str, Any] = {case["case_id"]: case for case in results(project)["cases"]}
    verdicts = {name: case["verdict"] for name, case in cases.items()}
    assert list(verdicts.values()) == ["FAIL", "FAIL", "UNSETTLED", "INCOMPLETE"]
    looped, lost = (cases[name]["repeats"][0] for name in ("case-001", "case-004"))
    assert looped["notes"] == ["repetition was cut from the history after turn 1, 2, 3"]
    assert lost["incomplete"].startswith("turn 2, reply: the reply ended inside its reasoning")
    assert "max_tokens=NUMBER" in lost["incomplete"]
    result.stdout.fnmatch_lines(["*INCOMPLETE: turn 2, reply: the reply ended inside*"])
    # what looped was shortened in the history, and stands in the transcript as it was said
    (file,) = project.path.glob("results/*/transcripts/case-001.jsonl")
    first = json.loads(file.read_text(encoding="utf-8").splitlines()[0])
    assert first["response_text"].count("glass of water") == 30


def test_a_server_whose_every_answer_is_empty_is_told_in_the_verdict_line(project: pytest.Pytester) -> None:
    """An empty answer is the model's answer and fails; whoever reads the first words is sent to the server."""

    def mute(body: dict[str, Any]) -> Answer:
        return as_json(completion("ready" if "the word ready" in body["messages"][0]["content"] else ""))

    with ChatServer(answer=mute) as server:
        result = project.runpytest(*arguments(server))
    found = results(project)
    texts = sum(run["replies_total"] for case in found["cases"] for run in case["repeats"])
    assert (result.ret, found["verdict"]) == (1, "FAIL")
    assert texts > 0
    first = f"FAIL ({texts} of {texts} replies and summaries are empty or refused: check the server, its filters and"
    assert first in " ".join(result.stdout.str().split())
    assert found["headline"].startswith(first)


@pytest.mark.slow
def test_a_context_that_overflows_at_turn_14_is_incomplete_and_names_the_turn(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sixteen turns; the server refuses from the fourteenth on: exit code 6, the turn, what to do, and no FAIL."""
    project = lay_out(pytester, monkeypatch, make_cases(1, 16))

    def short(body: dict[str, Any]) -> Answer:
        if sum(message["role"] == "user" for message in body["messages"]) > 14:
            cause = "the request exceeds the available context size, try increasing it"
            return as_json({"error": {"code": 400, "message": cause, "type": "exceed_context_size_error"}}, 400)
        return as_json(completion("Penicillin allergy, sertraline 26 mg."))

    with ChatServer(answer=short) as server:
        result = project.runpytest(*arguments(server))
    assert result.ret == 6
    (case,) = results(project)["cases"]
    assert case["verdict"] == "INCOMPLETE"
    # the summary of turn 14 is the fifteenth message of a user
    cause = "turn 14, summary: context length exceeded"
    assert case["repeats"][0]["incomplete"].startswith(cause)
    assert case["repeats"][0]["incomplete"].endswith("a longer context")
    result.stdout.fnmatch_lines([f"*INCOMPLETE: {cause}*"])
