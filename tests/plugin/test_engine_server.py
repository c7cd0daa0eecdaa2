"""Whole pytest runs against a small server: store, resume, faults, workers, outages, exit codes."""

from __future__ import annotations

import os
import random
import signal
import sys
import time

import pytest
from engine_cases import make_cases
from engine_runs import arguments, lay_out, marks_in, results, start_pytest, transcripts, without_reuse
from engine_server import FAULTS, ChatServer, as_json, wait_until


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    return lay_out(pytester, monkeypatch)


def test_a_run_leaves_results_transcripts_and_a_store(project: pytest.Pytester) -> None:
    """One request per reply and summary; the transcripts hold them all; the manifest names the server's flags."""
    with ChatServer(
        tells={"/version": {"version": "9.9"}, "/server_info?config_format=json": {"tp_size": 4}}
    ) as server:
        result = project.runpytest(*arguments(server, "--drift-prices", "1000,0"))
        assert result.ret in (0, 1)
        assert len(server.requests) == 4 * 3 * 2
    # the server counts 7 prompt tokens for each request; a thousand of them cost 1
    result.stdout.fnmatch_lines(["  tokens of the model: 168 prompt, * completion, cost 0.17 *"])
    found = transcripts(project)
    assert sorted(found) == [f"case-{n:03d}.jsonl" for n in range(1, 5)]
    assert all(len(text.splitlines()) == 6 for text in found.values())
    manifest = results(project)["manifest"]
    assert manifest["replies_reused"] == 0
    assert manifest["tokens"]["cost"] == 0.168
    assert manifest["server"] == {"version": "9.9", "tp_size": 4}
    assert (project.path / ".clinical-drift" / "store.sqlite").exists()


@pytest.mark.slow
def test_faults_change_neither_verdict_nor_transcripts(project: pytest.Pytester) -> None:
    """A third of the requests fails, in all six ways, the first one too; the run ends as without faults."""
    with ChatServer() as calm:
        first = project.runpytest(*arguments(calm, "--drift-results", "calm", "--drift-store", "a.sqlite"))
    with ChatServer(fault_rate=0.3, seed=28) as server:
        more = ("--drift-results", "faulty", "--drift-store", "b.sqlite", "--drift-set", "timeout=4")
        second = project.runpytest(*arguments(server, *more))
        assert set(server.faults) == set(FAULTS)
        assert len(server.answered) == len(set(server.answered)) == 24
    assert second.ret == first.ret
    assert transcripts(project, "faulty") == transcripts(project, "calm")
    assert without_reuse(results(project, "faulty")) == without_reuse(results(project, "calm"))


@pytest.mark.slow
def test_a_replay_of_the_transcripts_gives_the_same_results(project: pytest.Pytester) -> None:
    """Offline, byte for byte, but for the manifest, which names another subject."""
    with ChatServer() as server:
        first = project.runpytest(*arguments(server))
    (folder,) = project.path.glob("results/*/transcripts")
    again = arguments(server, "--drift-results", "again")
    again[again.index("--drift-model") + 1] = f"replay:{folder}"
    second = project.runpytest(*again)
    assert second.ret == first.ret
    assert without_reuse(results(project, "again")) == without_reuse(results(project))
    assert transcripts(project, "again") == transcripts(project)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there is no kill -9")
