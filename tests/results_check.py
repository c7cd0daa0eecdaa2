"""Every results file that a test run leaves keeps to the published schema."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import jsonschema_rs

from pytest_clinical_drift.results.files import SCHEMA_FILE


@cache
def validator() -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator(json.loads(SCHEMA_FILE.read_text(encoding="utf-8")))


def check_results_below(folder: Path) -> int:
    """Check every results file below a folder; returns how many there are."""
    texts = [file.read_text(encoding="utf-8") for file in folder.rglob("study_c_results.json")]
    for text in set(texts):  # a run's file and the one on top of its folder are the same
        content = json.loads(text)
        if isinstance(content, dict) and content.get("schema_version"):  # tests also damage files on purpose
            validator().validate(content)
    return len(texts)
