"""The shape of forgetting: which of four simple stories a recall curve tells.

none         recall stays where it is
linear       the same loss every turn
exponential  fast at first, then settling on a floor
step         a cliff: one level before a turn, another from it on

Each is fitted by least squares; the one with the lowest AICc wins. AICc is Akaike's criterion with the correction that
ten points need; the turn of a step is searched for, so it counts as a parameter. A fall that no reader would call one
(less than SMALLEST_CHANGE from end to end) is "none" whatever the criterion says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pytest_clinical_drift.metrics.drift import fit_slope

Values = NDArray[np.float64]

SMALLEST_CHANGE = 0.10
"""A shape needs at least this change of recall between its ends."""
RESOLUTION = 0.005
"""Recall is not read finer than this, so a perfect fit is not infinitely better than a good one."""
HALF_LIVES = np.geomspace(0.6, 6.0, 60)
"""Half-lives that are tried, in turns: shorter ones are a step, longer ones a line within ten turns."""
HANDICAP = {"none": 0.0, "linear": 2.0, "exponential": 0.0, "step": 0.0}
"""Added to AICc: a change must earn its name, and a bend of the curve costs less than a free parameter would."""
FEWEST_POINTS = 4

_ARTEFACT_SHARE = 0.34
_ARTEFACT_DROP = 0.05


@dataclass(frozen=True, slots=True)
class Shape:
    """The story that a curve tells best."""

    kind: str
    """none, linear, exponential or step; "too short" when there are too few turns to tell."""
    start: float | None
    """Fitted recall at the first turn (before the step)."""
    end: float | None
    """Fitted recall at the last turn (after the step)."""
    turn: int | None = None
    """First turn after the step."""
    half_life: float | None = None
    """Turns in which half of the way to the floor is gone."""
    floor: float | None = None
    first_turn_only: bool = False
    """The loss lies between turn 1 and turn 2 alone, and from turn 2 on nothing more is lost."""
    points: int = 0


@dataclass(frozen=True, slots=True)
class _Fit:
    kind: str
    residual: float
    parameters: int
    start: float
    end: float
    turn: int | None = None
    half_life: float | None = None
    floor: float | None = None


def fit_shape(curve: Sequence[float | None]) -> Shape:
    """Name the shape of a recall curve; index 0 is turn 1, missing turns keep their place."""
    points = [(turn, value) for turn, value in enumerate(curve, start=1) if value is not None]
    if len(points) < FEWEST_POINTS:
        return Shape("too short", None, None, points=len(points))
    turns = np.array([turn for turn, _ in points], dtype=float)
    values = np.array([value for _, value in points], dtype=float)
    flat = _flat(values)
    fits = [flat, _linear(turns, values), _exponential(turns, values), _step(turns, values)]
    changing = [fit for fit in fits[1:] if abs(fit.end - fit.start) >= SMALLEST_CHANGE - 1e-9]
    best = min([flat, *changing], key=lambda fit: _aicc(fit, len(points)))
    return Shape(
        kind=best.kind,
        start=best.start,
        end=best.end,
        turn=best.turn,
        half_life=best.half_life,
        floor=best.floor,
        first_turn_only=first_turn_carries_slope(curve),
        points=len(points),
    )


def _aicc(fit: _Fit, points: int) -> float:
    """Akaike's criterion with the small-sample correction; infinite with too few points for the parameters."""
    count = fit.parameters + 1  # the scatter is estimated too
    if points - count - 1 <= 0:
        return float("inf")
    spread = fit.residual / points + RESOLUTION**2
    penalty = 2 * count + 2 * count * (count + 1) / (points - count - 1) + HANDICAP[fit.kind]
    return float(points * np.log(spread)) + penalty


def _flat(values: Values) -> _Fit:
    level = float(values.mean())
    return _Fit("none", float(((values - level) ** 2).sum()), 1, level, level)


def _linear(turns: Values, values: Values) -> _Fit:
    slope, level = np.polyfit(turns - turns.mean(), values, 1)
    fitted = np.clip(level + slope * (turns - turns.mean()), 0.0, 1.0)  # no line promises a recall beyond 1
    return _Fit("linear", float(((values - fitted) ** 2).sum()), 2, float(fitted[0]), float(fitted[-1]))


def _exponential(turns: Values, values: Values) -> _Fit:
    """floor + height * 2 ** (-(t - 1) / half-life): for each half-life a line in the decaying term."""
    decay = 2.0 ** (-(turns - turns[0])[None, :] / HALF_LIVES[:, None])
    centred = decay - decay.mean(axis=1, keepdims=True)
    heights = (centred @ values) / (centred**2).sum(axis=1)
    floors = values.mean() - heights * decay.mean(axis=1)
    fitted = np.clip(floors[:, None] + heights[:, None] * decay, 0.0, 1.0)
    residuals = ((values - fitted) ** 2).sum(axis=1)
    best = int(residuals.argmin())
    return _Fit(
        "exponential",
        float(residuals[best]),
        3,
        float(fitted[best, 0]),
        float(fitted[best, -1]),
        half_life=float(HALF_LIVES[best]),
        floor=float(np.clip(floors[best], 0.0, 1.0)),
    )


def _step(turns: Values, values: Values) -> _Fit:
    """Every place for the cliff is tried; sums from both sides give all residuals at once."""
    count = len(values)
    before = np.arange(1, count)
    left = np.cumsum(values)[:-1] / before
    right = (values.sum() - np.cumsum(values)[:-1]) / (count - before)
    residuals = (values**2).sum() - before * left**2 - (count - before) * right**2
    best = int(residuals.argmin())
    turn = int(turns[best + 1])
    return _Fit("step", max(0.0, float(residuals[best])), 3, float(left[best]), float(right[best]), turn=turn)


def first_turn_carries_slope(curve: Sequence[float | None]) -> bool:
    """Whether turn 1 alone makes the slope: recall falls after it and then stays, so beta is no rate of forgetting."""
    if len(curve) < FEWEST_POINTS or curve[0] is None:
        return False
    whole, rest = fit_slope(curve), fit_slope([None, *curve[1:]])
    later = [value for value in curve[1:] if value is not None]
    if whole is None or rest is None or len(later) < FEWEST_POINTS - 1:
        return False
    drop = curve[0] - sum(later) / len(later)
    return drop >= _ARTEFACT_DROP and whole.slope < 0 and rest.slope > _ARTEFACT_SHARE * whole.slope
