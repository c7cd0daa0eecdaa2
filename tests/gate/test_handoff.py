"""Results pass from the process with the model to those that run the tests."""

from __future__ import annotations

import datetime
import threading
import time
from pathlib import Path

import pytest
from made import conversation

from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.gate import items
from pytest_clinical_drift.gate.items import HandedCase, hand_over, hand_selection, handed_selection, wait_for
from pytest_clinical_drift.subjects.base import RunStopped
from pytest_clinical_drift.transcript import Exchange, Reply, Transcript
from pytest_clinical_drift.verdict.case import judge_case
from pytest_clinical_drift.verdict.thresholds import load_thresholds


def judged(text: str) -> HandedCase:
    run = conversation("anna", [1.0, 0.5])
    talk = Transcript("anna", (Exchange(1, "Hello", Reply(text), Reply("A summary.")),))
    verdict = judge_case([run], load_thresholds(), datetime.date(2026, 5, 1))
    return (talk,), verdict, "judge: none"


@pytest.mark.parametrize("text", ["plain", "50\u202fmg é 🩺", "half a pair: \ud83e", '"quoted" \\ \n\x00'])
def test_a_result_arrives_as_it_was_left(tmp_path: Path, text: str) -> None:
    """Every field, whatever a model may have written."""
    told = judged(text)
    hand_over(tmp_path, "anna", told)
    assert wait_for(tmp_path, "anna") == told


def test_whoever_waits_gets_it_once_it_is_there(tmp_path: Path) -> None:
    """The waiting process is not told half of it, and not too early."""
    found: list[HandedCase] = []
    waiting = threading.Thread(target=lambda: found.append(wait_for(tmp_path, "anna")), daemon=True)
    waiting.start()
    time.sleep(0.1)
    assert found == []
    hand_over(tmp_path, "anna", judged("hello"))
    waiting.join(timeout=10)
    assert found == [judged("hello")]


@pytest.mark.parametrize("error", [RunStopped("given up"), InputError("a scorer gave no figure"), ValueError("odd")])
def test_what_kept_a_result_from_being_made_is_told(tmp_path: Path, error: Exception) -> None:
    """A stop as a stop, anything else with its words; nobody waits for ever."""
    hand_over(tmp_path, "anna", error)
    kind = RunStopped if isinstance(error, RunStopped) else InputError
    with pytest.raises(kind, match=str(error)):
        wait_for(tmp_path, "anna")


def test_nobody_waits_for_a_process_that_is_gone(tmp_path: Path) -> None:
    """Its folder went with it; leaving something there is no error either."""
    with pytest.raises(RunStopped):
        wait_for(tmp_path / "gone", "anna")
    hand_over(tmp_path / "gone", "anna", judged("too late"))
    assert not (tmp_path / "gone").exists()


def test_a_result_that_cannot_be_written_is_an_error_in_the_test(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk takes the note that says so, or not even that: either way nobody waits for ever."""

    def full_disk(path: Path, text: str) -> Path:
        if len(text) > most:
            raise OSError(28, "No space left on device")
        path.write_text(text, encoding="utf-8")
        return path

    monkeypatch.setattr(items, "write_atomically", full_disk)
    most = 500
    hand_over(tmp_path, "anna", judged("a long reply " * 100))
    with pytest.raises(InputError, match="could not be handed to the test process"):
        wait_for(tmp_path, "anna")
    most, folder = 0, tmp_path / "full"
    for result in (judged("hello"), ValueError("odd")):
        folder.mkdir()
        hand_over(folder, "anna", result)
        with pytest.raises(RunStopped):
            wait_for(folder, "anna")


def test_the_selection_names_cases_and_not_parts_of_names(tmp_path: Path) -> None:
    """The cases that the workers' tests need, in the set's order; all of them where nobody could say."""
    known = ["asthma", "gout", "severe-asthma-girl"]
    assert handed_selection(tmp_path, known) == known
    hand_selection(tmp_path, ["severe-asthma-girl", "gout"])
    assert handed_selection(tmp_path, known) == ["gout", "severe-asthma-girl"]
