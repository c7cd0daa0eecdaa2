"""The published schema is what the models say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from made import flat
from test_results_file import CASES, made

from pytest_clinical_drift.report.json_file import write_results
from pytest_clinical_drift.results.schema import make_schema, shipped_schema


@pytest.fixture(scope="module")
def schema() -> Any:
    return json.loads(shipped_schema())


def test_the_shipped_schema_is_up_to_date() -> None:
    """Whoever changes a model runs `python -m pytest_clinical_drift.results.schema`."""
    assert shipped_schema() == make_schema()


def test_a_written_record_keeps_to_it(schema: Any, tmp_path: Path) -> None:
    """With every kind of verdict, and with a single case."""
    for number, cases in enumerate((CASES, [[flat("a")]])):
        plain = json.loads(write_results(made(cases), tmp_path / str(number)).read_text(encoding="utf-8"))
        jsonschema.validate(plain, schema)


@pytest.mark.parametrize(
    ("key", "value"),
    [("verdict", "GOOD"), ("schema_version", 2), ("cases", None), ("reasons", ["a sentence"]), ("cases_total", "3")],
)
def test_what_is_not_a_record_is_refused(schema: Any, tmp_path: Path, key: str, value: object) -> None:
    """A word that is no verdict, another version, sentences instead of codes."""
    plain = json.loads(write_results(made(CASES), tmp_path).read_text(encoding="utf-8"))
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**plain, key: value}, schema)
