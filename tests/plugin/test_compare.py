"""`clinical-drift compare --fail-if-worse` on what real runs have written."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_project import ARGUMENTS, Project

from pytest_clinical_drift.cli import main


@pytest.fixture
def releases(project: Project) -> tuple[Path, Path]:
    """Results of a model that remembers, and of the same model after it has begun to forget."""
    pytester = project(*(f"case-{letter}" for letter in "abcdefghijkl"))
    pytester.runpytest(*ARGUMENTS, "--drift-results", "before")
    model = pytester.path / "model.py"
    model.write_text(model.read_text("utf-8").replace("FORGET_FROM = 99", "FORGET_FROM = 3"), encoding="utf-8")
    pytester.runpytest(*ARGUMENTS, "--drift-results", "after")
    return pytester.path / "before" / "python-model-make", pytester.path / "after" / "python-model-make"


def test_a_worse_release_fails_the_comparison(
    releases: tuple[Path, Path], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twelve of twelve cases lose all: 1 with the option, 0 without it or the other way round; one run alone: 4."""
    before, after = map(str, releases)
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["compare", before, after, "--fail-if-worse"]) == 1
    assert main(["compare", before, after]) == 0
    assert main(["compare", after, before, "--fail-if-worse"]) == 0
    printed = capsys.readouterr()
    assert "worse" in printed.out
    assert max(map(len, printed.out.splitlines())) < 80
    assert main(["compare", before, "--fail-if-worse"]) == 4
    assert "a comparison needs two runs or more, found one" in capsys.readouterr().err


@pytest.mark.slow
def test_a_new_severe_failure_alone_is_worse(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """Three cases are too few to tell by recall; a lost allergy in one that had lost nothing is enough."""
    pytester = project()
    pytester.runpytest(*ARGUMENTS, "--drift-results", "before")
    model = pytester.path / "model.py"
    forgets = "return 'She takes metformin 500 mg twice daily. She lives alone.' if 'Cleo' in str(messages) else "
    text = model.read_text("utf-8")
    model.write_text(
        text.replace("        if probing:\n            return ", f"        if probing:\n            {forgets}"), "utf-8"
    )
    pytester.runpytest(*ARGUMENTS, "--drift-results", "after")
    before, after = (str(pytester.path / name / "python-model-make") for name in ("before", "after"))
    assert main(["compare", before, after, "--fail-if-worse"]) == 1
    assert "new severe failure in cleo" in " ".join(capsys.readouterr().out.split())
    assert main(["compare", after, before, "--fail-if-worse"]) != 1
    assert "new severe failure" not in " ".join(capsys.readouterr().out.split())
