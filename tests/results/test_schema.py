"""The published schema and what is written; that it is what the models say: `tests/test_reference.py`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from made import flat
from results_check import check_results_below, validator
from test_results_file import CASES, made

from pytest_clinical_drift.report.json_file import write_results


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A record with every kind of verdict."""
    return json.loads(write_results(made(CASES), tmp_path_factory.mktemp("record")).read_text(encoding="utf-8"))


def test_a_written_record_keeps_to_it(written: Any, tmp_path: Path) -> None:
    """With every kind of verdict, and with a single case."""
    validator().validate(written)
    write_results(made([[flat("a")]]), tmp_path)
    assert check_results_below(tmp_path) == 1


@pytest.mark.parametrize(
    ("key", "value"),
    [("verdict", "GOOD"), ("schema_version", 2), ("cases", None), ("reasons", ["a sentence"]), ("cases_total", "3")],
)
def test_what_is_not_a_record_is_refused(written: Any, key: str, value: object) -> None:
    """A word that is no verdict, another version, sentences instead of codes."""
    with pytest.raises(jsonschema_rs.ValidationError):
        validator().validate({**written, key: value})
