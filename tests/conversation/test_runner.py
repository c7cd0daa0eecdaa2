"""The background runner: faults, outages, kills, interrupts; whatever happens, no reply is lost or asked for twice."""

from __future__ import annotations

import json
import sqlite3
import time
from collections import Counter
from pathlib import Path

import pytest
from engine_cases import make_cases
from engine_server import FAULTS, ChatServer, as_json, wait_until

from pytest_clinical_drift.conversation.progress import Progress
from pytest_clinical_drift.conversation.runner import BackgroundRunner
from pytest_clinical_drift.conversation.scheduler import Plan
from pytest_clinical_drift.errors import SubjectError
from pytest_clinical_drift.subjects.base import RunStopped
from pytest_clinical_drift.subjects.replay import ReplaySubject
from pytest_clinical_drift.subjects.server import ServerSubject
from pytest_clinical_drift.transcript import Transcript


def start(
    server: ChatServer, count: int = 4, turns: int = 3, folder: Path | None = None, **settings: object
) -> BackgroundRunner:
    subject = ServerSubject(f"m@{server.url}", {key: str(value) for key, value in settings.items()})
    runner = BackgroundRunner(
        subject,
        Plan(),
        store=folder / "store.sqlite" if folder else None,
        transcripts=folder / "transcripts" if folder else None,
    )
    runner.cases = make_cases(count, turns)
    return runner


def all_of(runner: BackgroundRunner, count: int = 4) -> list[Transcript]:
    transcripts = [runner.wait(case.id, 0) for case in make_cases(count)]
    runner.stop()
    return transcripts


def said(transcripts: list[Transcript]) -> list[list[tuple[str | None, str]]]:
    return [[(e.reply.text if e.reply else None, e.summary.text) for e in t.exchanges] for t in transcripts]


def files(folder: Path) -> dict[str, str]:
    return {file.name: file.read_text() for file in sorted((folder / "transcripts").iterdir())}


def test_faults_on_a_third_of_all_requests_change_nothing(tmp_path: Path) -> None:
    """429, 500, hanging, resets, truncated and garbled answers: same transcripts, nothing lost or counted twice."""
    with ChatServer() as calm:
        expected = all_of(start(calm, 6, 5, tmp_path / "calm"), 6)
    with ChatServer(fault_rate=0.3, seed=7) as server:
        runner = start(server, 6, 5, tmp_path / "faulty", timeout=0.5)
        transcripts = all_of(runner, 6)
    assert said(transcripts) == said(expected)
    assert [t.failure for t in transcripts] == [None] * 6
    assert files(tmp_path / "faulty") == files(tmp_path / "calm")
    assert max(Counter(server.answered).values()) == 1
    assert len(server.answered) == 6 * 5 * 2
    assert len(server.requests) > len(server.answered) + 10
    assert set(server.faults) == set(FAULTS)


def test_a_server_that_goes_down_for_good_ends_every_case_within_the_deadline() -> None:
    """Each case is INCOMPLETE with its cause."""
    server = ChatServer(delay=0.05)
    with server:
        runner = start(server, deadline=1.5, retries=1000)
        runner.start()
        assert wait_until(lambda: len(server.answered) >= 6)
    started = time.monotonic()
    transcripts = all_of(runner)
    assert time.monotonic() - started < 40
    assert all(t.failure for t in transcripts), [t.failure for t in transcripts]


def test_stored_replies_are_used_after_an_interrupt(tmp_path: Path) -> None:
    """Ctrl-C leaves the run unfinished: the next one asks only for the rest and tells what it reused."""
    with ChatServer(delay=0.05) as server:
        first = start(server, folder=tmp_path)
        first.start()
        assert wait_until(lambda: len(server.answered) >= 10)
        first.stop(interrupted=True)
        kept, before = marks_in(tmp_path / "store.sqlite"), len(server.requests)
        assert 0 < len(kept) < 24
        transcripts = all_of(start(server, folder=tmp_path))
        assert not kept & {mark[:12] for mark in server.requests[before:]}
        assert len(server.requests) - before == 24 - len(kept)
    replies = [reply for t in transcripts for e in t.exchanges for reply in (e.reply, e.summary) if reply]
    assert sum(reply.reused_from is not None for reply in replies) == len(kept)
    assert sum(reply.resumed for reply in replies) == len(kept)


def test_a_finished_run_is_not_reused_without_a_proven_identity(tmp_path: Path) -> None:
    """A verdict on tomorrow's model needs tomorrow's replies; with a named revision it does not."""
    with ChatServer() as server:
        all_of(start(server, folder=tmp_path))
        all_of(start(server, folder=tmp_path))
        assert len(server.answered) == 48
        all_of(start(server, folder=tmp_path, revision="a" * 40))
        all_of(start(server, folder=tmp_path, revision="a" * 40))
        assert len(server.answered) == 72


def test_a_run_stopped_by_a_failing_test_is_over(tmp_path: Path) -> None:
    """-x gave its verdict: the model may be replaced before the next run."""
    with ChatServer(delay=0.05) as server:
        first = start(server, folder=tmp_path)
        first.start()
        assert wait_until(lambda: len(server.answered) >= 6)
        first.stop()
        before = len(server.requests)
        all_of(start(server, folder=tmp_path))
        assert len(server.requests) - before == 24


