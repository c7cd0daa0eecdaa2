"""Bootstrap of a mean over cases, resampling whole groups: seeded, vectorised over many columns at once.

The limits are BCa (bias-corrected and accelerated). Plain BCa is too narrow with a few dozen groups, so the normal
quantile is replaced by Student's t, with fewer degrees of freedom the heavier the tails of what was seen, and it is
stretched by sqrt((n + c) / (n - 1)), with a larger c for the bad end, on which a PASS rests. With `corrected=False` the
limits are those of `scipy.stats.bootstrap(method="BCa")`.

c = 0 is the correction for narrowness of T. Hesterberg, "What Teachers Should Know About the Bootstrap", The American
Statistician 69 (2015) 371-386, section 4; c = 6 is wider. The share of 1,500 sets whose lower limit lies above the
truth (nominal 0.025; recall is Beta(30, 1.5) in 85 % of the cases, else Beta(6, 4); `python -m benchmarks.decisions`):

    cases          17     20     30     40     60    100
    BCa         0.085  0.075  0.051  0.039  0.039  0.028
    c = 0       0.071  0.060  0.037  0.023  0.029  0.023
    c = 6       0.062  0.054  0.031  0.019  0.025  0.019
"""

from collections.abc import Iterable
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pytest_clinical_drift.metrics import SEED

Table = NDArray[np.float64]

RESAMPLES = 10_000
STRETCH_BAD = 6.0
"""c of the end towards the worst value; see the table above."""
STRETCH_GOOD = 1.0
"""c of the other end."""

_CHUNK = 4_000_000
"""Most draws held at once, which bounds the memory for large sets."""
_TIE = 1e-12
_FEWEST_FREEDOM = 8
"""Heavier tails than this come from a few cases unlike the rest, for which the exact limits stand in."""


def group_sums(table: Table, groups: ArrayLike) -> tuple[Table, Table]:
    """Per group the sum of each column (units x columns) and the number of cases (units)."""
    names, membership = np.unique(groups, return_inverse=True)
    sums = np.zeros((len(names), table.shape[1]))
    np.add.at(sums, membership, table)
    return sums, np.bincount(membership).astype(float)


def resampled_means(sums: Table, counts: Table, *, seed: int, resamples: int) -> Table:
    """The mean in every resample of the groups: columns x resamples."""
    units = len(counts)
    rows_at_once = max(1, _CHUNK // units)
    parts: Iterable[Table]
    if resamples <= rows_at_once:
        parts = [_cached_draws(units, resamples, seed)]
    else:
        generator = np.random.default_rng(seed)
        starts = range(0, resamples, rows_at_once)
        parts = (_draw(generator, units, min(rows_at_once, resamples - start)) for start in starts)
    # einsum, not `@`: products this thin are memory-bound, and BLAS threads only wait for each other
    return np.concatenate(
        [np.einsum("ru,uc->cr", drawn, sums) / np.einsum("ru,u->r", drawn, counts) for drawn in parts], axis=1
    )


@lru_cache(maxsize=4)
def _cached_draws(units: int, resamples: int, seed: int) -> Table:
    return _draw(np.random.default_rng(seed), units, resamples)


def _draw(generator: np.random.Generator, units: int, resamples: int) -> Table:
    """How often each group is in each resample: resamples x units."""
    drawn = generator.integers(0, units, size=(resamples, units))
    drawn += np.arange(resamples)[:, None] * units
    return np.bincount(drawn.ravel(), minlength=resamples * units).reshape(resamples, units).astype(float)


def bca_limits(  # noqa: PLR0913  # each option is a choice of the method that callers name
    sums: Table,
    counts: Table,
    *,
    confidence: float,
    bad_end_is_low: bool = True,
    corrected: bool = True,
    seed: int = SEED,
    resamples: int = RESAMPLES,
) -> tuple[Table, Table]:
    """Lower and upper BCa limits of sum / count for every column; a column without spread gets its own mean twice."""
    from scipy.special import ndtr, ndtri

    units = len(counts)
    total = sums.sum(axis=0)
    means = resampled_means(sums, counts, seed=seed, resamples=resamples)
    observed = total / counts.sum()
    without_one = (total - sums) / (counts.sum() - counts)[:, None]
    pull = without_one.mean(axis=0) - without_one
    squares = (pull**2).sum(axis=0)
    spread = squares > _TIE**2
    acceleration = np.where(spread, (pull**3).sum(axis=0) / (6 * np.where(spread, squares, 1.0) ** 1.5), 0.0)
    below = (means < observed[:, None] - _TIE).mean(axis=1)
    at_most = (means <= observed[:, None] + _TIE).mean(axis=1)
    # half a resample keeps the quantile finite when every resample lies on one side
    bias = ndtri(np.clip((below + at_most) / 2, 0.5 / resamples, 1 - 0.5 / resamples))
    wing = -ndtri((1 - confidence) / 2)
    stretches = np.ones(2)
    if corrected:
        wing = _wing(sums - observed * counts[:, None], confidence)
        ends = (STRETCH_BAD, STRETCH_GOOD) if bad_end_is_low else (STRETCH_GOOD, STRETCH_BAD)
        stretches = np.sqrt((units + np.array(ends)) / (units - 1))
    limits = []
    for reach in (-wing * stretches[0], wing * stretches[1]):
        shifted = bias + reach
        level = ndtr(bias + shifted / np.maximum(1 - acceleration * shifted, 1e-9))
        reached = [np.quantile(row, at) for row, at in zip(means, level, strict=True)]
        limits.append(np.where(spread, reached, observed))
    return limits[0], limits[1]


def _wing(residuals: Table, confidence: float) -> Table:
    """How many standard errors the corrected interval reaches to each side, before bias and acceleration."""
    from scipy.special import stdtrit

    units = len(residuals)
    variance = (residuals**2).mean(axis=0)
    heavy = (residuals**4).mean(axis=0) / np.where(variance > 0, variance, 1.0) ** 2 - 3
    # the variance of a variance grows with the kurtosis: Satterthwaite's degrees of freedom
    freedom = 2 / (np.maximum(heavy, 0) / units + 2 / (units - 1))
    freedom = np.clip(freedom, _FEWEST_FREEDOM, units - 1)  # the upper bound wins
    wing: Table = -stdtrit(freedom, (1 - confidence) / 2)
    return wing
