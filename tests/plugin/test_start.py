"""`clinical-drift start`: one command from two models to a first verdict."""

from __future__ import annotations

import configparser
import importlib
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from engine_server import ChatServer, as_json
from inner_runs import run_here
from judged_project import lay_out, write_measured, write_set

from pytest_clinical_drift.cli import main
from pytest_clinical_drift.verdict.thresholds import load_thresholds

JUDGE = ("--drift-judge", "python:judge:make", "--drift-judge-set", "calibration_set=labelled.jsonl")
MODEL = ("--model", "python:model:make", "--drift-set", f"revision={'1' * 40}")


@pytest.fixture
def home(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Path:
    lay_out(pytester)
    write_set(pytester.path / "labelled.jsonl", faults=2, clean=2)
    monkeypatch.syspath_prepend(pytester.path)
    monkeypatch.setenv("PYTHONPATH", str(pytester.path))
    return pytester.path


def run_in_this_process(command: list[str], *, cwd: Path, check: bool) -> subprocess.CompletedProcess[str]:
    assert command[:3] == [sys.executable, "-m", "pytest"]
    code, text = run_here(cwd, *command[3:])
    print(text)
    return subprocess.CompletedProcess(command, code)


@pytest.mark.parametrize("here", [True, pytest.param(False, marks=pytest.mark.slow)], ids=["here", "own process"])
def test_one_command_calibrates_writes_the_project_and_runs_three_cases(
    home: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, here: bool
) -> None:
    if here:
        monkeypatch.setattr("pytest_clinical_drift.gate.starting.subprocess.run", run_in_this_process)
    code = main(["start", *MODEL, *JUDGE, "--yes"])
    text = capfd.readouterr().out
    # the model forgets nearly everything, which rules confirm even where no judge is at its floor
    assert code == 1, text
    assert len(list((home / "calibration").glob("*.json"))) == 1
    ini = configparser.ConfigParser()
    ini.read(home / "pytest.ini")
    assert dict(ini["pytest"]) == {
        "drift_judge": "python:judge:make",
        "drift_judge_set": "\ncalibration_set=labelled.jsonl",
        "drift_set": f"\nrevision={'1' * 40}",
        "drift_strict": "true",
    }
    load_thresholds(home / "thresholds.yaml")
    workflow = yaml.safe_load((home / ".github/workflows/clinical-drift.yml").read_text(encoding="utf-8"))
    runs = [step["run"] for step in workflow["jobs"]["gate"]["steps"] if "run" in step]
    assert runs[-1] == "pytest --model 'python:model:make' --junitxml=gate.xml"
    assert "without the selection" not in text
    price, verdict = text.index("the first 3 cases"), text.index("PARTIAL (3 of 60)")
    assert price < text.index("prompts version") < verdict < text.index("next, another judge: this one decides nothing")


def test_files_that_exist_are_kept(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    finished = subprocess.CompletedProcess((), 7)
    monkeypatch.setattr("pytest_clinical_drift.gate.starting.subprocess.run", lambda *_, **__: finished)
    assert main(["start", *MODEL, *JUDGE, "--yes", "--ci", "gitlab"]) == 7
    assert (home / "pytest.ini").read_text(encoding="utf-8") == "[pytest]\n"
    assert "pytest.ini already exists; not overwritten" in capsys.readouterr().out
    assert yaml.safe_load((home / ".gitlab-ci.yml").read_text(encoding="utf-8"))["clinical-drift"]["script"]


def test_the_judge_that_was_named_reads_although_pytest_ini_names_another(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Patients' texts go to nobody whom the command does not name."""
    (home / "pytest.ini").write_text("[pytest]\ndrift_judge = python:elsewhere:make\n", encoding="utf-8")
    monkeypatch.setattr("pytest_clinical_drift.gate.starting.subprocess.run", run_in_this_process)
    assert main(["start", *MODEL, *JUDGE, "--yes"]) == 1
    text = capsys.readouterr().out
    assert "--drift-judge python:judge:make --drift-judge-set calibration_set=labelled.jsonl" in text
    assert "elsewhere" not in text


@pytest.mark.parametrize(
    ("ci", "file"), [("github", ".github/workflows/clinical-drift.yml"), ("gitlab", ".gitlab-ci.yml")]
)
def test_what_keeps_the_ci_file_from_working_is_said(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, ci: str, file: str
) -> None:
    """A project in a folder of a repository; the file installs this version."""
    write_measured(home)
    (home.parent / ".git").mkdir(exist_ok=True)
    finished = subprocess.CompletedProcess((), 0)
    monkeypatch.setattr("pytest_clinical_drift.gate.starting.subprocess.run", lambda *_, **__: finished)
    starting = importlib.import_module("pytest_clinical_drift.gate.starting")  # pytester may have imported it anew
    monkeypatch.setattr(starting, "own_version", lambda: "7.8.9")
    monkeypatch.setattr(starting, "on_this_machine", lambda spec: "model" in spec)
    assert main(["start", *MODEL, *JUDGE, "--yes", "--ci", ci]) == 0
    said = capsys.readouterr().out
    assert f"{file}: is read only at the top of the repository; move it to {home.parent.resolve()}" in said
    assert said.count("a hosted runner does not reach python:model:make; name an address") == 1
    assert "pip install 'pytest-clinical-drift==7.8.9'" in (home / file).read_text(encoding="utf-8")
    (home.parent / ".git").rmdir()


def test_the_release_run_comes_next_with_a_judge_that_decides(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_measured(home)
    finished = subprocess.CompletedProcess((), 0)
    monkeypatch.setattr("pytest_clinical_drift.gate.starting.subprocess.run", lambda *_, **__: finished)
    assert main(["start", *MODEL, *JUDGE, "--yes"]) == 0
    command = "next, the release verdict on all 60 cases: pytest --model python:model:make --junitxml=gate.xml"
    assert command in capsys.readouterr().out


@pytest.mark.parametrize("broken", ["model", "judge"])
def test_a_model_that_answers_with_an_error_is_named_before_anything_is_spent(
    home: Path, capsys: pytest.CaptureFixture[str], broken: str
) -> None:
    """Three greetings, then one sentence: no price, no calibration, no run."""
    with ChatServer(answer=lambda _: as_json({"error": "CUDA error"}, 500)) as server:
        given = f"server:small@{server.url}"
        model = ("--model", given) if broken == "model" else MODEL
        judge = ("--drift-judge", given) if broken == "judge" else JUDGE
        assert main(["start", *model, *judge, "--yes"]) == 4
        assert len(server.headers) == 3
    text = capsys.readouterr()
    option = "--model" if broken == "model" else "--drift-judge"
    assert text.err.endswith(f"{option} {given}: the server answered 500: CUDA error; start again once it answers\n")
    assert text.err.count("\n") == 1
    assert "labelled texts" not in text.out
    assert not (home / "pytest.ini").exists()
    assert not (home / "calibration").exists()


def test_a_busy_server_is_not_refused(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """HTTP 429 asks for patience, which a run has."""
    write_measured(home)
    finished = subprocess.CompletedProcess((), 0)
    monkeypatch.setattr("pytest_clinical_drift.gate.starting.subprocess.run", lambda *_, **__: finished)
    with ChatServer(answer=lambda _: as_json({"error": "rate"}, 429, {"retry-after": "0.01"})) as server:
        assert main(["start", "--model", f"server:small@{server.url}", *JUDGE, "--yes"]) == 0
    assert "returns errors (the server answered 429: rate)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (JUDGE, "start: name the candidate with --model SPEC"),
        (MODEL, "start: name the judge with --drift-judge SPEC"),
        ((*MODEL, *JUDGE), "start: no terminal to confirm on; add --yes"),
        ((*MODEL, "--drift-judge", "rules", "--yes"), "start: a judge reads the conversations"),
        ((*MODEL, "--drift-judge", "python:model:make", "--yes"), "the judge is the model under test"),
        (("--model", "nowhere:x", *JUDGE, "--yes"), "unknown prefix 'nowhere:'"),
    ],
)
def test_what_is_missing_is_one_sentence_and_nothing_is_written(
    home: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], sentence: str
) -> None:
    assert main(["start", *arguments]) == 4
    error = capsys.readouterr().err
    assert sentence in error
    assert error.count("\n") == 1
    assert not (home / "pytest.ini").exists()
    assert not (home / "calibration").exists()
