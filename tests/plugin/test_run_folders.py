"""Each run has its own folder; on top lies the newest run over the full set, and nothing else ever changes it."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest
from sharded import record
from small_project import ARGUMENTS, Project, case_text

SLOW = """
import time, pathlib
_make = make
def make():
    chat = _make()
    def slow(messages):
        while not pathlib.Path("go").exists():
            time.sleep(0.02)
        return chat(messages)
    return slow
"""


def top(pytester: pytest.Pytester) -> Path:
    return pytester.path / "results" / "python-model-make"


def files(folder: Path) -> dict[str, bytes]:
    """Everything below a folder that a run may have written."""
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def runs(pytester: pytest.Pytester) -> list[Path]:
    """The published runs, the oldest first."""
    return sorted((top(pytester) / "runs").iterdir())


def test_a_run_over_the_full_set_lies_on_top(project: Project) -> None:
    """Results, dossier, inputs and transcripts, the same as in the run's own folder; no draft is left."""
    pytester = project()
    result = pytester.runpytest(*ARGUMENTS)
    result.stdout.fnmatch_lines(["written: results?python-model-make?study_c_results.json"])
    (run,) = runs(pytester)
    own = files(run)
    assert {"study_c_results.json", "report.html", "run.json", "transcripts/anna.jsonl"} <= set(own)
    assert {name: (top(pytester) / name).read_bytes() for name in own} == own
    names = {"study_c_results.json", "report.html", "run.json", "log.jsonl", "canaries.jsonl"}
    assert {path.name for path in top(pytester).iterdir()} == names | {"transcripts", "runs", ".lock"}


def test_a_later_run_replaces_what_lies_on_top_and_no_run(project: Project) -> None:
    """Two full runs: both are kept, the newer one on top; transcripts of a case that is gone are gone there too."""
    pytester = project()
    pytester.runpytest(*ARGUMENTS)
    (first,) = runs(pytester)
    before = files(first)
    (pytester.path / "mycases" / "cleo.yaml").unlink()
    (pytester.path / "mycases" / "bela.yaml").write_text(case_text("bela", turns=5), encoding="utf-8")
    pytester.runpytest(*ARGUMENTS)
    assert files(first) == before
    assert first in runs(pytester)
    assert len(runs(pytester)) == 2
    assert [case["case_id"] for case in record(top(pytester))["cases"]] == ["anna", "bela"]
    assert sorted(file.name for file in (top(pytester) / "transcripts").iterdir()) == ["anna.jsonl", "bela.jsonl"]


@pytest.mark.parametrize("subset", [("-k", "bela"), ("-x",), ("--lf", "--maxfail=1")], ids=lambda given: given[0])
def test_a_subset_stays_in_its_own_folder(project: Project, subset: tuple[str, ...]) -> None:
    """Nothing that lay there before changes; the subset's files are named."""
    pytester = project(forget_from=2)
    pytester.runpytest(*ARGUMENTS)
    before = files(top(pytester))
    known = set(runs(pytester))
    result = pytester.runpytest(*ARGUMENTS, *subset)
    (new,) = set(runs(pytester)) - known
    result.stdout.fnmatch_lines([f"written: results?python-model-make?runs?{new.name}?study_c_results.json"])
    after = files(top(pytester))
    assert {name: after[name] for name in before} == before
    assert record(new)["verdict"] == "PARTIAL"
    assert (new / "transcripts").is_dir()


def test_a_subset_in_a_fresh_folder_leaves_nothing_on_top(project: Project) -> None:
    """There is no run over the full set yet, and no file that could be taken for one."""
    pytester = project()
    pytester.runpytest(*ARGUMENTS, "-k", "anna")
    assert [path.name for path in top(pytester).iterdir()] == ["runs"]
    assert [record(run)["cases_selected"] for run in runs(pytester)] == [1]


def test_a_projects_own_tests_change_nothing(project: Project) -> None:
    """Their conversations are kept in a folder of their own, without a results file."""
    pytester = project()
    pytester.runpytest(*ARGUMENTS)
    before = files(top(pytester))
    pytester.makepyfile(test_own="def test_own(drift_result):\n    assert drift_result.case.id\n")
    assert pytester.runpytest(*ARGUMENTS, "test_own.py", "-k", "anna").ret == 0
    after = files(top(pytester))
    assert {name: after[name] for name in before} == before
    assert {Path(name).name for name in set(after) - set(before)} == {"anna.jsonl"}


@pytest.mark.parametrize("arguments", [("--collect-only",), ("-m", "nosuch")], ids=["collect-only", "nothing selected"])
def test_looking_at_the_tests_writes_nothing(project: Project, arguments: tuple[str, ...]) -> None:
    """Neither beside an earlier run nor in a fresh folder."""
    pytester = project()
    pytester.runpytest(*ARGUMENTS, *arguments)
    assert not top(pytester).exists()
    pytester.runpytest(*ARGUMENTS)
    before = files(top(pytester))
    pytester.runpytest(*ARGUMENTS, *arguments)
    assert files(top(pytester)) == before


@pytest.mark.parametrize(
    "beside",
    [
        pytest.param(("-k", "anna"), id="subset", marks=pytest.mark.slow),
        pytest.param(("--collect-only",), id="collect-only", marks=pytest.mark.slow),
        pytest.param((), id="full"),
    ],
)
def test_runs_at_the_same_time_do_not_touch_each_other(project: Project, beside: tuple[str, ...]) -> None:
    """While one run waits for its model, another of the same model begins and ends."""
    pytester = project()
    model = pytester.path / "model.py"
    model.write_text(model.read_text(encoding="utf-8") + SLOW, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *ARGUMENTS, "--drift-store", "first.sqlite"]
    first = subprocess.Popen(command, cwd=pytester.path, stdout=subprocess.PIPE, text=True)
    try:
        drafts = top(pytester) / ".drafts"
        while not (drafts.is_dir() and any(drafts.iterdir())):
            assert first.poll() is None
            time.sleep(0.05)
        model.write_text(model.read_text(encoding="utf-8").replace("while not", "while False and not"), "utf-8")
        pytester.runpytest(*ARGUMENTS, *beside)
        (pytester.path / "go").touch()
        output, _ = first.communicate(timeout=60)
    finally:
        first.kill()
    assert "written: results/python-model-make/study_c_results.json" in output
    assert record(top(pytester))["cases_selected"] == 3
    assert sorted(file.name for file in (top(pytester) / "transcripts").iterdir()) == [
        "anna.jsonl",
        "bela.jsonl",
        "cleo.jsonl",
    ]
    complete = {"()": 2, "('-k', 'anna')": 2, "('--collect-only',)": 1}[str(beside)]
    assert len(runs(pytester)) == complete
