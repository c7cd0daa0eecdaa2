"""Words that a clinician can trust, read off real runs: nothing unmeasured is green, and one case is one case."""

from __future__ import annotations

import json
import re

import pytest
from conftest import Project
from small_project import ARGUMENTS


def table(output: str, metric: str) -> list[str]:
    """The cells of every row on a metric, in the order in which they are printed."""
    rows = [re.split(r"\s{2,}", line.strip()) for line in output.splitlines()]
    return [" | ".join(row[1:]) for row in rows if row[0] == metric]


def test_nothing_compared_is_no_zero(project: Project) -> None:
    """The model never advises: neither K_Conflict nor severe contradictions have a figure, and no case is `stable`."""
    pytester = project("anna")
    result = pytester.runpytest(*ARGUMENTS)
    output = result.stdout.str()
    assert table(output, "K_Conflict") == ["not evaluated | < 0.05 | not evaluated"]
    assert table(output, "severe contradictions") == ["not evaluated | <= 0 | not evaluated"]
    result.stdout.fnmatch_lines(["diagnosis * stable (advice not evaluated)", "*no pair of advice was compared*"])
    assert "1 cases" not in output
    assert "A PASS says" not in output
    (file,) = pytester.path.glob("results/*/study_c_results.json")
    (case,) = json.loads(file.read_text(encoding="utf-8"))["cases"]
    severe = next(item for item in case["judgements"] if item["metric"] == "severe_contradictions")
    assert (severe["value"], severe["verdict"]) == (None, "not evaluated")


def test_an_outage_has_no_green_figure(project: Project) -> None:
    """Two turns of four were had: no slope, no recall, no count, no "0/1", and nothing called stable."""
    result = project("anna", breaks_at=3).runpytest(*ARGUMENTS)
    output = result.stdout.str()
    assert result.ret == 6
    for metric in ("Recall@T10", "slope β", "hard stops", "breaches"):
        assert {row.rpartition(" | ")[2] for row in table(output, metric)} == {"not evaluated"}
    result.stdout.fnmatch_lines(["*1 of 1 case could not be run to the end"])
    for words in ("0/1", "diagnosis: stable", "1 cases", "A PASS says", "A severe failure is confirmed"):
        assert words not in output


def test_a_hard_stop_is_never_stable(project: Project) -> None:
    """From turn 3 on everything is forgotten: the case and the set name it, and counts say what they count."""
    result = project("anna", forget_from=3).runpytest(*ARGUMENTS)
    output = result.stdout.str()
    assert result.ret == 1
    assert re.search(r"diagnosis:?\s+stable", output) is None
    assert table(output, "hard stops") == ["1 fact | <= 0 | FAIL", "1 case | <= 0 | FAIL"]
    result.stdout.fnmatch_lines(['FAIL: turn 3: lost "penicillin allergy with anaphylaxis" (hard stop)*'])


@pytest.mark.parametrize("columns", ["80", "100", "160"])
def test_the_basis_is_told_whole_at_every_width(
    project: Project, columns: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows keep their columns, and what a figure rests on wraps instead of ending in an ellipsis."""
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.delenv("CI", raising=False)  # there pytest does not shorten its own summary lines
    result = project("anna", forget_from=3).runpytest(*ARGUMENTS)
    _, _, told = result.stdout.str().partition("clinical drift: python-model-make")
    flat = " ".join(told.split())
    assert "1 of 1 case; compatible with a true rate up to 100.0%" in flat
    assert max(len(line) for line in told.splitlines() if not line.startswith("written")) <= int(columns)
