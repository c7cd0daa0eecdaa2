"""The examples do what their README says."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

EXAMPLES = Path(__file__).parent.parent / "examples"


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if key != "GITHUB_STEP_SUMMARY"}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_small_project_passes_its_own_gate(tmp_path: Path) -> None:
    """Own cases and thresholds are picked up from the project; the control passes them."""
    folder = Path(shutil.copytree(EXAMPLES / "my_clinic", tmp_path / "clinic"))
    done = run(folder, "--model", "control:steady")
    assert done.returncode == 0, done.stdout
    assert f"gate: {folder / 'thresholds.yaml'}" in done.stdout
    assert (
        json.loads((folder / "results/control-steady/study_c_results.json").read_text(encoding="utf-8"))["verdict"]
        == "PASS"
    )


def test_small_projects_own_test_runs_on_the_conversations(tmp_path: Path) -> None:
    """The fixtures give the project's test every case; a forgetful model fails it."""
    folder = Path(shutil.copytree(EXAMPLES / "my_clinic", tmp_path / "clinic"))
    assert run(folder, "--model", "control:steady", "tests").returncode == 0
    failed = run(folder, "--model", "control:silent", "tests")
    assert failed.returncode == 1
    assert "test_allergies_are_never_lost[asthma-and-nut-allergy]" in failed.stdout


def test_recording_replays_to_the_committed_verdict(tmp_path: Path) -> None:
    """The recorded conversation gives the results that are committed beside it, figure by figure."""
    folder = Path(shutil.copytree(EXAMPLES / "recorded", tmp_path / "recorded"))
    committed = json.loads((folder / "study_c_results.json").read_text(encoding="utf-8"))
    done = run(folder, "--model", "replay:transcripts", "--drift-cases", "cases")
    assert done.returncode == 1, done.stdout
    made = json.loads((folder / "results/replay-transcripts/study_c_results.json").read_text(encoding="utf-8"))
    for key in ("verdict", "failing_cases", "entity_recall_at_t10", "knowledge_conflict_rate", "drift_slope_critical"):
        assert made[key] == committed[key], key
    assert (folder / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")


@pytest.mark.parametrize("name", ["github-actions.yml", "gitlab-ci.yml"])
def test_ci_recipes_are_yaml_and_use_real_options(name: str) -> None:
    """The recipes parse, and every option they give to pytest exists."""
    text = (EXAMPLES / "ci" / name).read_text(encoding="utf-8")
    assert yaml.safe_load(text)
    known = subprocess.run(
        [sys.executable, "-m", "pytest", "--help"], capture_output=True, text=True, check=True
    ).stdout
    options = {word.partition("=")[0] for word in text.split() if word.startswith(("--drift", "--model", "--junit"))}
    assert "--model" in options
    assert {option for option in options if option not in known.replace("--junit-xml", "--junitxml")} == set()
