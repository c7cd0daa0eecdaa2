"""The benchmark on errors that nobody planted: what is counted of three answers to one text."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from types import ModuleType

import pytest

from pytest_clinical_drift.judging.readings import FactLine, Reading


@pytest.fixture
def benchmark(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(Path(__file__).resolve().parents[1]))
    return importlib.import_module("benchmarks.natural_errors")


def test_entries_are_counted_against_both_labels(benchmark: ModuleType, tmp_path: Path) -> None:
    """Facts: one fault found, one disputed, one unsure for its quotation. Statements: a heading belongs to its line."""
    text = "**Allergies:**\n- None known\n\nTakes aspirin. Lives in Bath. Takes aspirin."
    facts = tuple(FactLine(name, name) for name in ("allergy", "aspirin", "home"))
    reading = Reading("summary", "anna", 1, text, "Turn 1: Hello.", "A record.", facts=facts)
    item = {"id": "001", "model": "weak", "mapping": reading.as_mapping()}
    (tmp_path / "items.jsonl").write_text(json.dumps(item) + "\n", encoding="utf-8")
    listed = [{"quote": "None known", "grade": "severe"}]
    one = {"facts": {"allergy": "contradicted", "aspirin": "retained", "home": "retained"}, "unsupported": listed}
    two = {**one, "facts": {**one["facts"], "home": "absent"}}  # type: ignore[dict-item]
    judge = {
        "facts": {
            "allergy": {"answer": "contradicted", "quote": "None known"},
            "aspirin": {"answer": "retained", "quote": "takes ibuprofen"},
            "home": {"answer": "retained", "quote": "Lives in Bath."},
        },
        "unsupported": [{"quote": "**Allergies:**\n- None known", "grade": "severe", "reason": "r"}],
    }
    for name, given in (("label_a", one), ("label_b", two), ("judge", judge)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "batch01.out.json").write_text(json.dumps({"001": given}), encoding="utf-8")
    rows, faults = benchmark.judged_entries(tmp_path)
    assert faults == []
    assert [(row.kind, row.key, row.disputed, row.right) for row in rows] == [
        ("fact", "allergy", False, True),
        ("fact", "aspirin", False, False),
        ("fact", "home", True, False),
        ("invented", "0: Allergies: - None known", False, True),
        ("invented", "1: Takes aspirin.", False, True),
        ("invented", "2: Lives in Bath.", False, True),
    ]


def test_the_committed_answers_are_whole(benchmark: ModuleType) -> None:
    rows, faults = benchmark.judged_entries(benchmark.FOLDER)
    assert faults == []
    assert len({row.item for row in rows}) == 200
