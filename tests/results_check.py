"""Every results file that a test run leaves keeps to the published schema."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema

from pytest_clinical_drift.results.schema import shipped_schema

_LARGEST = 4_000_000
"""Bytes; larger files hold more of the same."""


@cache
def _validator() -> Any:
    return jsonschema.Draft202012Validator(json.loads(shipped_schema()))


def check_results_below(folder: Path) -> int:
    """Check every results file below a folder; returns how many there are."""
    files = [file for file in folder.rglob("study_c_results.json") if file.stat().st_size < _LARGEST]
    for file in files:
        content = json.loads(file.read_text(encoding="utf-8"))
        if isinstance(content, dict) and content.get("schema_version"):  # tests also damage files on purpose
            _validator().validate(content)
    return len(files)
