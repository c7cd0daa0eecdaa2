"""PDSQI-9 of a run in rows: for the annex of the dossier, never on the page to sign."""

from __future__ import annotations

from pytest_clinical_drift.report.words import optional
from pytest_clinical_drift.results.models import RunResult
from pytest_clinical_drift.verdict.quality import AttributeFigures


def quality_rows(result: RunResult) -> list[tuple[str, ...]]:
    """Attribute, mean at turn 10 and at the end, cases, ICC of the two wordings."""
    return [
        (row.attribute, optional(row.at_horizon), optional(row.at_end), str(row.cases), _icc(row))
        for row in result.pdsqi
    ]


def _icc(row: AttributeFigures) -> str:
    if row.icc is None:
        return "undefined: no variation" if row.cases > 1 else "–"
    return f"{row.icc:.2f}" + (f" ({row.icc_low:.2f} to {row.icc_high:.2f})" if row.icc_low is not None else "")
