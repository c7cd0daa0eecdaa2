"""`clinical-drift`: what each command prints, and its exit codes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from pytest_clinical_drift.cli import main
from pytest_clinical_drift.core.packaged import bundled


def record(
    recall: dict[str, float], *, cases: str = "c1", verdict: str = "PASS", curve: list[float] | None = None
) -> dict[str, Any]:
    """A results file as far as the comparison reads it."""
    return {
        "schema_version": 4,
        "verdict": verdict,
        "cases_complete": len(recall),
        "cases_total": len(recall),
        "entity_recall_at_t10": sum(recall.values()) / len(recall),
        "strict_recall_at_t10": 0.5,
        "drift_slope_critical": -0.01,
        "knowledge_conflict_rate": None,
        "knowledge_conflict_pairs": 0,
        "confidence_intervals": {"recall_at_t10": {"low": 0.4, "high": 0.9}},
        "average_recall_curve_critical": curve or [1.0, 0.8],
        "cases": [
            {
                "case_id": name,
                "verdict": verdict,
                "judgements": [{"metric": "recall_at_t10", "value": value, "verdict": "PASS"}],
            }
            for name, value in recall.items()
        ],
        "manifest": {"judge": "rules", "hashes": {"cases": cases, "prompts": "p"}},
    }


def write(folder: Path, name: str, content: object) -> Path:
    target = folder / name / "study_c_results.json"
    target.parent.mkdir(parents=True)
    target.write_text(json.dumps(content), encoding="utf-8")
    return target


@pytest.fixture
def made_records(monkeypatch: pytest.MonkeyPatch) -> None:
    """These records are made by hand, for their tables: no run that could be judged again lies beside them."""
    monkeypatch.setattr("pytest_clinical_drift.gate.reviewed.check_file", lambda path: None)


@pytest.mark.usefixtures("made_records")
def test_compare_tables_models_and_pairs_them_with_the_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Means 0.8 and 0.5; differences -0.4, -0.3, -0.2: mean -0.3 over 3 cases."""
    old = write(tmp_path, "old", record({"a": 0.9, "b": 0.8, "c": 0.7}))
    new = write(tmp_path, "new", record({"a": 0.5, "b": 0.5, "c": 0.5}, verdict="FAIL"))
    page = tmp_path / "page.html"
    assert main(["compare", str(old), str(new.parent), "--html", str(page)]) == 0
    figures = [re.split(r" {2,}", line.strip()) for line in capsys.readouterr().out.splitlines()]
    for row in (
        ["Recall@T10", "0.80", "0.50"],
        ["95 % interval", "0.40 to 0.90", "0.40 to 0.90"],
        ["K (pairs)", "– (0)", "– (0)"],
        ["verdict", "PASS (rules only)", "FAIL (rules only)"],
        ["ΔRecall@T10", "-0.300"],
    ):
        assert row in figures
    assert main(["compare", str(old), str(new), "--markdown", str(tmp_path / "table.md")]) == 0
    printed = (tmp_path / "table.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in printed.splitlines() if line.startswith("| ")]
    for row in (
        ["", "old", "new"],
        ["Recall@T10", "0.80", "0.50"],
        ["95 % interval", "0.40 to 0.90", "0.40 to 0.90"],
        ["K (pairs)", "– (0)", "– (0)"],
        ["verdict", "PASS (rules only)", "FAIL (rules only)"],
        ["ΔRecall@T10", "", "-0.300"],
    ):
        assert row in rows
    html = page.read_text(encoding="utf-8")
    assert "<svg" in html
    assert "http" not in html.replace("http-equiv", "")


@pytest.mark.usefixtures("made_records")
def test_compare_does_not_pair_different_cases(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Results on other cases stand in the table, but no difference is computed."""
    one = write(tmp_path, "one", record({"a": 0.9}))
    two = write(tmp_path, "two", record({"a": 0.5}, cases="c2"))
    assert main(["compare", str(one), str(two)]) == 0
    assert "not paired: the cases differ" in " ".join(capsys.readouterr().out.split())


@pytest.mark.usefixtures("made_records")
def test_compare_writes_markdown_to_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With --markdown nothing is printed."""
    one = write(tmp_path, "one", record({"a": 0.9}))
    assert main(["compare", str(one), str(one), "--markdown", str(tmp_path / "out.md")]) == 0
    assert capsys.readouterr().out == ""
    assert (tmp_path / "out.md").read_text(encoding="utf-8").startswith("# Clinical drift: comparison")


@pytest.mark.parametrize("content", ["{", "[]", '{"schema": 2, "verdict": "PASS"}', '{"schema_version": 4}'])
def test_compare_refuses_what_is_no_results_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str
) -> None:
    """Bad input: one sentence, exit code 4."""
    file = tmp_path / "x.json"
    file.write_text(content, encoding="utf-8")
    assert main(["compare", str(file)]) == 4
    error = capsys.readouterr().err
    assert error.startswith("clinical-drift: ")
    assert "x.json" in error
    assert error.count("\n") == 1
    assert main(["compare", str(tmp_path / "missing.json")]) == 4


def test_power_tells_the_odds(capsys: pytest.CaptureFixture[str]) -> None:
    """More cases catch a drop more often."""
    assert main(["power", "--cases", "60", "--drop", "0.1"]) == 0
    printed = capsys.readouterr().out
    assert "60 cases" in printed
    assert "false alarm" in printed


def test_power_takes_the_projects_margin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The thresholds of the folder decide what counts as a loss, as they do in a run."""
    gate = yaml.safe_load(bundled("thresholds.yaml").read_text(encoding="utf-8"))
    gate["clinical_drift"]["baseline"] = {"margin": 0.2}
    (tmp_path / "thresholds.yaml").write_text(yaml.safe_dump(gate), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert main(["power", "--cases", "60", "--drop", "0.1"]) == 0
    printed = capsys.readouterr().out
    assert "margin 0.2" in printed
    assert "A drop of 0.1 lies within the margin of 0.2" in printed


def test_power_takes_the_projects_chance_of_error_and_number_of_cases(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A smaller alpha leaves fewer false alarms; below min_cases nothing is called not worse."""
    monkeypatch.chdir(tmp_path)
    alarms = []
    for alpha in (0.2, 0.01):
        gate = {"clinical_drift": {"extends": "bundled", "set": {"min_cases": 61}, "baseline": {"alpha": alpha}}}
        (tmp_path / "thresholds.yaml").write_text(yaml.safe_dump(gate), encoding="utf-8")
        assert main(["power", "--cases", "60", "--drop", "0.1"]) == 0
        printed = capsys.readouterr().out
        assert "With fewer than 61 cases (min_cases) no model is called not worse." in printed
        alarms.append(float(printed.split("called worse in ")[1].split("%")[0]))
    assert alarms[1] < alarms[0]


def test_schema_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    """The schema of the results file, as JSON."""
    assert main(["schema"]) == 0
    assert json.loads(capsys.readouterr().out)["properties"]["schema_version"]["const"] == 4


@pytest.mark.parametrize(
    "arguments",
    [
        ["--cases", "1", "--drop", "0.1"],
        ["--cases", "10", "--drop", "2"],
        ["--drop", "0.1"],
        ["--drop", "0.1", "--results", "missing"],
    ],
)
def test_power_refuses_nonsense(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Numbers out of range: one sentence, exit code 4."""
    assert main(["power", *arguments]) == 4
    assert capsys.readouterr().err.count("\n") == 1


def test_validate_counts_errors_and_warnings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A case whose fact is not in its summary is an error: exit code 1."""
    case = {
        "id": "a",
        "patient_summary": "A woman with asthma.",
        "critical_entities": ["penicillin allergy"],
        "turns": [{"turn": 1, "message": "Hello."}, {"turn": 2, "message": "Bye."}],
    }
    (tmp_path / "a.json").write_text(json.dumps(case), encoding="utf-8")
    assert main(["validate", str(tmp_path)]) == 1
    printed = capsys.readouterr().out
    assert "penicillin-allergy" in printed
    assert "1 case, 1 error" in printed


def test_validate_refuses_a_missing_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing there: one sentence, exit code 4."""
    assert main(["validate", str(tmp_path / "none")]) == 4
    assert "no such file or folder" in capsys.readouterr().err


def test_freeze_then_verify_then_tamper(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The printed hash verifies the slate; a changed file does not pass, nor does another hash."""
    pytest.importorskip("polars")
    predictions = tmp_path / "p.csv"
    predictions.write_text(
        "disease_name,drug_name,repurposing_score,rank\ngout,colchicine,0.9,1\ngout,aspirin,0.5,2\n", encoding="utf-8"
    )
    slate = tmp_path / "slate"
    assert main(["freeze", str(predictions), "--out", str(slate), "--model-version", "v1", "--param", "seed=1"]) == 0
    printed = capsys.readouterr().out
    digest = next(line.split()[1] for line in printed.splitlines() if line.startswith("sha256 "))
    assert main(["verify", str(slate), "--sha256", digest]) == 0
    assert main(["verify", str(slate), "--sha256", "0" * 64]) == 1
    frozen = next(file for file in slate.iterdir() if file.name.startswith("predictions"))
    frozen.write_bytes(frozen.read_bytes().replace(b"0.5", b"0.6"))
    assert main(["verify", str(slate), "--sha256", digest]) == 1
    assert (
        main(["freeze", str(predictions), "--out", str(tmp_path / "x"), "--model-version", "v1", "--param", "seed"])
        == 4
    )
