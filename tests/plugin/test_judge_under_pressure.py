"""A judge behind a server that is short of places, or goes down in the middle of a shard."""

from __future__ import annotations

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


@pytest.mark.parametrize(("required", "code"), [(False, 7), (True, 6)])
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
