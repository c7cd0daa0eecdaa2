"""The examples do what their README says."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from inner_runs import run_here

from pytest_clinical_drift import load_cases

EXAMPLES = Path(__file__).parent.parent / "examples"


def test_readme_shows_a_failure_as_it_is_printed(tmp_path: Path) -> None:
    """The command of README's block is run; what stands between its dots is printed so, line by line, in that order."""
    readme = (EXAMPLES.parent / "README.md").read_text(encoding="utf-8")
    block = readme.partition("<!-- failure -->")[2].partition("<!-- /failure -->")[0]
    command, *shown = block.strip().strip("`").strip().splitlines()
    python, *arguments = shlex.split(command.removeprefix("$ "))
    assert python == "pytest"
    printed = run(tmp_path, *arguments).stdout
    parts = "\n".join(shown).strip("…\n").split("\n…\n")
    assert len(parts) > 1
    places = [printed.find(f"\n{part}\n") for part in parts]
    assert -1 not in places, [part for part, place in zip(parts, places, strict=True) if place == -1]
    assert places == sorted(places)


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if key != "GITHUB_STEP_SUMMARY"}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_small_project_passes_its_own_gate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Own cases and thresholds are picked up from the project; the control passes them."""
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    folder = Path(shutil.copytree(EXAMPLES / "my_clinic", tmp_path / "clinic"))
    code, output = run_here(folder, "--model", "control:steady")
    assert code == 0, output
    assert f"gate: {folder / 'thresholds.yaml'}" in output
    record = json.loads((folder / "results/control-steady/study_c_results.json").read_text(encoding="utf-8"))
    assert record["headline"] == "PASS (instrument check; by point estimate, not interval)"
    assert record["headline"] in output


@pytest.mark.slow
def test_small_projects_own_test_runs_on_the_conversations(tmp_path: Path) -> None:
    """The fixtures give the project's test every case; a forgetful model fails it."""
    folder = Path(shutil.copytree(EXAMPLES / "my_clinic", tmp_path / "clinic"))
    assert run(folder, "--model", "control:steady", "tests").returncode == 0
    failed = run(folder, "--model", "control:silent", "tests")
    assert failed.returncode == 1
    assert "test_allergies_are_never_lost[asthma-and-nut-allergy]" in failed.stdout


@pytest.mark.slow
def test_recorded_models_replay_to_the_verdicts_their_page_tells(tmp_path: Path) -> None:
    """A real model that keeps an old dose fails by its own words; a summary that was cut off is no FAIL."""
    folder = Path(shutil.copytree(EXAMPLES / "recorded", tmp_path / "recorded"))
    done = run(folder, "--model", "replay:qwen2-5-coder-1-5b", "-k", "lithium-nsaid or methotrexate")
    assert done.returncode == 1, done.stdout
    [file] = folder.glob("results/*/runs/*/study_c_results.json")
    cases = {case["case_id"]: case for case in json.loads(file.read_text(encoding="utf-8"))["cases"]}
    assert cases["lithium-nsaid-postman"]["verdict"] == "FAIL"
    assert cases["methotrexate-weekly-gardener"]["verdict"] == "INCOMPLETE"
    stale = [a for a in cases["lithium-nsaid-postman"]["repeats"][0]["alarms"] if a["kind"] == "stale"]
    assert any(a["state"] == "confirmed" and "800 mg" in a["quote"] for a in stale)


@pytest.mark.parametrize("name", ["qwen2-5-coder-1-5b", "smollm2-135m", "compare"])
def test_committed_pages_need_nothing_from_elsewhere(name: str) -> None:
    """Dossiers and comparison are single files: no script, style or picture is fetched."""
    page = (EXAMPLES / "recorded" / f"{name}.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert not re.search(r"(?:src|href)=[\"']?(?:https?:)?//", page)


@pytest.mark.slow
def test_the_stateful_assistant_remembers_no_request_for_a_summary(tmp_path: Path) -> None:
    """Its memory, written down at the end of a real run: messages, its replies, and nothing of the gate."""
    folder = Path(shutil.copytree(EXAMPLES / "stateful", tmp_path / "stateful"))
    (folder / "conftest.py").write_text(
        "import json\n"
        "def pytest_sessionfinish():\n"
        "    from assistant import ASSISTANT\n"
        "    kept = {name: [session.record, session.said] for name, session in ASSISTANT.sessions.items()}\n"
        "    open('memory.json', 'w').write(json.dumps(kept))\n",
        encoding="utf-8",
    )
    done = run(folder)
    assert done.returncode == 7, done.stdout  # no judge: rules find nothing against it, and decide nothing
    memory = json.loads((folder / "memory.json").read_text(encoding="utf-8"))
    assert len(memory) == 2
    for name, (record, said) in memory.items():
        case_id = name.split("/")[-2]
        case = next(case for case in load_cases(folder / "cases") if case.id == case_id)
        assert record == case.patient_summary
        assert [text for role, text in said if role == "patient"] == [turn.message for turn in case.turns]
        assert [role for role, _ in said] == ["patient", "assistant"] * len(case.turns)
        assert "handover summary" not in json.dumps(said)


@pytest.mark.slow
def test_concurrent_conversations_of_the_stateful_assistant_do_not_mix(tmp_path: Path) -> None:
    """Both sessions advance together; no word of one patient reaches the other."""
    folder = Path(shutil.copytree(EXAMPLES / "stateful", tmp_path / "stateful"))
    done = run(folder)
    file = folder / "results/python-assistant-make/study_c_results.json"
    found = json.loads(file.read_text(encoding="utf-8"))
    assert found["entity_recall_at_t10"] == 1.0, done.stdout
    texts = {path.stem: path.read_text(encoding="utf-8").lower() for path in file.parent.glob("transcripts/*.jsonl")}
    assert "warfarin" in texts["warfarin-and-knee"]
    assert "warfarin" not in texts["asthma-and-nut-allergy"]
    assert "hazelnut" not in texts["warfarin-and-knee"]
    messages = [json.loads(line) for line in texts["warfarin-and-knee"].splitlines()]
    assert len(messages) == 8
