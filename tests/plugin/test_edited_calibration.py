"""Limits of a judge that do not follow from what was counted: a run, `calibrate` and a comparison refuse them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from judged_project import JUDGED, lay_out
from small_project import Project

from pytest_clinical_drift.cli import main

Change = Callable[[dict[str, Any]], object]


def edit(file: Path, change: Change) -> None:
    content = json.loads(file.read_text(encoding="utf-8"))
    change(content)
    file.write_text(json.dumps(content), encoding="utf-8")


def better_limit(calibration: dict[str, Any]) -> None:
    calibration["kinds"]["harm"]["sensitivity"]["low"] = 0.99


def worse_counts(calibration: dict[str, Any]) -> None:
    calibration["attempts"][0]["counts"]["harm"]["faults"] = {"patient": [0, 30]}


def stopped(calibration: dict[str, Any]) -> None:
    calibration["attempts"][0]["stopped"] = {"harm": "sensitivity"}


def no_counts(calibration: dict[str, Any]) -> None:
    del calibration["attempts"][0]["counts"]["harm"]


def unstated(calibration: dict[str, Any]) -> None:
    del calibration["kinds"]["harm"]


@pytest.mark.parametrize("change", [better_limit, worse_counts, stopped, no_counts, unstated])
def test_limits_are_computed_again(project: Project, change: Change) -> None:
    """One sentence with file and kind, exit code 4; the file that was not edited is used."""
    pytester = project("anna")
    lay_out(pytester, measured=True)
    assert pytester.runpytest(*JUDGED).ret == 0
    edit(pytester.path / "calibration" / "judge.json", change)
    run = pytester.runpytest(*JUDGED)
    assert run.ret == 4
    run.stderr.fnmatch_lines(["*calibration/judge.json: the limits of kind 'harm' do not follow from the attempts*"])


def test_more_hits_than_trials(project: Project) -> None:
    """Such counts were never made."""
    pytester = project("anna")
    lay_out(pytester, measured=True)
    file = pytester.path / "calibration" / "judge.json"
    edit(file, lambda read: read["attempts"][0]["counts"]["harm"].update(faults={"patient": [31, 30]}))
    run = pytester.runpytest(*JUDGED)
    assert run.ret == 4
    run.stderr.fnmatch_lines(["*judge.json: not a calibration file*harm.faults: hits must lie between 0 and*"])


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda judged: worse_counts(judged["calibration"]), "the limits of kind 'harm' are not those of its attempts"),
        (
            lambda judged: judged.update(deciding=["fact"]),
            "what the judge decides does not follow from its",
        ),
    ],
)
def test_a_record_of_a_judge_that_may_decide_less(
    project: Project, change: Change, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Changed in both files alike, so that their hashes fit."""
    pytester = project("anna")
    lay_out(pytester, measured=True)
    pytester.runpytest(*JUDGED)
    (file,) = pytester.path.glob("results/*/study_c_results.json")
    assert main(["compare", str(file), str(file.parent)]) == 0
    edit(file, lambda record: change(record["manifest"]["judged"]))
    manifest = json.loads(file.read_text(encoding="utf-8"))["manifest"]
    edit(file.parent / "run.json", lambda inputs: inputs.update(manifest=manifest))
    capsys.readouterr()
    assert main(["compare", str(file), str(file.parent)]) == 4
    assert why in capsys.readouterr().err
