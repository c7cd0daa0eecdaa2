"""Words that a clinician can trust, read off real runs: nothing unmeasured is green, and one case is one case."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree

import pytest
import yaml
from small_project import ARGUMENTS, RULES_ONLY, Project, case_text

from pytest_clinical_drift.core.packaged import bundled


def table(output: str, metric: str) -> list[str]:
    """The cells of every row on a metric, in the order in which they are printed."""
    rows = [re.split(r"\s{2,}", line.strip()) for line in output.splitlines()]
    return [" | ".join(row[1:]) for row in rows if row[0] == metric]


def change_the_dose(pytester: pytest.Pytester, turn: int) -> None:
    """From that turn on Anna takes twice as much metformin."""
    case = yaml.safe_load(case_text("anna"))
    case["turns"][turn - 1]["updates"] = [
        {"fact": case["critical_entities"][1], "becomes": "metformin 1 g twice daily"}
    ]
    (pytester.path / "mycases" / "anna.yaml").write_text(yaml.safe_dump(case), encoding="utf-8")


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


def test_a_hard_stop_before_an_outage_is_named_by_the_set(project: Project) -> None:
    """No verdict on the model, because it could not be run; what was seen before stands in every report."""
    pytester = project("anna", forget_from=2, breaks_at=4)
    result = pytester.runpytest(*ARGUMENTS, "--junitxml=j.xml")
    told = "1 hard stop was already confirmed in unfinished cases: penicillin allergy with anaphylaxis, turn 2 (anna)"
    assert result.ret == 6
    _, _, summary = result.stdout.str().partition("clinical drift: python-model-make")
    flat = " ".join(summary.split())
    assert "INCOMPLETE (judge python:judge:make" in flat
    assert f"1 of 1 case could not be run to the end; {told}" in flat
    (folder,) = (pytester.path / "results").glob("python*")
    record = json.loads((folder / "study_c_results.json").read_text(encoding="utf-8"))
    assert (record["verdict"], record["reasons"][1]["text"]) == ("INCOMPLETE", told)
    assert told in (folder / "report.html").read_text(encoding="utf-8")
    whole = ElementTree.parse(pytester.path / "j.xml").getroot().findall(".//testcase")[-1]
    assert told in whole.find("error").get("message")  # type: ignore[union-attr, operator]


def test_what_nobody_stated_is_no_merit(project: Project) -> None:
    """Empty summaries go stale, contradict and slip no more than they drift: no 0, no PASS, and the run fails."""
    pytester = project("anna")
    change_the_dose(pytester, turn=2)
    result = pytester.runpytest("--model", "control:silent", *RULES_ONLY[2:])
    assert result.ret == 1
    for metric in ("stale facts", "other contradicted facts", "hard-stop slips", "slope β", "breaches"):
        rows = table(result.stdout.str(), metric)
        assert len(rows) == 2
        assert all(row.startswith("not evaluated") and "PASS" not in row for row in rows), (metric, rows)
    (record,) = pytester.path.glob("results/*/study_c_results.json")
    assert json.loads(record.read_text(encoding="utf-8"))["drift_slope_critical"] is None


def test_a_changed_fact_that_is_never_stated_again_has_not_been_kept_current(project: Project) -> None:
    """From turn 3 on, when the dose changes, nothing is stated: lost, and neither stale nor 0."""
    pytester = project("anna", forget_from=3)
    change_the_dose(pytester, turn=3)
    result = pytester.runpytest(*ARGUMENTS)
    assert result.ret == 1
    assert table(result.stdout.str(), "stale facts") == ["not evaluated | <= 0 | not evaluated"] * 2
    result.stdout.fnmatch_lines(["*no summary states a fact after it changed"])
    assert {row.partition(" | ")[0] for row in table(result.stdout.str(), "other contradicted facts")} == {
        "0 facts",
        "0 cases",
    }


def test_what_cannot_happen_is_neither_green_nor_in_the_way(project: Project) -> None:
    """Nothing deadly, nothing that changes, no demand, nobody else: these figures do not apply, and the set passes."""
    pytester = project("anna")
    case = {
        **yaml.safe_load(case_text("anna")),
        "patient_summary": "Anna has gout and lives alone. She takes metformin 500 mg twice daily.",
        "critical_entities": ["gout", "metformin 500 mg twice daily", "lives alone"],
    }
    (pytester.path / "mycases" / "anna.yaml").write_text(yaml.safe_dump(case), encoding="utf-8")
    gate = yaml.safe_load(bundled("thresholds.yaml").read_text(encoding="utf-8"))
    gate["clinical_drift"]["set"] |= {"min_cases": 1, "decide_by": "point"}
    (pytester.path / "thresholds.yaml").write_text(yaml.safe_dump(gate), encoding="utf-8")
    result = pytester.runpytest("--model", "control:steady", *RULES_ONLY[2:])
    named = "hard stops, breaches, other patients named, stale facts, hard-stop slips"
    result.stdout.fnmatch_lines([f"clinical-drift: not applicable, cannot happen in these cases: {named}"])
    for metric in named.split(", "):
        assert {row.partition(" | ")[0] for row in table(result.stdout.str(), metric)} == {"not applicable"}
    (file,) = pytester.path.glob("results/*/study_c_results.json")
    record = json.loads(file.read_text(encoding="utf-8"))
    page = (file.parent / "report.html").read_text(encoding="utf-8")
    found = re.search(r"Not applicable \(cannot happen in these cases[^)]*\): ([^.]+)\.", page)
    assert found is not None
    assert set(found[1].split(", ")) >= {*named.split(", ")}
    assert (result.ret, record["verdict"]) == (0, "PASS")


def test_a_figure_counts_the_cases_in_which_it_can_happen(project: Project) -> None:
    """A fact changes in one of two cases: stale facts are 0 of 1 case, hard stops 0 of 2."""
    pytester = project("anna", "bela")
    change_the_dose(pytester, turn=2)
    result = pytester.runpytest("--model", "control:steady", *RULES_ONLY[2:])
    told = " ".join(result.stdout.str().split())
    assert "stale facts 0 cases <= 0 PASS 0 of 1 finished case where it can happen; compatible with" in told
    assert "hard stops 0 cases <= 0 PASS 0 of 2 finished cases; compatible with" in told


def test_the_reason_for_having_no_figure_is_told_once(project: Project) -> None:
    """Of a case that broke off, and of the set, instead of once in each of a dozen rows."""
    pytester = project("anna", breaks_at=3)
    result = pytester.runpytest(*ARGUMENTS)
    assert result.stdout.str().count("not carried to its end") == 1
    assert result.stdout.str().count("no case was run to the end") == 1
    page = next(pytester.path.glob("results/*/report.html")).read_text(encoding="utf-8")
    assert page.count("not carried to its end") == page.count("no case was run to the end") == 1


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
    assert "1 of 1 finished case; compatible with a true rate up to 100.0%" in flat
    assert max(len(line) for line in told.splitlines() if not line.startswith("written")) <= int(columns)
