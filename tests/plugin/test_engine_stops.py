"""A run that is stopped: -x and Ctrl-C end requests in flight at once, with workers too; the store keeps the rest."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from typing import Any

import pytest
from engine_runs import arguments, lay_out, start_pytest
from engine_server import ChatServer, wait_until

HANGING = 600.0
"""Seconds that a request hangs: far more than the patience of any of these tests."""


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    return lay_out(pytester, monkeypatch)


def only_quick_for(server: ChatServer, words: str) -> Callable[[dict[str, Any]], None]:
    def answer(body: dict[str, Any]) -> None:
        server.delay = 0.0 if words in str(body) or "word ready" in str(body) else HANGING

    return answer


@pytest.mark.slow
def test_the_first_failure_stops_the_rest(project: pytest.Pytester) -> None:
    """With -x the other conversations are given up at once, though their requests hang; the run is over."""
    with ChatServer() as server:
        server.answer = only_quick_for(server, "patient 1:")
        result = project.runpytest_subprocess(*arguments(server, "-x"), timeout=120)
        assert result.ret == 1
        result.assert_outcomes(failed=1)  # the first case; the set is partial
        server.answer, server.delay = None, 0.0
        before = len(server.requests)
        project.runpytest(*arguments(server))
        assert len(server.requests) - before == 24


@pytest.mark.slow
def test_the_first_failure_stops_the_workers(project: pytest.Pytester) -> None:
    """A worker that waits for a conversation which was given up does not wait for its end."""
    pytest.importorskip("xdist")
    with ChatServer() as server:
        server.answer = only_quick_for(server, "patient 1:")
        result = project.runpytest_subprocess(*arguments(server, "-x", "-n", "2"), timeout=120)
    assert result.ret == pytest.ExitCode.INTERRUPTED  # so does xdist tell it
    outcomes = result.parseoutcomes()
    assert outcomes["failed"] == 1
    assert "errors" not in outcomes
    assert "error" not in outcomes
    result.stdout.fnmatch_lines(["*PARTIAL (1 of 4)*"])


@pytest.mark.skipif(sys.platform == "win32", reason="signals differ")
def test_ctrl_c_stops_promptly_and_the_next_run_goes_on(project: pytest.Pytester) -> None:
    """Requests in flight hang; the run ends at once, keeps what it had, and asks only for the rest."""
    with ChatServer() as server:

        def hang_at_turn_two(body: dict[str, Any]) -> None:
            server.delay = HANGING if len(body["messages"]) > 1 else 0.0

        server.answer = hang_at_turn_two
        process = start_pytest(project, arguments(server))
        assert wait_until(lambda: len(server.requests) >= 12, 60)
        os.kill(process.pid, signal.SIGINT)
        output = process.communicate(timeout=120)[0]
        assert process.returncode == pytest.ExitCode.INTERRUPTED
        assert "store.sqlite (rerun the same command to resume)" in output
        server.answer, server.delay = None, 0.0
        before = len(server.requests)
        project.runpytest(*arguments(server))
        assert len(server.requests) - before == 20


@pytest.mark.skipif(sys.platform == "win32", reason="signals differ")
def test_ctrl_c_ends_the_wait_for_a_silent_server(project: pytest.Pytester) -> None:
    """Before the first case nothing is lost; no traceback either."""
    with ChatServer(delay=HANGING) as server:
        process = start_pytest(project, arguments(server, "--drift-set", "timeout=500"))
        assert wait_until(lambda: len(server.headers) == 1, 60)
        os.kill(process.pid, signal.SIGINT)
        output = process.communicate(timeout=120)[0]
    assert process.returncode == pytest.ExitCode.INTERRUPTED
    assert "INTERNALERROR" not in output
