"""A judge behind a server that is short of places, or goes down in the middle of a shard."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from engine_server import Answer, ChatServer, as_json
from judge_server import judge_server
from judged_project import load_judge
from sharded import calibrate, merge, record, run_shards
from small_project import RULES_ONLY, Project

SETTINGS = {"deadline": "3", "timeout": "2"}
IMPATIENT = {"deadline": "1", "timeout": "2"}
"""For a server that will not come back."""


def judged_by(server: ChatServer, settings: Mapping[str, str] = SETTINGS) -> list[str]:
    given = [part for key, value in settings.items() for part in ("--drift-judge-set", f"{key}={value}")]
    return [*RULES_ONLY, "--drift-judge", f"server:reader@{server.url}", *given]


def disturbed(server: ChatServer, disturb: Callable[[int], Answer | None]) -> None:
    """Put a disturbance in front of a judge; it gets the number of the request, from 1, without the preflight."""
    answer, seen = server.answer, 0

    def reply(body: dict[str, Any]) -> Answer | None:
        nonlocal seen
        seen += len(body["messages"]) > 1
        return disturb(seen) or (answer(body) if answer else None)

    server.answer = reply


def test_a_server_that_asks_for_patience_loses_nothing(project: Project) -> None:
    """Every third request is refused with 429 and Retry-After: the same verdict, no question unanswered."""
    pytester = project()
    with judge_server(load_judge(pytester.path)) as server:
        slow_down = as_json({"error": "rate"}, 429, {"retry-after": "0.01"})
        disturbed(server, lambda number: slow_down if number % 3 == 1 else None)
        calibrate(pytester.path, f"server:reader@{server.url}", **SETTINGS)
        ended = pytester.runpytest(*judged_by(server))
    assert ended.ret == 0, ended.stdout.str()
    found = record(pytester.path / "results/python-model-make")
    assert found["manifest"]["unanswered"] == 0
    assert found["manifest"]["questions"] > 0


def test_stored_answers_are_no_requests_and_cost_nothing(project: Project) -> None:
    """As the server counts: the first run sends everything, the second one the single answer that left the store."""
    pytester = project()
    with judge_server(load_judge(pytester.path)) as server:
        calibrate(pytester.path, f"server:reader@{server.url}", **SETTINGS)
        records, answered, texts = [], [], []
        for _ in range(2):
            before = len(server.answered)
            ended = pytester.runpytest(*judged_by(server), "--drift-judge-prices", "1000,0")
            texts.append(" ".join(ended.stdout.str().split()))
            answered.append(len(server.answered) - before)
            records.append(record(pytester.path / "results/python-model-make")["manifest"]["judged"])
            with contextlib.closing(sqlite3.connect(pytester.path / ".clinical-drift/store.sqlite")) as rows:
                rows.execute("DELETE FROM answers WHERE key = (SELECT min(key) FROM answers)")
                rows.commit()
    first, again = records
    asked = sum(first["requests"].values())
    assert (first["sent"], first["reused"]) == (asked, 0) == (answered[0], 0)
    assert (again["sent"], again["reused"]) == (1, asked - 1) == (answered[1], asked - 1)
    assert first["sent_tokens"] == first["tokens"] == again["tokens"]
    assert 0 < again["sent_tokens"]["prompt"] < first["tokens"]["prompt"]
    assert again["sent_tokens"]["cost"] == pytest.approx(again["sent_tokens"]["prompt"] / 1000)
    assert f"requests to the judge: {asked} sent; tokens of the judge: " in texts[0]
    assert "from the store" not in texts[0]
    told = f"requests to the judge: 1 sent, {asked - 1} answers from the store; tokens of the judge: "
    assert told + f"{again['sent_tokens']['prompt']:,} prompt" in texts[1]
    assert f"; with the stored answers {again['tokens']['prompt']:,} prompt" in texts[1]


@pytest.mark.parametrize(("required", "code"), [(True, 6), pytest.param(False, 7, marks=pytest.mark.slow)])
def test_a_judge_that_goes_down_in_a_shard(
    project: Project, capsys: pytest.CaptureFixture[str], required: bool, code: int
) -> None:
    """What was not read stays open: UNSETTLED, INCOMPLETE where a judge is required, never a PASS or CAUTION."""
    pytester = project()
    if required:
        text = "clinical_drift:\n  extends: bundled\n  judge: {required: true}\n"
        (pytester.path / "thresholds.yaml").write_text(text, encoding="utf-8")
    with judge_server(load_judge(pytester.path)) as server:
        calibrate(pytester.path, f"server:reader@{server.url}", **IMPATIENT)
        arguments = judged_by(server, IMPATIENT)
        run_shards(pytester, 2, arguments, [1])
        disturbed(server, lambda number: as_json({"error": "down"}, 503) if number > 5 else None)
        ended = pytester.runpytest(*arguments, "--drift-results", "parts", "--drift-shard", "2/2")
    assert ended.ret in (6, 7), ended.stdout.str()
    assert merge(capsys, "parts")[0] == code
    found = record(pytester.path / "merged")
    assert found["verdict"] == ("INCOMPLETE" if required else "UNSETTLED")
    assert found["manifest"]["unanswered"] > 0
    assert found["reasons"][0]["code"] == "judge_outage"
    assert found["deciders"]["outage"]["stopped"]
    assert found["deciders"]["outage"]["asked"] == sum(found["manifest"]["judged"]["requests"].values())


def stops_after(server: ChatServer, answers: int, *, gone: bool) -> None:
    """From some request on: no server at all any more, or HTTP 500."""
    down = as_json({"error": "CUDA error: out of memory"}, 500)
    closing = threading.Thread(target=server.close)

    def disturb(number: int) -> Answer | None:
        if number > answers and gone and not closing.is_alive():
            closing.start()
        return down if number > answers else None

    disturbed(server, disturb)


@pytest.mark.parametrize(
    ("gone", "answers", "error"), [(True, 5, "no server answers at"), (False, 5, "the server answered 500")]
)
def test_a_judge_that_goes_away_is_not_unfit(project: Project, gone: bool, answers: int, error: str) -> None:
    """The verdict line says that it stopped, why, and what it left; the same command goes on once it is back."""
    pytester = project()
    with judge_server(load_judge(pytester.path)) as server:
        calibrate(pytester.path, f"server:reader@{server.url}", **IMPATIENT)
        sound = server.answer
        stops_after(server, answers, gone=gone)
        ended = pytester.runpytest(*judged_by(server, IMPATIENT))
        assert ended.ret == 7, ended.stdout.str()
        found = record(pytester.path / "results/python-model-make")
        _says_that_the_judge_stopped(found, ended.stdout.str(), error)
        page = (pytester.path / "results/python-model-make/report.html").read_text(encoding="utf-8")
        assert "the judge stopped answering: no answer to" in page
        assert error in page
        server.answer = sound
        if gone:
            server.__enter__()
        stored = len(server.answered)
        again = pytester.runpytest(*judged_by(server))
    assert again.ret == 0, again.stdout.str()
    assert stored >= answers
    assert len(set(server.answered)) == len(server.answered), "an answer that was stored was asked for again"
    found = record(pytester.path / "results/python-model-make")
    assert (found["deciders"]["outage"], found["canaries_unanswered"]) == (None, 0)
    assert "stopped answering" not in again.stdout.str()


def _says_that_the_judge_stopped(found: dict[str, Any], output: str, error: str) -> None:
    said = " ".join(output.split())
    outage = found["deciders"]["outage"]
    states = [c["state"] for case in found["cases"] for run in case["repeats"] for c in run["canaries"]]
    assert states
    assert set(states) == {"unanswered"}
    assert (found["verdict"], found["canaries"], found["canaries_unanswered"]) == ("UNSETTLED", [0, 0], len(states))
    assert found["reasons"][0]["code"] == "judge_outage"
    assert 0 < outage["requests"] < outage["asked"] == sum(found["manifest"]["judged"]["requests"].values())
    assert 0 < outage["lost"] <= outage["requests"]
    assert outage["sent"] == found["manifest"]["judged"]["sent"] <= outage["asked"]
    unsent = outage["requests"] - outage["lost"]
    told = f"no answer to {outage['lost']:,} of {outage['sent']:,} requests sent"
    told += f", {unsent:,} not sent any more" if unsent else ""
    assert f"the judge stopped answering: {told}, the last error: {error}" in said
    assert "it stopped answering" in found["headline"]
    assert "next: the same command again once the judge is back" in said
    assert not any(word in said for word in ("not fit", "stronger judge", "no canaries", "given up"))
