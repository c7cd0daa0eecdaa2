"""`slate_results.json`: every figure of a slate with its count, its interval or the reason why there is none."""

from __future__ import annotations

from typing import Any

from pytest_clinical_drift.ranking.figures import Figure
from pytest_clinical_drift.ranking.gate import NOTHING_YET, SlateJudgement
from pytest_clinical_drift.ranking.prospective import Cell, ViewFigures
from pytest_clinical_drift.ranking.slate import Slate
from pytest_clinical_drift.verdict.slate_limits import TIERS

MEANING = (
    "The gate looks at pairs that were open when the slate was frozen, and at high-signal outcomes dated after it. "
    "Figures over all outcomes follow the published formulas; outcomes older than the slate are in them, so they show "
    "agreement with history, not foresight. A score is an order, not a probability."
)


def observed_sentence(figures: ViewFigures) -> str:
    """What the reader must know first: whether anything prospective was seen at all."""
    cell = figures.tiers["all"]
    left_out = f" {figures.left_out} pairs were known at freeze and take no part." if figures.left_out else ""
    if not figures.observed:
        return f"{NOTHING_YET[0].upper()}{NOTHING_YET[1:]}.{left_out}"
    came_true = f"{cell.hits} of {cell.predictions} open predictions"
    return f"{came_true} have a high-signal outcome dated after the freeze.{left_out}"


def view_record(slate: Slate, figures: ViewFigures) -> dict[str, Any]:
    """All figures of one reading of the outcomes."""
    return {
        "tiers": {name: _cell(cell) for name, cell in figures.tiers.items()},
        "by_disease": [
            {"disease": disease, "tiers": {name: _cell(cell) for name, cell in cells.items()}}
            for disease, cells in zip(slate.diseases, figures.diseases, strict=True)
        ],
        "calibration_bins": list(figures.calibration),
        "days_to_event": [{"tier": TIERS[tier], "days": days} for tier, days in figures.days],
        "pairs_known_at_freeze": figures.left_out,
    }


def _cell(cell: Cell) -> dict[str, Any]:
    figures = {name: _figure(figure) for name, figure in cell.figures.items()}
    return {"predictions": cell.predictions, "hits": cell.hits, **figures}


def judgement_record(item: SlateJudgement) -> dict[str, Any]:
    """A judgement with its figure."""
    limit = {"limit": item.limit, "detail": item.detail}
    return {"metric": item.metric, "verdict": item.verdict, **_figure(item.figure), **limit}


def _figure(figure: Figure) -> dict[str, Any]:
    plain: dict[str, Any] = {"value": figure.value, "n": figure.n}
    if figure.interval is not None:
        plain["interval"] = [figure.interval.low, figure.interval.high]
    if figure.value is None:
        plain["reason"] = figure.reason
    return plain
