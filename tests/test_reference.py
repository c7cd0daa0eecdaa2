"""docs/reference.md and the schema are what the code says, and the results file holds what the page lists."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest

from pytest_clinical_drift.cases.files import bundled_cases
from pytest_clinical_drift.results.files import SCHEMA_FILE

DOCS = Path(__file__).parent.parent / "docs"


@pytest.fixture(scope="module")
def maker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_reference", DOCS / "make_reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_page_is_up_to_date(maker: ModuleType) -> None:
    """Whoever changes an option, a command or a type runs `python docs/make_reference.py`."""
    assert (DOCS / "reference.md").read_text(encoding="utf-8") == maker.page()


def test_the_shipped_schema_is_up_to_date(maker: ModuleType) -> None:
    """Whoever changes a model of the run record runs `python docs/make_reference.py`."""
    assert SCHEMA_FILE.read_text(encoding="utf-8") == maker.schema()


def test_page_lists_the_fields_that_a_run_writes(maker: ModuleType, pytester: pytest.Pytester) -> None:
    """Every key of a real results file and its manifest has its line, and no line is about a key that is not there."""
    case = min(bundled_cases().iterdir())
    result = pytester.runpytest("--model", "control:steady", "--drift-cases", str(case))
    assert result.ret == 0, result.stdout.str()
    record = json.loads((pytester.path / "results" / "control-steady" / "study_c_results.json").read_text("utf-8"))
    assert set(record) - set(maker.SOMETIMES) == set(maker.RESULTS)
    assert set(record["manifest"]) == set(maker.MANIFEST)
    assert set(record["cases"][0]) == {
        "case_id",
        "verdict",
        "headline",
        "diagnosis",
        "diagnosed",
        "unsettled",
        "doubts",
        "judgements",
        "waiver",
        "repeats",
    }
