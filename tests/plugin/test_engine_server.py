"""Whole pytest runs against a small server: store, resume, faults, workers, progress, exit codes."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sqlite3
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from engine_cases import make_cases
from engine_server import ChatServer, as_json, wait_until

ROOT = Path(__file__).parents[2]


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A project with four short cases of its own; pytest is told where the package is."""
    cases = [case.model_dump(mode="json", exclude_none=True) for case in make_cases(4)]
    pytester.path.joinpath("cases.json").write_text(json.dumps(cases))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.delenv("CI", raising=False)
    return pytester


def arguments(server: ChatServer, *more: str) -> list[str]:
    return ["--drift-model", f"server:m@{server.url}", "--drift-cases", "cases.json", *more]


def results(project: pytest.Pytester, folder: str = "results") -> dict[str, Any]:
    (file,) = project.path.glob(f"{folder}/*/study_c_results.json")
    found: dict[str, Any] = json.loads(file.read_text())
    return found


def without_reuse(record: dict[str, Any]) -> dict[str, Any]:
    """What must be equal between two runs on the same replies: all but who gave them, when and from where."""
    plain = json.loads(json.dumps(record))
    plain.pop("manifest")
    for case in plain["cases"]:
        for repeat in case["repeats"]:
            repeat.pop("replies_reused", None)
    return plain


def transcripts(project: pytest.Pytester, folder: str = "results") -> dict[str, str]:
    return {file.name: file.read_text() for file in project.path.glob(f"{folder}/*/transcripts/*.jsonl")}


def stored(store: Path) -> int:
    """How many replies the store holds."""
    if not store.exists():
        return 0
    with contextlib.closing(sqlite3.connect(store)) as connection, contextlib.suppress(sqlite3.Error):
        return int(connection.execute("SELECT COUNT(*) FROM replies").fetchone()[0])
    return 0


def test_a_run_leaves_results_transcripts_and_a_store(project: pytest.Pytester) -> None:
    """One request per reply and summary; the transcripts hold them all."""
    with ChatServer() as server:
        result = project.runpytest_subprocess(*arguments(server))
        assert result.ret in (0, 1)
        assert len(server.requests) == 4 * 3 * 2
    found = transcripts(project)
    assert sorted(found) == [f"case-{n:03d}.jsonl" for n in range(1, 5)]
    assert all(len(text.splitlines()) == 6 for text in found.values())
    assert results(project)["manifest"]["replies_reused"] == 0
    assert (project.path / ".clinical-drift" / "store.sqlite").exists()


def test_faults_change_neither_verdict_nor_transcripts(project: pytest.Pytester) -> None:
    """30 % of the requests fail in six ways; the run ends as without faults."""
    with ChatServer() as calm:
        first = project.runpytest_subprocess(*arguments(calm, "--drift-results", "calm", "--drift-store", "a.sqlite"))
    with ChatServer(fault_rate=0.3, seed=11) as server:
        more = ("--drift-results", "faulty", "--drift-store", "b.sqlite", "--drift-set", "timeout=1")
        second = project.runpytest_subprocess(*arguments(server, *more))
        assert len(server.answered) == len(set(server.answered)) == 24
    assert second.ret == first.ret
    assert transcripts(project, "faulty") == transcripts(project, "calm")
    assert without_reuse(results(project, "faulty")) == without_reuse(results(project, "calm"))


def test_a_replay_of_the_transcripts_gives_the_same_results(project: pytest.Pytester) -> None:
    """Offline, byte for byte, but for the manifest, which names another subject."""
    with ChatServer() as server:
        first = project.runpytest_subprocess(*arguments(server))
    (folder,) = project.path.glob("results/*/transcripts")
    again = arguments(server, "--drift-results", "again")
    again[again.index("--drift-model") + 1] = f"replay:{folder}"
    second = project.runpytest_subprocess(*again)
    assert second.ret == first.ret
    assert without_reuse(results(project, "again")) == without_reuse(results(project))
    assert transcripts(project, "again") == transcripts(project)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no kill -9")
def test_a_killed_run_goes_on_where_it_was(project: pytest.Pytester) -> None:
    """The second run asks for what was missing, says what it reused, and ends like an undisturbed one."""
    store = project.path / ".clinical-drift" / "store.sqlite"
    with ChatServer(delay=0.2) as server:
        process = project.popen([sys.executable, "-m", "pytest", *arguments(server)])
        assert wait_until(lambda: stored(store) >= 8, 60)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        time.sleep(0.3)
        kept, before = stored(store), len(server.requests)
        assert 8 <= kept < 24
        result = project.runpytest_subprocess(*arguments(server))
        assert len(server.requests) - before == 24 - kept
        result.stdout.re_match_lines([rf".*{kept} replies were reused.*"])
    with ChatServer() as calm:
        project.runpytest_subprocess(*arguments(calm, "--drift-results", "calm", "--drift-store", "c.sqlite"))
    assert results(project)["manifest"]["replies_reused"] == kept
    assert transcripts(project) == transcripts(project, "calm")
    assert without_reuse(results(project)) == without_reuse(results(project, "calm"))


