"""Whole pytest runs against a small server: the project, the command line, and what a run leaves behind."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from engine_cases import make_cases
from engine_server import ChatServer

from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.subjects.base import BatchedSubject, ConcurrentSubject, Request
from pytest_clinical_drift.transcript import Reply

ROOT = Path(__file__).parents[1]


def lay_out(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, cases: Sequence[Case] | None = None
) -> pytest.Pytester:
    """A project with a few short cases of its own; pytest is told where the package is."""
    chosen = [case.model_dump(mode="json", exclude_none=True) for case in cases or make_cases(4)]
    pytester.path.joinpath("cases.json").write_text(json.dumps(chosen))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.delenv("CI", raising=False)
    return pytester


def arguments(server: ChatServer, *more: str) -> list[str]:
    return ["--drift-model", f"server:m@{server.url}", "--drift-cases", "cases.json", *more]


def start_pytest(project: pytest.Pytester, given: Sequence[str]) -> subprocess.Popen[str]:
    """A run that goes on while the test does something to it; everything it writes is one stream."""
    command = [sys.executable, "-m", "pytest", *given]
    return subprocess.Popen(
        command,
        cwd=project.path,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def results(project: pytest.Pytester | Path, folder: str = "results") -> dict[str, Any]:
    """The results file of the only model."""
    place = project if isinstance(project, Path) else project.path
    (file,) = place.glob(f"{folder}/*/study_c_results.json")
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return found


def without_reuse(record: dict[str, Any]) -> dict[str, Any]:
    """What must be equal between two runs on the same replies: all but who gave them, when and from where."""
    plain: dict[str, Any] = json.loads(json.dumps(record))
    plain.pop("manifest")
    for case in plain["cases"]:
        for repeat in case["repeats"]:
            repeat.pop("replies_reused", None)
    return plain


def transcripts(project: pytest.Pytester, folder: str = "results") -> dict[str, str]:
    return {file.name: file.read_text() for file in project.path.glob(f"{folder}/*/transcripts/*.jsonl")}


def marks_in(store: Path) -> set[str]:
    """Which conversations the stored replies answer; our server's replies name them."""
    if not store.exists():
        return set()
    with contextlib.closing(sqlite3.connect(store)) as connection, contextlib.suppress(sqlite3.Error):
        rows = connection.execute("SELECT reply FROM replies").fetchall()
        return {json.loads(row[0])["text"].split()[1].rstrip(".") for row in rows}
    return set()


def answers(subject: BatchedSubject | ConcurrentSubject, requests: Sequence[Request]) -> list[Reply]:
    """Replies of a subject, in the order of the requests, without any conversation around them."""
    if isinstance(subject, ConcurrentSubject):

        async def all_of_them() -> list[Reply]:
            try:
                return list(await asyncio.gather(*(subject.ask(request) for request in requests)))
            finally:
                await subject.disconnect()

        return asyncio.run(all_of_them())
    replies: dict[Request, Reply] = {}
    subject.answer(requests, lambda request, reply: replies.update({request: reply}) or ())  # type: ignore[func-returns-value]
    return [replies[request] for request in requests]
