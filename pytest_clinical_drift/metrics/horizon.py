"""How long a memory lasts: recall at the end, the fall on the way, and the turn up to which a set's recall holds."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile

import numpy as np

from pytest_clinical_drift.metrics.bootstrap import RESAMPLES, Table
from pytest_clinical_drift.metrics.intervals import mean_intervals
from pytest_clinical_drift.metrics.recall import SlopeFit, fit_slope, mean

SLOPE_TURNS = 20
"""Turns to which the slope is fitted."""
FEWEST_CASES = 17
"""Below this many independent cases even a set without a loss has a lower limit below 0.80: no interval is given."""

Curve = Sequence[float | None]
"""Recall by turn, index 0 is turn 1; None where the turn was not probed or not evaluated."""


def fall(first: Sequence[float], last: Sequence[float]) -> float | None:
    """Mean recall at the first two scheduled probes minus that at the last two; lower is better, negative is a gain.

    Both hold the recall of every scheduled probe, and may be of different ends. None below four probes.
    """
    return None if len(first) < 4 else (sum(first[:2]) - sum(last[-2:])) / 2


def early_slope(curve: Curve, worst: Curve | None = None) -> SlopeFit | None:
    """The line through turns 1 to 20, or through the whole of a shorter curve; None below two points.

    With `worst`, the steepest fall that values between the two curves allow: values after the mean turn pull the line
    down, those before it up. So the worse ones count after it: whatever is dismissed later, it falls no faster.
    """
    early = curve[:SLOPE_TURNS]
    if worst is not None:
        middle = mean(turn for turn, value in enumerate(early) if value is not None) or 0.0
        early = [worst[turn] if turn > middle else value for turn, value in enumerate(early)]
    return fit_slope(early)


def carried(curve: Curve) -> list[float | None]:
    """The curve with every gap filled by the last value before it; None before the first."""
    filled: list[float | None] = []
    last: float | None = None
    for value in curve:
        if value is not None:
            last = value
        filled.append(last)
    return filled


@dataclass(frozen=True, slots=True)
class Horizon:
    """Up to which turn the mean recall of a set stays above a limit."""

    point: float | None
    """Where the mean crosses the limit, between two probes; None: it does not, up to `probed_to`."""
    low: int | None
    """Last probe up to which the lower limit is above; 0: not even at the first; None: too few cases to say."""
    high: int | None
    """First probe at which the upper limit is below; None: at none, or too few cases to say."""
    probed_to: int
    """The last probe: where nothing falls, the horizon is at least this."""
    cases: int
    """Independent ones."""


def drift_horizon(
    table: Table,
    probes: Sequence[int],
    groups: Sequence[str],
    *,
    limit: float,
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
) -> Horizon | None:
    """The drift horizon of recalls (cases x probes, probes in order of turns); larger is better; None without cases.

    The interval runs from the last probe up to which the lower confidence limit of the mean is above `limit` to the
    first at which the upper one is below. The point lies between: where the straight line between two neighbouring
    probes first comes down to the limit. Limits resample whole groups, as `mean_intervals` does. With fewer than
    FEWEST_CASES groups there is only the point.
    """
    if not table.size:
        return None
    units = len(set(groups))
    point = crossing(table.mean(axis=0), probes, limit)
    if units < FEWEST_CASES:
        return Horizon(point, None, None, probes[-1], units)
    limits = mean_intervals(table.T, groups, (0.0, 1.0), confidence=confidence, resamples=resamples)
    by_turn = list(zip(probes, limits, strict=True))
    held = [turn for turn, _ in takewhile(lambda probe: probe[1].low > limit, by_turn)]
    high = next((turn for turn, found in by_turn if found.high < limit), None)
    return Horizon(point, held[-1] if held else 0, high, probes[-1], units)


def crossing(means: Sequence[float] | Table, probes: Sequence[int], limit: float) -> float | None:
    """The turn at which a curve first comes down to the limit, on the line between its probes; None: it never does."""
    points = [(float(turn), float(value)) for turn, value in zip(probes, means, strict=True)]
    if points and points[0][1] <= limit:
        return points[0][0]
    for (left, above), (right, below) in pairwise(points):
        if below <= limit:
            return left + (right - left) * (above - limit) / (above - below)
    return None


def common_probes(curves: Sequence[Curve]) -> tuple[Table, list[int]]:
    """Recalls at the turns at which every case has one (cases x turns), and these turns.

    Where cases differ in length the mean over those that are left would jump: the table ends with the shortest.
    """
    turns = [turn for turn, row in enumerate(zip(*curves, strict=False), start=1) if None not in row]
    rows = [[curve[turn - 1] for turn in turns] for curve in curves]
    return np.array(rows, dtype=float).reshape(len(curves), len(turns)), turns
