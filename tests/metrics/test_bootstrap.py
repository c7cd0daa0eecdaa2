"""The corrected bootstrap limits, against a plain computation with scipy and numpy, one column at a time."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from pytest_clinical_drift.metrics import SEED
from pytest_clinical_drift.metrics.bootstrap import RESAMPLES, bca_limits, group_sums, resampled_means

ONES = np.ones(30)
EVEN = np.linspace(0.0, 1.0, 30)
"""Light tails: 29 degrees of freedom, as many as there may be."""
HEAVY = np.concatenate([np.linspace(-1, 1, 28), [-2.9, 3.1]])
"""Heavier tails than a normal curve: degrees of freedom between the least and the most."""
OUTLIER = np.concatenate([np.zeros(29), [1.0]])
"""One case unlike the rest: the fewest degrees of freedom."""
SIZES = np.array([1.0, 2.0, 3.0] * 10)


def expected(
    sums: np.ndarray, counts: np.ndarray, confidence: float, bad_end_is_low: bool, seed: int, resamples: int
) -> tuple[float, float]:
    """What the module says it computes, with loops and library functions."""
    units = len(counts)
    drawn = np.random.default_rng(seed).integers(0, units, size=(resamples, units))
    means = sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1)
    observed = sums.sum() / counts.sum()
    tied = np.isclose(means, observed, rtol=0, atol=1e-12)
    share = (means < observed)[~tied].sum() / resamples + tied.mean() / 2
    bias = stats.norm.ppf(min(max(share, 0.5 / resamples), 1 - 0.5 / resamples))
    left_out = np.array([np.delete(sums, at).sum() / np.delete(counts, at).sum() for at in range(units)])
    acceleration = stats.skew(left_out.mean() - left_out) / 6 / units**0.5
    heavy = max(float(stats.kurtosis(sums - observed * counts)), 0.0)
    freedom = min(max(2 / (heavy / units + 2 / (units - 1)), min(8, units - 1)), units - 1)
    wing = stats.t.ppf((1 + confidence) / 2, freedom)
    found = []
    for sign, careful in ((-1, bad_end_is_low), (1, not bad_end_is_low)):
        shifted = bias + sign * wing * ((units + (6 if careful else 1)) / (units - 1)) ** 0.5
        found.append(np.quantile(means, stats.norm.cdf(bias + shifted / (1 - acceleration * shifted))))
    return found[0], found[1]


@pytest.mark.parametrize("bad_end_is_low", [True, False])
@pytest.mark.parametrize(
    ("sums", "counts", "confidence"),
    [
        (EVEN, ONES, 0.95),
        (EVEN**3, ONES, 0.8),
        (HEAVY, ONES, 0.95),
        (OUTLIER, ONES, 0.9),
        (EVEN * SIZES, SIZES, 0.95),
        (np.arange(8.0) ** 2, np.ones(8), 0.95),
        (np.array([0.0] * 5 + [1.0]), np.ones(6), 0.7),
    ],
    ids=["even", "skewed", "heavy", "outlier", "groups", "eight", "fewer than the fewest degrees"],
)
def test_corrected_limits_are_those_of_the_formula(
    sums: np.ndarray, counts: np.ndarray, confidence: float, bad_end_is_low: bool
) -> None:
    """BCa with Student's t by Satterthwaite's degrees of freedom, stretched by 6 units at the bad end, else 1."""
    low, high = bca_limits(sums[:, None], counts, confidence=confidence, bad_end_is_low=bad_end_is_low)
    assert (low[0], high[0]) == pytest.approx(
        expected(sums, counts, confidence, bad_end_is_low, SEED, RESAMPLES), abs=1e-9
    )


def test_the_low_end_is_the_careful_one_unless_told_otherwise() -> None:
    """Recall is better when it is higher."""
    plain, told = (bca_limits(EVEN[:, None], ONES, confidence=0.95, **how) for how in ({}, {"bad_end_is_low": True}))
    assert (plain[0][0], plain[1][0]) == (told[0][0], told[1][0])


@pytest.mark.parametrize("side", ["below", "above"])
def test_resamples_that_all_lie_on_one_side(side: str) -> None:
    """Four resamples, all on one side of the mean: half a resample is taken to lie on the other."""
    for seed in range(1000):
        means = resampled_means(EVEN[:, None], ONES, seed=seed, resamples=4)[0]
        if (means < EVEN.mean() - 1e-9).all() if side == "below" else (means > EVEN.mean() + 1e-9).all():
            break
    else:
        raise AssertionError("no such seed")
    low, high = bca_limits(EVEN[:, None], ONES, confidence=0.95, seed=seed, resamples=4)
    assert (low[0], high[0]) == pytest.approx(expected(EVEN, ONES, 0.95, True, seed, 4), abs=1e-9)


def test_a_limit_beyond_the_reach_of_the_acceleration_is_the_largest_mean() -> None:
    """At a confidence of 1 - 1e-12 the denominator of the formula would change its sign."""
    _, high = bca_limits(OUTLIER[:, None], ONES, confidence=1 - 1e-12)
    assert high[0] == resampled_means(OUTLIER[:, None], ONES, seed=SEED, resamples=RESAMPLES).max()


def test_a_column_without_spread_gets_its_mean_and_a_small_spread_counts() -> None:
    """0.7 thirty times has no limits of its own; values that differ by a ten-millionth do, beside it."""
    table = np.column_stack([np.full(30, 0.7), 0.7 + 1e-7 * EVEN])
    low, high = bca_limits(table, ONES, confidence=0.95)
    assert (low[0], high[0]) == pytest.approx((0.7, 0.7), abs=1e-15)
    assert 0.7 < low[1] < 0.7 + 0.5e-7 < high[1] < 0.7 + 1e-7


def test_groups_are_summed_and_counted() -> None:
    """Cases 1 and 3 are one group, case 2 another."""
    sums, counts = group_sums(np.array([[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]), ["a", "b", "a"])
    assert sums.tolist() == [[4.0, 10.0], [2.0, 5.0]]
    assert counts.tolist() == [2.0, 1.0]
