"""What stands beside the verdict and is never gated: the set's curve and its shape, repeats that disagree."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_clinical_drift.metrics.drift import SlopeFit, fit_slope
from pytest_clinical_drift.metrics.recall import mean_curve
from pytest_clinical_drift.metrics.shape import Shape, fit_shape
from pytest_clinical_drift.metrics.stats import Spread, mean_interval, repeat_spread
from pytest_clinical_drift.scoring.assessment import Curve
from pytest_clinical_drift.verdict.case import judge_case
from pytest_clinical_drift.verdict.measures import Repeats
from pytest_clinical_drift.verdict.states import Verdict
from pytest_clinical_drift.verdict.thresholds import Thresholds

_BAND_RESAMPLES = 2_000
"""The band is drawn, not gated: fewer resamples than the figures need."""


@dataclass(frozen=True, slots=True)
class Trend:
    """The mean recall curve up to the horizon and what it looks like."""

    curve: Curve
    line: SlopeFit | None
    shape: Shape
    case_shapes: dict[str, Shape]
    """The shape of every case's own curve by case id; steady ones and those too short to tell are left out."""
    band: tuple[tuple[float, float] | None, ...]
    """Interval of the mean on every turn, over the cases that have a value there."""


def set_trend(cases: Sequence[Repeats], *, confidence: float = 0.95) -> Trend:
    """Repeats are averaged first, then cases; a case counts up to its own horizon."""
    curves = {repeats[0].case_id: mean_curve([run.recall_curve[: run.horizon] for run in repeats]) for repeats in cases}
    mean = tuple(mean_curve(curves.values()))
    shapes = {case_id: fit_shape(curve) for case_id, curve in curves.items()}
    changing = {name: shape for name, shape in shapes.items() if shape.kind not in ("none", "too short")}
    grouped = [(curve, repeats[0].group) for curve, repeats in zip(curves.values(), cases, strict=True)]
    band = tuple(
        _limits([(curve[turn], group) for curve, group in grouped if turn < len(curve)], confidence)
        for turn in range(len(mean))
    )
    return Trend(mean, fit_slope(mean), fit_shape(mean), changing, band)


def _limits(values: Sequence[tuple[float | None, str]], confidence: float) -> tuple[float, float] | None:
    known = [(value, group) for value, group in values if value is not None]
    interval = mean_interval(
        [value for value, _ in known],
        [group for _, group in known],
        confidence=confidence,
        worst=0.0,
        best=1.0,
        resamples=_BAND_RESAMPLES,
    )
    return (interval.low, interval.high) if interval else None


@dataclass(frozen=True, slots=True)
class FlakyCase:
    """A case whose repeats, each judged alone, do not agree."""

    case_id: str
    verdicts: tuple[Verdict, ...]
    """One per repeat."""
    recalls: tuple[float | None, ...]
    """Recall@T10 of each repeat."""


@dataclass(frozen=True, slots=True)
class RepeatFigures:
    """Variation between conversations of the same case under sampled decoding."""

    repeats: int
    recall: Spread
    flaky: tuple[FlakyCase, ...]


def repeat_figures(cases: Sequence[Repeats], thresholds: Thresholds, today: datetime.date) -> RepeatFigures | None:
    """Spread within cases and those that change their verdict by chance; None when no case was repeated."""
    if not any(len(repeats) > 1 for repeats in cases):
        return None
    recalls = [tuple(run.recall_at_horizon for run in repeats) for repeats in cases]
    flaky = []
    for repeats, found in zip(cases, recalls, strict=True):
        verdicts = tuple(judge_case([run], thresholds, today).verdict for run in repeats)
        if len(set(verdicts)) > 1:
            flaky.append(FlakyCase(repeats[0].case_id, verdicts, found))
    spread = repeat_spread([[value for value in found if value is not None] for found in recalls])
    return RepeatFigures(max(map(len, cases)), spread, tuple(flaky))
