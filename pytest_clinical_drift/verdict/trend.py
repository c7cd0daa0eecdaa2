"""How the set forgets: its mean curve up to the horizon, the line through it, its shape. Descriptive, never gated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_clinical_drift.metrics.line import LineFigures, line_figures
from pytest_clinical_drift.metrics.recall import mean_curve
from pytest_clinical_drift.metrics.shape import Shape, fit_shape
from pytest_clinical_drift.metrics.stats import mean_interval
from pytest_clinical_drift.scoring.assessment import Curve
from pytest_clinical_drift.verdict.case_values import Repeats

_BAND_RESAMPLES = 2_000
"""The band is drawn, not gated: fewer resamples than the figures need."""


@dataclass(frozen=True, slots=True)
class Trend:
    """The mean recall curve and what it looks like."""

    curve: Curve
    line: LineFigures | None
    shape: Shape
    case_shapes: dict[str, Shape]
    """The shape of every case's own curve by case id; steady ones and those too short to tell are left out."""
    band: tuple[tuple[float, float] | None, ...] = ()
    """Interval of the mean on every turn."""


def set_trend(cases: Sequence[Repeats], *, confidence: float = 0.95) -> Trend:
    """Repeats are averaged first, then cases; a case counts up to its own horizon."""
    curves = {repeats[0].case_id: case_curve(repeats) for repeats in cases}
    mean = tuple(mean_curve(curves.values()))
    shapes = {case_id: fit_shape(curve) for case_id, curve in curves.items()}
    telling = {name: shape for name, shape in shapes.items() if shape.kind not in ("none", "too short")}
    groups = [repeats[0].group for repeats in cases]
    band = _band(list(curves.values()), groups, len(mean), confidence)
    return Trend(mean, line_figures(mean, confidence=confidence), fit_shape(mean), telling, band)


def _band(
    curves: Sequence[Sequence[float | None]], groups: Sequence[str], turns: int, confidence: float
) -> tuple[tuple[float, float] | None, ...]:
    """The interval of the mean recall on every turn, over the cases that have a value there."""
    limits: list[tuple[float, float] | None] = []
    for turn in range(turns):
        known = [(curve[turn], group) for curve, group in zip(curves, groups, strict=True) if turn < len(curve)]
        values = [(value, group) for value, group in known if value is not None]
        interval = mean_interval(
            [value for value, _ in values],
            [group for _, group in values],
            confidence=confidence,
            worst=0.0,
            best=1.0,
            resamples=_BAND_RESAMPLES,
        )
        limits.append((interval.low, interval.high) if interval else None)
    return tuple(limits)


def case_curve(repeats: Repeats) -> list[float | None]:
    """A case's recall up to the horizon, averaged over its repeats."""
    return mean_curve([run.recall_curve[: run.horizon] for run in repeats])
