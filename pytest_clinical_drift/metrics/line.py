"""The slope of one curve with its uncertainty: least squares, and Theil-Sen, which a single odd turn cannot move."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pytest_clinical_drift.metrics.drift import fit_slope


@dataclass(frozen=True, slots=True)
class LineFigures:
    """A line through a recall curve."""

    slope: float
    """Ordinary least squares, change per turn."""
    low: float | None
    """Limits of the slope from the scatter around the line; None below three points or without scatter."""
    high: float | None
    r_squared: float | None
    """None for a constant curve."""
    theil_sen: float
    """Median of the slopes between all pairs of turns."""
    theil_sen_low: float | None
    theil_sen_high: float | None
    points: int


def line_figures(curve: Sequence[float | None], *, confidence: float = 0.95) -> LineFigures | None:
    """Both slopes of a curve; index 0 is turn 1, missing turns keep their place; None below two points."""
    fit = fit_slope(curve)
    if fit is None:
        return None
    points = [(turn, value) for turn, value in enumerate(curve, start=1) if value is not None]
    turns = np.array([turn for turn, _ in points], dtype=float)
    values = np.array([value for _, value in points], dtype=float)
    residual = float(((values - fit.intercept - fit.slope * turns) ** 2).sum())
    spread = float(((turns - turns.mean()) ** 2).sum())
    low = high = robust_low = robust_high = None
    if len(points) > 2 and residual > 1e-15:
        from scipy.special import stdtrit

        error = (residual / (len(points) - 2) / spread) ** 0.5
        wing = float(stdtrit(len(points) - 2, (1 + confidence) / 2)) * error
        low, high = fit.slope - wing, fit.slope + wing
        robust_low, robust_high = _theil_sen_limits(turns, values, confidence)
    return LineFigures(
        fit.slope, low, high, fit.r_squared, _median_slope(turns, values), robust_low, robust_high, len(points)
    )


def _pair_slopes(turns: np.ndarray, values: np.ndarray) -> np.ndarray:
    first, second = np.triu_indices(len(turns), k=1)
    slopes: np.ndarray = (values[second] - values[first]) / (turns[second] - turns[first])
    return slopes


def _median_slope(turns: np.ndarray, values: np.ndarray) -> float:
    return float(np.median(_pair_slopes(turns, values)))


def _theil_sen_limits(turns: np.ndarray, values: np.ndarray, confidence: float) -> tuple[float, float]:
    from scipy.stats import theilslopes

    found = theilslopes(values, turns, alpha=confidence)
    return float(found.low_slope), float(found.high_slope)


def steepest_slope(turns: int) -> float:
    """The most negative slope that so many recall values between 0 and 1 can have: 1 for the first half, then 0."""
    if turns < 2:
        return 0.0
    middle = (turns + 1) / 2
    spread = sum((turn - middle) ** 2 for turn in range(1, turns + 1))
    return -sum(turn - middle for turn in range(1, turns + 1) if turn > middle) / spread