def test_a_run_killed_ten_times_asks_for_no_finished_reply_again(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """kill -9 at random moments: what the store had then is never requested again; the end equals a calm run."""
    project, chance = lay_out(pytester, monkeypatch, make_cases(10, 10)), random.Random(3)
    store = project.path / ".clinical-drift" / "store.sqlite"
    kept: set[str] = set()
    with ChatServer(delay=0.06) as server:
        given = arguments(server, "--drift-set", "concurrency=8")  # too few for the run to end between two kills
        for _ in range(10):
            before = len(server.requests)
            process = start_pytest(project, given)
            assert wait_until(lambda before=before: len(server.requests) > before, 60)
            time.sleep(chance.uniform(0, 0.15))
            os.kill(process.pid, signal.SIGKILL)
            process.communicate()
            time.sleep(0.05)  # requests that were on their way arrive
            assert not kept & {mark[:12] for mark in server.requests[before:]}
            kept = marks_in(store)
        before = len(server.requests)
        assert 10 < len(kept) < 200, "the kills did not fall into the run"
        result = project.runpytest(*given)
        assert not kept & {mark[:12] for mark in server.requests[before:]}
        assert len(server.requests) - before == 200 - len(kept)
        result.stdout.fnmatch_lines([f"  {len(kept)} of 200 replies were stored by this run before it was interrupted"])
        manifest = results(project)["manifest"]
        assert (manifest["replies_resumed"], manifest["replies_reused"]) == (len(kept), 0)
    with ChatServer() as calm:
        other = ("--drift-results", "calm", "--drift-store", "c.sqlite")
        undisturbed = project.runpytest(*arguments(calm, *other))
    assert result.ret == undisturbed.ret
    assert transcripts(project) == transcripts(project, "calm")
    assert without_reuse(results(project)) == without_reuse(results(project, "calm"))


@pytest.mark.slow
def test_cases_that_begin_alike_share_their_first_replies(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reply and summary of the first turn are asked once and count as new; reused ones count once per case."""
    first, other = make_cases(2, 2)
    messages = (first.turns[0], *other.turns[1:])
    same = {"patient_summary": first.patient_summary, "critical_entities": first.critical_entities}
    twin = other.model_copy(update={**same, "turns": messages})
    project = lay_out(pytester, monkeypatch, [first, twin])
    with ChatServer(delay=0.05) as server:
        for folder, asked, reused in (("new", 8 - 2, 0), ("again", 0, 8)):
            before = len(server.requests)
            more = ("--drift-set", f"revision={'a' * 40}", "--drift-results", folder)
            project.runpytest(*arguments(server, *more))
            assert len(server.requests) - before == asked
            assert results(project, folder)["manifest"]["replies_reused"] == reused
    assert transcripts(project, "again") == transcripts(project, "new")


def test_an_outage_is_incomplete_and_not_a_failure(project: pytest.Pytester) -> None:
    """Exit code 6 where nothing failed; the cause is shown for each case."""
    with ChatServer() as server:
        server.answer = lambda body: None if len(body["messages"]) == 1 and "ready" in str(body) else as_json({}, 400)
        result = project.runpytest(*arguments(server))
    assert result.ret == 6
    result.assert_outcomes(errors=5)  # four cases and the set
    result.stdout.fnmatch_lines(["*the server answered 400*"])


@pytest.mark.slow
def test_a_server_that_goes_down_for_good_leaves_every_case_incomplete(project: pytest.Pytester) -> None:
    """Within the deadline, each with its cause; the next run goes on where this one was."""
    with ChatServer(delay=0.3) as server:
        given = arguments(server, "--drift-set", "deadline=2", "--drift-set", "retries=1000")
        process = start_pytest(project, given)
        assert wait_until(lambda: len(server.answered) >= 4, 60)
        server.close()
        output = process.communicate(timeout=120)[0]
        assert process.returncode == 6
    for number in range(1, 5):
        assert f"ERROR study_c/case-00{number}::server-m - " in output
    assert "no server answers at" in output
    kept = marks_in(project.path / ".clinical-drift" / "store.sqlite")
    with ChatServer(port=server.port) as again:
        assert project.runpytest(*given).ret == 1
        assert len(again.requests) == 24 - len(kept) < 24


@pytest.mark.parametrize(("status", "words"), [(401, "refuses access"), (404, "does not know")])
def test_a_refusal_at_the_start_is_one_sentence(project: pytest.Pytester, status: int, words: str) -> None:
    """Exit code 4 and no test."""
    with ChatServer() as server:
        server.answer = lambda _: as_json({"error": "no"}, status)
        result = project.runpytest(*arguments(server))
    assert result.ret == 4
    assert words in "".join(result.errlines)
    assert "Traceback" not in "".join(result.errlines)


@pytest.mark.slow
def test_a_silent_server_at_the_start_is_one_sentence(project: pytest.Pytester) -> None:
    """Exit code 4 after bounded attempts."""
    with ChatServer(delay=60) as server:
        result = project.runpytest(*arguments(server, "--drift-set", "timeout=1"))
    assert result.ret == 4
    assert "no answer within 1 s" in "".join(result.errlines)
    assert "Traceback" not in "".join(result.errlines)


@pytest.mark.slow
def test_an_outage_at_the_start_is_left_to_the_cases(project: pytest.Pytester) -> None:
    """A server that answers 500 to everything is there: INCOMPLETE with exit code 6, and a remark before."""
    with ChatServer() as server:
        server.answer = lambda _: as_json({"error": "broken"}, 500)
        result = project.runpytest(*arguments(server, "--drift-set", "deadline=1"))
    assert result.ret == 6
    result.assert_outcomes(errors=5)
    result.stdout.fnmatch_lines(["clinical-drift: * returns errors (the server answered 500: broken); cases *"])


@pytest.mark.slow
def test_workers_share_one_conversation(project: pytest.Pytester) -> None:
    """With -n, one process generates: every reply is asked for once."""
    pytest.importorskip("xdist")
    with ChatServer() as server:
        result = project.runpytest(*arguments(server, "-n", "2"))
        assert result.ret in (0, 1)
        assert len(server.requests) == len(set(server.requests)) == 24
    assert len(transcripts(project)) == 4
