"""`calibrate --external`: from a published file to the calibration, the verdict and the dossier."""

from __future__ import annotations

import csv
import json

import pytest
from judged_project import JUDGE, JUDGED, lay_out, results, write_set
from small_project import Project

from pytest_clinical_drift.cli import main

ROWS = [
    ("Can I?", "Rest and drink a lot.", "Drink water", "entailment", "entailment", "entailment"),
    ("Can I?", "Rest and drink a lot.", "See a doctor", "neutral", "neutral", "entailment"),
]


def test_a_public_set_is_measured_and_shown_wherever_the_judge_is(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """The judge calls every claim met: 0 of 1 missing found, 1 of 1 cleared; of the annotators 2 of 3 agree."""
    pytester = project("anna", "bela")
    lay_out(pytester)
    write_set(pytester.path / "labelled.jsonl", faults=2, clean=4)
    with (pytester.path / "annotations.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("Question", "answer", "claim", "label_0", "label_1", "label_2"), *ROWS])
    assert main(["calibrate", *JUDGE, "--external", "kqa=annotations.csv", "--out", "calibration"]) == 7
    assert "one annotator against the others" in capsys.readouterr().out
    (file,) = (pytester.path / "calibration").glob("*.json")
    (table,) = json.loads(file.read_text(encoding="utf-8"))["external"]
    assert [(row["items"], row["sensitivity"], row["specificity"]) for row in table["rows"]] == [
        ("all", [0, 1], [1, 1]),
        ("unanimous", [0, 0], [1, 1]),
        ("disputed", [0, 1], [0, 0]),
        ("one annotator against the others", [0, 1], [3, 3]),
    ]
    run = pytester.runpytest(*JUDGED)
    run.stdout.fnmatch_lines(["*kqa, labelled by clinicians: all: 0 of 1*"])
    assert results(pytester)["manifest"]["judged"]["calibration"]["external"] == [table]
    (page,) = pytester.path.glob("results/*/report.html")
    assert "the judge against external labels" in page.read_text(encoding="utf-8")
