"""What the dossier shows beside the results: limits in force, sign-off sheet, and the scoring's own accuracy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pytest_clinical_drift.cases.files import parse_data, read_text
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.verdict.limits import MetricLimits
from pytest_clinical_drift.verdict.thresholds import Thresholds, load_thresholds
from pytest_clinical_drift.verdict.values import label, words

SHEET = "dossier.yaml"
FIELDS = ("intended_use", "hazard_ids", "clinical_safety_officer", "reviewed_on", "decision", "signature")
"""Fields of the sign-off sheet that are shown even when they are empty."""


def gate_rows(thresholds: Thresholds) -> list[dict[str, str]]:
    """One row per limit, saying how it differs from the bundled one."""
    bundled = load_thresholds().metrics
    rows = [_row(name, limits, bundled.get(name)) for name, limits in thresholds.metrics.items()]
    blank = {"pass_limit": "", "caution_limit": "", "why": "", "change": "not gated here, gated by the bundled file"}
    return rows + [{"label": label(name), **blank} for name in bundled if name not in thresholds.metrics]


def _row(name: str, limits: MetricLimits, bundled: MetricLimits | None) -> dict[str, str]:
    change = "as bundled" if bundled else "not in the bundled file"
    if bundled and bundled != limits.model_copy(update={"why": bundled.why}):
        change = f"differs: bundled PASS {bundled.pass_limit}, CAUTION {bundled.caution_limit}"
    return {
        "label": label(name),
        "pass_limit": str(limits.pass_limit),
        "caution_limit": str(limits.caution_limit) + ("" if limits.worst == "fail" else " (never fails alone)"),
        "why": limits.why,
        "change": change,
    }


def read_dossier(root: Path) -> dict[str, Any]:
    """The project's sign-off sheet with every field; all are empty where there is no sheet."""
    file = root / SHEET
    data = parse_data(file, read_text(file)) if file.is_file() else {}
    if not isinstance(data, dict):
        raise InputError(f"{file}: expected fields such as {', '.join(FIELDS[:3])}, found {type(data).__name__}")
    return {**dict.fromkeys(FIELDS), **{str(key): value for key, value in data.items()}}


def scoring_accuracy() -> tuple[str, ...]:
    """Sentences on how well the scoring itself did on labelled data, as last measured."""
    return tuple(words("measured", "accuracy"))