def test_an_outage_leaves_the_run_unfinished(tmp_path: Path) -> None:
    """What was answered before the outage is not asked for again."""
    with ChatServer() as server:
        server.answer = lambda body: as_json({}, 400) if "patient 2" in str(body) else None
        transcripts = all_of(start(server, folder=tmp_path))
        assert [bool(t.failure) for t in transcripts] == [False, True, False, False]
        server.answer = None
        before = len(server.requests)
        assert [t.failure for t in all_of(start(server, folder=tmp_path))] == [None] * 4
        assert len(server.requests) - before == 6


def test_transcripts_on_disk_replay_to_the_same_conversation(tmp_path: Path) -> None:
    """`replay:` of the written transcripts says the same and writes the same files; an error is a recorded one."""
    with ChatServer() as server:
        server.answer = lambda body: as_json({}, 400) if "Question 2 of patient 3" in str(body) else None
        expected = all_of(start(server, folder=tmp_path))
    subject = ReplaySubject(str(tmp_path / "transcripts"), {})
    runner = BackgroundRunner(subject, Plan(), transcripts=tmp_path / "again" / "transcripts")
    runner.cases = make_cases(4)
    subject.check(make_cases(4))
    again = all_of(runner)
    assert said(again) == said(expected)
    assert [str(t.failure) for t in again] == [str(t.failure) for t in expected]
    first = {name: text.replace('"refused"', '"recorded"') for name, text in files(tmp_path).items()}
    assert files(tmp_path / "again") == first


def test_whatever_ends_the_thread_reaches_those_who_wait() -> None:
    """An unexpected exception is told as the reason."""

    class Broken(ServerSubject):
        async def ask(self, request: object) -> None:  # type: ignore[override]
            raise ZeroDivisionError("division by zero")

    runner = BackgroundRunner(Broken("m@http://127.0.0.1:9/v1", {}), Plan())
    runner.cases = make_cases(2)
    with pytest.raises(SubjectError, match="ZeroDivisionError: division by zero"):
        runner.wait("case-001", 0)


def test_a_conversation_that_never_ran_is_an_outage_unless_it_was_stopped() -> None:
    """Whoever waits for a case that was not selected must not take it for one that nobody wants any more."""
    with ChatServer() as server:
        runner = start(server, 1)
        runner.wait("case-001", 0)
        with pytest.raises(SubjectError) as outage:
            runner.wait("case-002", 0)
        runner.stop()
        with pytest.raises(RunStopped):
            runner.wait("case-002", 0)
    assert not isinstance(outage.value, RunStopped)


def test_those_who_wait_hear_of_a_stop() -> None:
    """Given up: nobody waits for ever, and what is there is still had."""
    with ChatServer() as server:
        server.answer = lambda body: setattr(server, "delay", 60.0 if "patient 2" in str(body) else 0.0)
        runner = BackgroundRunner(ServerSubject(f"m@{server.url}", {}), Plan())
        runner.cases = make_cases(2)
        finished = runner.wait("case-001", 0)
        runner.give_up()
        with pytest.raises(RunStopped, match="stopped before its end"):
            runner.wait("case-002", 0)
        assert runner.wait("case-001", 0) == finished
        runner.stop()


def test_progress_is_drawn_while_somebody_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """A log gets its lines."""
    monkeypatch.setattr("pytest_clinical_drift.conversation.progress._PATIENCE", 0.0)
    monkeypatch.setattr("pytest_clinical_drift.conversation.progress._LINE_EVERY", 0.0)
    written: list[str] = []
    with ChatServer(delay=0.2) as server:
        progress = Progress(written.append, live=False)
        runner = BackgroundRunner(ServerSubject(f"m@{server.url}", {}), Plan(), progress=progress)
        runner.cases = make_cases(1)
        runner.wait("case-001", 0)
        runner.stop()
    assert any(line.startswith("clinical-drift: 0/1 cases, 1/3 turns, ") for line in written), written


def test_transcripts_of_an_earlier_run_do_not_stand_beside_those_of_this_one(tmp_path: Path) -> None:
    """Stopped half way or a subset: a replay of the folder must not mix two runs."""
    with ChatServer() as server:
        all_of(start(server, 3, 3, tmp_path), 3)
        assert sorted(files(tmp_path)) == ["case-001.jsonl", "case-002.jsonl", "case-003.jsonl"]
        server.answer = lambda body: setattr(server, "delay", 60.0 if "patient 2" in str(body) else 0.0)
        again = start(server, 2, 3, tmp_path)
        again.wait("case-001", 0)
        again.stop(interrupted=True)
    assert sorted(files(tmp_path)) == ["case-001.jsonl"]


def marks_in(store: Path) -> set[str]:
    """Which conversations the stored replies answer; our server's replies name them."""
    if not store.exists():
        return set()
    with sqlite3.connect(store) as connection:
        rows = connection.execute("SELECT reply FROM replies").fetchall()
    return {json.loads(row[0])["text"].split()[1].rstrip(".") for row in rows}
