"""Runs that take minutes, on demand: `pytest tests/reliability/long_runs.py` (it is not collected otherwise)."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from engine_cases import make_cases
from engine_runs import results
from engine_server import ChatServer, wait_until

ROOT = Path(__file__).parents[2]
CONCURRENCY = 8


@pytest.fixture
def project(tmp_path: Path) -> Path:
    chosen = [case.model_dump(mode="json", exclude_none=True) for case in make_cases(20, 6)]
    (tmp_path / "cases.json").write_text(json.dumps(chosen), encoding="utf-8")
    return tmp_path


def start(project: Path, server: ChatServer, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--drift-cases", "cases.json"]
    return subprocess.Popen(
        [*command, "--model", f"server:m@{server.url}", *arguments],
        cwd=project,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def ended(process: subprocess.Popen[str]) -> str:
    return process.communicate(timeout=900)[0]


def integrity(project: Path) -> str:
    with closing(sqlite3.connect(project / ".clinical-drift" / "store.sqlite")) as store:
        return str(store.execute("PRAGMA integrity_check").fetchone()[0])


def test_four_workers_share_one_store_under_faults(project: Path) -> None:
    """20 cases × 6 turns × 2 replies; the server fails in every tenth answer; each reply is had exactly once."""
    pytest.importorskip("xdist")
    with ChatServer(delay=0.02, fault_rate=0.1, seed=3, hang_seconds=1) as server:
        said = ended(process := start(project, server, "-n", "4", "--drift-set", "timeout=5"))
    assert process.returncode == 1, said[-3000:]  # this server remembers nothing
    assert len(server.answered) == len(set(server.answered)) == 240
    assert server.faults
    assert integrity(project) == "ok"
    assert results(project)["cases_complete"] == 20


def test_two_runs_at_once_on_one_store(project: Path) -> None:
    """Both end as they would alone, with the same results; the store stays sound."""
    with ChatServer(delay=0.05) as server:
        first = start(project, server, "--drift-results", "one")
        second = start(project, server, "--drift-results", "two")
        texts = [ended(first), ended(second)]
    assert [first.returncode, second.returncode] == [1, 1], texts
    assert not any("Traceback" in text or "INTERNALERROR" in text for text in texts)
    assert integrity(project) == "ok"
    one, two = results(project, "one"), results(project, "two")
    for key in ("verdict", "entity_recall_at_t10", "knowledge_conflict_rate", "cases_complete"):
        assert one[key] == two[key]


def unfinished(project: Path) -> int:
    with closing(sqlite3.connect(project / ".clinical-drift" / "store.sqlite")) as store:
        return int(store.execute("SELECT count(*) FROM runs WHERE finished IS NULL").fetchone()[0])


def test_ctrl_c_at_any_moment(project: Path) -> None:
    """Ten runs are stopped at random moments: the store is sound each time, and the next run asks for the rest only."""
    chance, limited = random.Random(5), ("--drift-set", f"concurrency={CONCURRENCY}")
    with ChatServer(delay=0.05) as server:
        begun = stopped = 0
        for _ in range(10):
            before = len(server.headers)
            process = start(project, server, *limited)
            wait_until(lambda: len(server.headers) > before or process.poll() is not None, 120)  # noqa: B023
            time.sleep(chance.uniform(0, 2))
            if process.poll() is None:
                os.kill(process.pid, signal.SIGINT)
            said = ended(process)
            assert process.returncode in (1, 2), said[-2000:]
            assert "INTERNALERROR" not in said
            assert "Traceback" not in said, said[-3000:]
            assert integrity(project) == "ok"
            for file in project.glob("results/*/study_c_results.json"):
                found = json.loads(file.read_text(encoding="utf-8"))
                assert found["verdict"] == "PARTIAL" or found["cases_complete"] == 20
            given = server.answered[begun:]
            assert len(given) - len(set(given)) <= stopped * CONCURRENCY  # what was in flight when it was stopped
            begun, stopped = (begun, stopped + 1) if unfinished(project) else (len(server.answered), 0)
        said = ended(process := start(project, server, *limited))
        assert process.returncode == 1, said[-2000:]
        assert results(project)["cases_complete"] == 20
        assert len(set(server.answered[begun:])) == 240


def test_a_full_file_system(project: Path) -> None:
    """Results and store on a file system of 512 kB, where one may be mounted."""
    place = project / "small"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(place)], capture_output=True)
    if mounted.returncode:
        pytest.skip("no file system can be mounted here")
    try:
        with ChatServer() as server:
            options = ("--drift-results", "small/results", "--drift-store", "small/store.sqlite")
            said = ended(process := start(project, server, *options))
        assert process.returncode in (1, 4, 6), said[-3000:]
        assert "No space left on device" in said or "disk is full" in said
        assert "Traceback" not in said
        assert "INTERNALERROR" not in said
        with closing(sqlite3.connect(place / "store.sqlite")) as store:
            assert store.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    finally:
        subprocess.run(["umount", str(place)], check=False)
