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

Values = NDArray[np.float64]

SMALLEST_CHANGE = 0.10
"""A shape needs at least this change of recall between its ends."""
RESOLUTION = 0.005
"""Recall is not read finer than this, so a perfect fit is not infinitely better than a good one."""
SHORTEST_HALF_LIFE = 0.6
"""In turns; a shorter one is a step."""
LONGEST_HALF_LIFE = 0.6
"""In lengths of the curve, but at least of ten turns; a longer one is a line."""
PARAMETERS = {"none": 1, "linear": 2, "exponential": 3, "step": 3}
HANDICAP = {"none": 0.0, "linear": 2.0, "exponential": 0.0, "step": 0.0}
"""Added to AICc: a change must earn its name, and a bend of the curve costs less than a free parameter would."""
FEWEST_POINTS = 6
"""With fewer the criterion has no room for a step, and a cliff would be called steady."""


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


def fit_shape(curve: Sequence[float | None]) -> Shape:
    """Name the shape of a recall curve; index 0 is turn 1, missing turns keep their place."""
    points = [(turn, value) for turn, value in enumerate(curve, start=1) if value is not None]
    if len(points) < FEWEST_POINTS:
        return Shape("too short", None, None)
    turns, values = np.array(points, dtype=float).T
    level, slope = np.full_like(values, values.mean()), np.polynomial.Polynomial.fit(turns, values, 1)
    line = np.clip(slope(turns), 0.0, 1.0)  # no line promises a recall beyond 1
    linear = Shape("linear", float(line[0]), float(line[-1]))
    fits = [(linear, line), _exponential(turns, values), _step(turns, values)]
    changing = [(shape, fitted) for shape, fitted in fits if abs(fitted[-1] - fitted[0]) >= SMALLEST_CHANGE - 1e-9]
    flat = Shape("none", float(level[0]), float(level[0]))
    return min([(flat, level), *changing], key=lambda fit: _aicc(fit[0].kind, values - fit[1]))[0]


def _aicc(kind: str, residuals: Values) -> float:
    """Akaike's criterion with the small-sample correction, which needs FEWEST_POINTS."""
    points, count = len(residuals), PARAMETERS[kind] + 1  # the scatter is estimated too
    spread = float((residuals**2).mean()) + RESOLUTION**2
    return float(points * np.log(spread)) + 2 * count * points / (points - count - 1) + HANDICAP[kind]


def _exponential(turns: Values, values: Values) -> tuple[Shape, Values]:
    """floor + height * 2 ** (-(t - 1) / half-life): for each half-life a line in the decaying term."""
    longest = LONGEST_HALF_LIFE * max(10.0, turns[-1] - turns[0] + 1)
    half_lives = np.geomspace(SHORTEST_HALF_LIFE, longest, 60)
    decay = 2.0 ** (-(turns - turns[0])[None, :] / half_lives[:, None])
    centred = decay - decay.mean(axis=1, keepdims=True)
    heights = (centred @ values) / (centred**2).sum(axis=1)
    floors = values.mean() - heights * decay.mean(axis=1)
    fitted = np.clip(floors[:, None] + heights[:, None] * decay, 0.0, 1.0)
    best = int(((values - fitted) ** 2).sum(axis=1).argmin())
    curve, floor = fitted[best], float(np.clip(floors[best], 0.0, 1.0))
    half_life = float(half_lives[best])
    return Shape("exponential", float(curve[0]), float(curve[-1]), half_life=half_life, floor=floor), curve


def _step(turns: Values, values: Values) -> tuple[Shape, Values]:
    """Every place for the cliff is tried."""
    places = range(1, len(values))
    tried = [np.where(np.arange(len(values)) < cut, values[:cut].mean(), values[cut:].mean()) for cut in places]
    best = int(np.argmin([((values - fitted) ** 2).sum() for fitted in tried]))
    return Shape("step", float(tried[best][0]), float(tried[best][-1]), turn=int(turns[best + 1])), tried[best]
