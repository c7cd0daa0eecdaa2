"""A project whose model, or whose own scorer, presses Ctrl-C or meets a full disk; and what such a run leaves."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml
from reviewing import KEPT, THRESHOLDS, case

ROOT = Path(__file__).parents[2]
ARGUMENTS = ("--model", "python:model:make", "--drift-cases", "cases", "-p", "no:cacheprovider")
MODEL = f"""
import os, signal, time
from pathlib import Path


def make():
    def chat(messages):
        with open("asked.txt", "a") as asked:
            asked.write("x")
        if Path("asked.txt").stat().st_size == int(os.environ.get("STOP_AT", "0")):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(5)  # until the main thread has heard of it
        return {KEPT!r} if "handover summary" in messages[-1]["content"] else "Thank you."
    return chat
"""
CONFTEST = """
import os, signal


def pytest_clinical_drift_score(case, transcript):
    if os.environ.get("STOP_SCORING") == case.id:
        os.kill(os.getpid(), signal.SIGINT)
    return {}


if presses := int(os.environ.get("STOP_WRITING", "0")):
    from pytest_clinical_drift.gate import publishing

    write = publishing.write_results

    def write_results(*given):
        for _ in range(presses):
            os.kill(os.getpid(), signal.SIGINT)
        return write(*given)

    publishing.write_results = write_results
"""


def lay_out(folder: Path) -> Path:
    """Three patients over three turns: 18 replies in all."""
    (folder / "cases").mkdir(parents=True)
    for case_id in ("anna", "bela", "cleo"):
        (folder / "cases" / f"{case_id}.yaml").write_text(yaml.safe_dump(case(case_id)), encoding="utf-8")
    (folder / "thresholds.yaml").write_text(THRESHOLDS, encoding="utf-8")
    (folder / "model.py").write_text(MODEL, encoding="utf-8")
    (folder / "conftest.py").write_text(CONFTEST, encoding="utf-8")
    return folder


def run(folder: Path, *arguments: str, limit: Callable[[], None] | None = None, **environment: str) -> tuple[int, str]:
    """Exit code and output of a run in a process of its own."""
    given = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    given.pop("CI", None)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *ARGUMENTS, *arguments],
        cwd=folder,
        env=given,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        preexec_fn=limit,
    )
    return done.returncode, done.stdout + done.stderr


def asked(folder: Path) -> int:
    """How many replies the model gave."""
    return (folder / "asked.txt").stat().st_size


def results(folder: Path) -> dict[str, Any] | None:
    """Of the newest run that was published, over the full set or not."""
    files = sorted(folder.glob("results/python-model-make/runs/*/study_c_results.json"))
    found: dict[str, Any] | None = json.loads(files[-1].read_text(encoding="utf-8")) if files else None
    return found


def store_is_sound(folder: Path) -> bool:
    with contextlib.closing(sqlite3.connect(folder / ".clinical-drift" / "store.sqlite")) as store:
        return store.execute("PRAGMA integrity_check").fetchone() == ("ok",)
