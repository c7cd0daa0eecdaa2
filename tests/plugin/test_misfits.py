"""Packages that do not fit together, as numpy below 2 and what was built for numpy 2: one sentence, no traceback."""

from __future__ import annotations

import sys
from importlib.metadata import version
from pathlib import Path

import pytest
from small_project import RULES_ONLY, Project

from pytest_clinical_drift.errors import MissingDependency
from pytest_clinical_drift.evidence.entities import load_extractor
from pytest_clinical_drift.evidence.reading.text import read
from pytest_clinical_drift.ranking.files import read_table

USES = {
    "spacy": lambda: load_extractor("scispacy").extract(read("gout")),
    "polars": lambda: read_table(Path("slate.csv")),
}
ADVICE = {
    "spacy": "pip install 'pytest-clinical-drift[scispacy]' in an environment of its own, because scispacy needs "
    "numpy < 2 and other extras need numpy 2",
    "polars": "pip install 'pytest-clinical-drift[ranking]' in an environment without scispacy",
}


@pytest.mark.parametrize("package", list(USES))
@pytest.mark.parametrize("fails_with", ["ValueError", "ImportError", "AttributeError"])
def test_a_package_built_for_another_numpy(
    package: str, fails_with: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Importing it fails somehow: the sentence has the cause and the extra to install elsewhere."""
    _shadow(monkeypatch, tmp_path, package, f"raise {fails_with}('numpy.dtype size changed\\nand more')")
    with pytest.raises(MissingDependency) as told:
        USES[package]()
    sentence = str(told.value)
    assert sentence.startswith(package)
    assert f" beside numpy {version('numpy')} cannot be loaded" in sentence
    assert f"({fails_with}: numpy.dtype size changed and more)" in sentence
    assert sentence.endswith(ADVICE[package])


@pytest.mark.parametrize(
    ("package", "options"),
    [("spacy", [*RULES_ONLY, "--drift-ner", "scispacy"]), ("polars", ["--drift-slate", "slate"])],
)
def test_a_run_that_needs_it_ends_with_the_sentence(
    project: Project, monkeypatch: pytest.MonkeyPatch, package: str, options: list[str]
) -> None:
    """Exit code 4 before anything is asked of the model."""
    pytester = project("anna")
    _shadow(monkeypatch, pytester.path, package, "raise ValueError('numpy.dtype size changed')")
    pytester.mkdir("slate").joinpath("predictions.csv").write_text("disease_name,drug_name\n", encoding="utf-8")
    result = pytester.runpytest(*options)
    assert result.ret == 4
    (line,) = [line for line in result.errlines if line]
    assert line.startswith(f"ERROR: {package} ")
    assert line.endswith(ADVICE[package])


def _shadow(monkeypatch: pytest.MonkeyPatch, folder: Path, package: str, source: str) -> None:
    (folder / f"{package}.py").write_text(source, encoding="utf-8")
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, package, raising=False)