def test_an_outage_is_incomplete_and_not_a_failure(project: pytest.Pytester) -> None:
    """Exit code 6 where nothing failed; the cause is shown for each case."""
    with ChatServer() as server:
        server.answer = lambda body: None if len(body["messages"]) == 1 and "ready" in str(body) else as_json({}, 400)
        result = project.runpytest_subprocess(*arguments(server))
    assert result.ret == 6
    result.assert_outcomes(errors=5)  # four cases and the set
    result.stdout.fnmatch_lines(["*the server answered 400*"])


@pytest.mark.parametrize(("status", "words"), [(401, "refuses access"), (404, "does not know")])
def test_a_refusal_at_the_start_is_one_sentence(project: pytest.Pytester, status: int, words: str) -> None:
    """Exit code 4 and no test."""
    with ChatServer() as server:
        server.answer = lambda _: as_json({"error": "no"}, status)
        result = project.runpytest_subprocess(*arguments(server))
    assert result.ret == 4
    assert words in "".join(result.errlines)
    assert "Traceback" not in "".join(result.errlines)


def test_workers_share_one_conversation(project: pytest.Pytester) -> None:
    """With -n, one process generates: every reply is asked for once."""
    pytest.importorskip("xdist")
    with ChatServer() as server:
        result = project.runpytest_subprocess(*arguments(server, "-n", "2"))
        assert result.ret in (0, 1)
        assert len(server.requests) == len(set(server.requests)) == 24
    assert len(transcripts(project)) == 4


def test_the_first_failure_stops_the_rest(project: pytest.Pytester) -> None:
    """With -x the other conversations are given up at once, though their requests hang."""
    with ChatServer() as server:

        def slow_after_the_first(body: dict[str, Any]) -> None:
            server.delay = 0.0 if "patient 1:" in str(body) or "ready" in str(body) else 60.0

        server.answer = slow_after_the_first
        started = time.monotonic()
        result = project.runpytest_subprocess(*arguments(server, "-x"), timeout=50)
    assert time.monotonic() - started < 180
    assert result.ret == 1
    result.assert_outcomes(failed=1, skipped=1)  # the first case; the set is partial


def test_a_local_model_with_workers_is_one_usage_error(project: pytest.Pytester) -> None:
    """Several copies of the weights are never what was meant."""
    pytest.importorskip("xdist")
    with ChatServer() as server:
        given = arguments(server, "-n", "2")
    given[given.index("--drift-model") + 1] = "hf:some/model"
    result = project.runpytest_subprocess(*given)
    assert result.ret == 4
    assert "run it without -n" in "".join(result.errlines)


@pytest.mark.skipif(sys.platform == "win32", reason="signals differ")
def test_ctrl_c_stops_promptly_and_the_next_run_goes_on(project: pytest.Pytester) -> None:
    """Requests in flight hang for a minute; the run ends at once and keeps what it had."""
    with ChatServer() as server:

        def hang_at_turn_two(body: dict[str, Any]) -> None:
            server.delay = 60.0 if len(body["messages"]) > 1 else 0.0

        server.answer = hang_at_turn_two
        process = project.popen([sys.executable, "-m", "pytest", *arguments(server)])
        assert wait_until(lambda: len(server.requests) >= 12, 60)
        started = time.monotonic()
        os.kill(process.pid, signal.SIGINT)
        assert process.wait(30) == 2
        assert time.monotonic() - started < 100
        server.answer = None
        server.delay = 0.0
        before = len(server.requests)
        project.runpytest_subprocess(*arguments(server))
        assert len(server.requests) - before == 20


def test_a_log_gets_plain_lines_while_a_test_waits(project: pytest.Pytester) -> None:
    """Cases, replies, speed and time left; nothing with -q; each test tells its own generation time."""
    with ChatServer(delay=0.5) as server:
        loud = project.runpytest_subprocess(*arguments(server, "--durations=0", "-vv"))
        quiet = project.runpytest_subprocess(*arguments(server, "-q"))
    loud.stdout.re_match_lines([r"clinical-drift: \d/4 cases, \d+/12 turns, \d+/24 replies.*"])
    loud.stdout.re_match_lines([r"3\.\d\ds setup +study_c/case-001.*"])  # six requests of half a second
    quiet.stdout.no_re_match_line(r"clinical-drift: \d/4 cases.*")
