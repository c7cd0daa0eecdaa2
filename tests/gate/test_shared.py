"""Results pass from the process with the model to those that run the tests."""

from __future__ import annotations

import datetime
import threading
import time
from pathlib import Path

import pytest
from made import conversation

from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.gate.shared import Judged, leave, wait_for
from pytest_clinical_drift.subjects.base import RunStopped
from pytest_clinical_drift.transcript import Exchange, Reply, Transcript
from pytest_clinical_drift.verdict.case import judge_case
from pytest_clinical_drift.verdict.thresholds import load_thresholds


def judged(text: str) -> Judged:
    run = conversation("anna", [1.0, 0.5])
    talk = Transcript("anna", (Exchange(1, "Hello", Reply(text), Reply("A summary.")),))
    return (talk,), (run,), judge_case([run], load_thresholds(), datetime.date(2026, 5, 1)), "judge: none"


@pytest.mark.parametrize("text", ["plain", "50\u202fmg é 🩺", "half a pair: \ud83e", '"quoted" \\ \n\x00'])
def test_a_result_arrives_as_it_was_left(tmp_path: Path, text: str) -> None:
    """Every field, whatever a model may have written."""
    told = judged(text)
    leave(tmp_path, "anna", told)
    assert wait_for(tmp_path, "anna") == told


def test_whoever_waits_gets_it_once_it_is_there(tmp_path: Path) -> None:
    """The waiting process is not told half of it, and not too early."""
    found: list[Judged] = []
    waiting = threading.Thread(target=lambda: found.append(wait_for(tmp_path, "anna")), daemon=True)
    waiting.start()
    time.sleep(0.1)
    assert found == []
    leave(tmp_path, "anna", judged("hello"))
    waiting.join(timeout=10)
    assert found == [judged("hello")]


@pytest.mark.parametrize("error", [RunStopped("given up"), InputError("a scorer gave no figure"), ValueError("odd")])
def test_what_kept_a_result_from_being_made_is_told(tmp_path: Path, error: Exception) -> None:
    """A stop as a stop, anything else with its words; nobody waits for ever."""
    leave(tmp_path, "anna", error)
    kind = RunStopped if isinstance(error, RunStopped) else InputError
    with pytest.raises(kind, match=str(error)):
        wait_for(tmp_path, "anna")


def test_nobody_waits_for_a_process_that_is_gone(tmp_path: Path) -> None:
    """Its folder went with it; leaving something there is no error either."""
    with pytest.raises(RunStopped):
        wait_for(tmp_path / "gone", "anna")
    leave(tmp_path / "gone", "anna", judged("too late"))
    assert not (tmp_path / "gone").exists()
