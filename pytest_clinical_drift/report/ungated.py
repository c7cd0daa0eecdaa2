"""What is shown beside the verdict and never gated: the mean curve, repeats, the baseline, the sanity band."""

from __future__ import annotations

from pytest_clinical_drift.report.page import text_lines
from pytest_clinical_drift.report.reasons import reason_texts
from pytest_clinical_drift.results.models import RunResult


def ungated_lines(result: RunResult) -> list[str]:
    """A line each; details are indented."""
    notes = reason_texts(result.baseline.notes) if result.baseline else []
    return text_lines("ungated.txt.j2", "lines", result=result, notes=notes)
