"""PDSQI-9 of a run in rows: for the annex of the dossier and for comparisons, never on the page to sign."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_clinical_drift.results.files import NamedRun
from pytest_clinical_drift.results.models import RunResult
from pytest_clinical_drift.verdict.quality import AttributeFigures


def quality_rows(result: RunResult) -> list[tuple[str, ...]]:
    """Attribute, mean at turn 10 and at the end, cases, ICC of the two wordings."""
    return [
        (row.attribute, _figure(row.at_horizon), _figure(row.at_end), str(row.cases), _icc(row)) for row in result.pdsqi
    ]


def quality_table(runs: Sequence[NamedRun]) -> list[tuple[str, ...]]:
    """A row per attribute, a column per run with its mean at the end; empty where no run was rated."""
    names = next(([row.attribute for row in result.pdsqi] for _, result in runs if result.pdsqi), [])
    found = [{row.attribute: _figure(row.at_end) for row in result.pdsqi} for _, result in runs]
    return [(name, *(column.get(name, "–") for column in found)) for name in names]


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _icc(row: AttributeFigures) -> str:
    if row.icc is None:
        return "undefined: no variation" if row.cases > 1 else "–"
    return f"{row.icc:.2f}" + (f" ({row.icc_low:.2f} to {row.icc_high:.2f})" if row.icc_low is not None else "")
