"""Intervals, against values worked out by hand and against scipy and statsmodels."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_clinical_drift.metrics.bootstrap import bca_limits, group_sums, resampled_means
from pytest_clinical_drift.metrics.stats import (
    mean_interval,
    mean_intervals,
    pooled_interval,
    proportion_interval,
    repeat_spread,
)

SIXTY = [f"case-{number}" for number in range(60)]


def recall_interval(values: list[float], groups: list[str]) -> tuple[float, float]:
    found = mean_interval(values, groups, confidence=0.95, worst=0.0, best=1.0)
    assert found is not None
    return found.low, found.high


def test_no_values_no_interval() -> None:
    """Nothing measured has no interval, not one of width 0."""
    assert mean_interval([], [], confidence=0.95, worst=0.0, best=1.0) is None
    assert pooled_interval([], [], [], confidence=0.95) is None
    assert pooled_interval([0, 0], [0, 0], ["a", "b"], confidence=0.95) is None
    assert proportion_interval(0, 0, confidence=0.95) is None


def test_identical_cases_get_the_exact_limit() -> None:
    """60 perfect cases: up to 1 - 0.025^(1/60) = 5.96 % may be unlike all seen, and lose everything."""
    low, high = recall_interval([1.0] * 60, SIXTY)
    assert low == pytest.approx(0.025 ** (1 / 60))
    assert high == 1.0


def test_flat_slopes_of_sixty_cases_stay_within_one_percent() -> None:
    """60 slopes of 0: the bound is 5.96 % of the steepest slope, -0.0090, inside the pass limit of -0.01."""
    found = mean_interval([0.0] * 60, SIXTY, confidence=0.95, worst=-12.5 / 82.5, best=12.5 / 82.5)
    assert found is not None
    assert found.low == pytest.approx(-(1 - 0.025 ** (1 / 60)) * 12.5 / 82.5)
    assert found.low > -0.01
    assert found.method == "exact"


def test_single_case_says_next_to_nothing() -> None:
    """One case of recall 0.8: the limits leave 2.5 % of the way to either end."""
    low, high = recall_interval([0.8], ["a"])
    assert low == pytest.approx(0.8 * 0.025)
    assert high == pytest.approx(0.8 + 0.2 * 0.975)


def test_copies_of_one_persona_are_one_unit() -> None:
    """Ten copies of a case are as uncertain as the one case."""
    assert recall_interval([0.8] * 10, ["a"] * 10) == recall_interval([0.8], ["a"])


def test_clusters_widen_the_interval() -> None:
    """Pairs of equal cases carry half the information: the interval is about sqrt(2) wider."""
    values = [0.5 + 0.5 * (number % 4) / 3 for number in range(60)]
    values.sort()
    apart = recall_interval(values, SIXTY)
    together = recall_interval(values, [f"p{number // 2}" for number in range(60)])
    assert 1.3 < (together[1] - together[0]) / (apart[1] - apart[0]) < 1.6


def test_few_units_use_students_t() -> None:
    """Five values, mean 0.6, sd 0.1: 0.6 ± 2.776 · 0.1 / sqrt(5)."""
    values = [0.5, 0.6, 0.7, 0.5, 0.7]
    low, high = recall_interval(values, list("abcde"))
    wing = 2.7764451 * float(np.std(values, ddof=1)) / math.sqrt(5)
    assert (low, high) == pytest.approx((0.6 - wing, 0.6 + wing), abs=1e-6)


def test_one_bad_case_among_many_uses_the_exact_limit_too() -> None:
    """One of 60 cases lost all: up to 8.94 % may do so (Clopper-Pearson), which a bootstrap would not see."""
    low, _ = recall_interval([1.0] * 59 + [0.0], SIXTY)
    upper = proportion_interval(1, 60, confidence=0.95)
    assert upper is not None
    assert low <= 1 - upper.high + 1e-12
    assert upper.high == pytest.approx(0.0894, abs=5e-4)


def test_seeded() -> None:
    """The same values give the same interval, to the last digit."""
    values = [0.5 + (number % 7) / 14 for number in range(60)]
    assert recall_interval(values, SIXTY) == recall_interval(values, SIXTY)


def test_many_columns_at_once_equal_one_by_one() -> None:
    """The vectorised form is the single one, column by column."""
    generator = np.random.default_rng(3)
    table = generator.integers(0, 7, size=(60, 5)) / 6
    table[:, 2] = 1.0
    together = mean_intervals(table, SIXTY, confidence=0.95, worst=0.0, best=1.0)
    alone = [mean_interval(list(column), SIXTY, confidence=0.95, worst=0.0, best=1.0) for column in table.T]
    for left, right in zip(together, alone, strict=True):
        assert right is not None
        assert (left.low, left.high) == pytest.approx((right.low, right.high))


def test_large_sets_are_resampled_in_parts_with_the_same_draws() -> None:
    """500 units exceed the memory bound for one draw; the means are still those of the seeded generator."""
    sums = np.arange(500, dtype=float)[:, None]
    means = resampled_means(sums, np.ones(500), seed=5, resamples=9000)
    drawn = np.random.default_rng(5).integers(0, 500, size=(9000, 500))
    assert np.allclose(means[0], drawn.mean(axis=1))


def test_plain_bca_is_that_of_scipy() -> None:
    """Without the small-sample correction the limits are scipy.stats.bootstrap's BCa, also for unequal groups."""
    from scipy.stats import bootstrap

    generator = np.random.default_rng(8)
    values = generator.beta(6, 1.5, size=50)
    membership = np.sort(generator.integers(0, 30, size=50))
    _, membership = np.unique(membership, return_inverse=True)
    units = int(membership.max()) + 1
    sums, counts = group_sums(values[:, None], membership, units)

    def ratio(rows: np.ndarray, axis: int = -1) -> np.ndarray:
        return sums[rows, 0].sum(axis=axis) / counts[rows].sum(axis=axis)

    expected = bootstrap(
        (np.arange(units),), ratio, method="BCa", n_resamples=10_000, vectorized=True, rng=np.random.default_rng(4)
    ).confidence_interval
    low, high = bca_limits(sums, counts, confidence=0.95, corrected=False, seed=4)
    assert low[0] == pytest.approx(expected.low, abs=1e-9)
    assert high[0] == pytest.approx(expected.high, abs=1e-9)


def test_correction_only_widens() -> None:
    """With few units the corrected limits lie outside the plain ones."""
    sums = (np.arange(20) % 5 / 5.0)[:, None]
    plain = bca_limits(sums, np.ones(20), confidence=0.95, corrected=False)
    careful = bca_limits(sums, np.ones(20), confidence=0.95)
    assert careful[0][0] < plain[0][0]
    assert careful[1][0] > plain[1][0]


@pytest.mark.parametrize(("events", "trials"), [(0, 60), (1, 60), (7, 60), (59, 60), (60, 60)])
def test_proportion_is_clopper_pearson(events: int, trials: int) -> None:
    """The exact limits are those of scipy and of statsmodels."""
    from scipy.stats import binomtest

    proportion = pytest.importorskip("statsmodels.stats.proportion")
    found = proportion_interval(events, trials, confidence=0.95)
    assert found is not None
    expected = binomtest(events, trials).proportion_ci(0.95, method="exact")
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    low, high = proportion.proportion_confint(events, trials, alpha=0.05, method="beta")
    assert (found.low, found.high) == pytest.approx(
        (0.0 if math.isnan(low) else low, 1.0 if math.isnan(high) else high)
    )


def test_pooled_with_one_trial_each_is_clopper_pearson() -> None:
    """Independent trials need no design effect."""
    found = pooled_interval([1] * 4 + [0] * 56, [1] * 60, SIXTY, confidence=0.95)
    expected = proportion_interval(4, 60, confidence=0.95)
    assert found is not None
    assert expected is not None
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))


def test_no_contradiction_in_six_hundred_pairs() -> None:
    """0 of 600 pairs: design effect 1 + 9 · 0.3 = 3.7, so about 162 independent ones, 1 - 0.025^(1/162)."""
    found = pooled_interval([0] * 60, [10] * 60, SIXTY, confidence=0.95)
    assert found is not None
    assert found.low == 0.0
    assert found.high == pytest.approx(1 - 0.025 ** (1 / 162), abs=0.002)
    assert found.high < 0.05


def test_contradictions_of_one_conversation_count_less() -> None:
    """Nine contradictions in one conversation widen the interval more than nine in nine conversations."""
    spread = pooled_interval([1] * 9 + [0] * 51, [9] * 60, SIXTY, confidence=0.95)
    lumped = pooled_interval([9] + [0] * 59, [9] * 60, SIXTY, confidence=0.95)
    assert spread is not None
    assert lumped is not None
    assert lumped.high > spread.high


@given(
    st.lists(st.tuples(st.floats(0, 1), st.integers(0, 12)), min_size=1, max_size=40),
    st.sampled_from([0.8, 0.95, 0.99]),
)
def test_never_nan_and_never_outside_the_possible(rows: list[tuple[float, int]], confidence: float) -> None:
    """Whatever the values and groups: finite limits in order, within what recall can be, around the mean."""
    values, groups = [value for value, _ in rows], [str(group) for _, group in rows]
    found = mean_interval(values, groups, confidence=confidence, worst=0.0, best=1.0, resamples=200)
    assert found is not None
    assert 0.0 <= found.low <= found.high <= 1.0
    assert found.low - 1e-9 <= sum(values) / len(values) <= found.high + 1e-9


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(0, 5)), max_size=30))
def test_pooled_never_nan(rows: list[tuple[int, int, int]]) -> None:
    """Any events within any trials give limits in order between 0 and 1, around the rate."""
    events = [min(hits, trials) for hits, trials, _ in rows]
    trials = [count for _, count, _ in rows]
    found = pooled_interval(events, trials, [str(group) for *_, group in rows], confidence=0.95)
    if not sum(trials):
        assert found is None
        return
    assert found is not None
    assert 0.0 <= found.low <= sum(events) / sum(trials) <= found.high <= 1.0


def test_spread_within_and_between_by_hand() -> None:
    """Within: (0.02 + 0.02) / 2 = 0.02; between: mean square 0.16, less 0.02, over 2 repeats: 0.07."""
    found = repeat_spread([[0.9, 0.7], [0.5, 0.3]])
    assert found.within_sd == pytest.approx(0.02**0.5)
    assert found.between_sd == pytest.approx(0.07**0.5)


def test_spread_agrees_with_scipy() -> None:
    """The F value of scipy's one-way analysis of variance is 1 + n · between / within."""
    from scipy.stats import f_oneway

    rows = [[0.9, 0.7, 0.8], [0.5, 0.3, 0.45], [0.95, 1.0, 0.9]]
    found = repeat_spread(rows)
    assert found.within_sd is not None
    assert found.between_sd is not None
    assert 1 + 3 * found.between_sd**2 / found.within_sd**2 == pytest.approx(f_oneway(*rows).statistic)


def test_spread_without_repeats_is_undefined() -> None:
    """One conversation per case says nothing about chance."""
    assert repeat_spread([[0.9], [0.5]]).within_sd is None
    assert repeat_spread([]).within_sd is None
    assert repeat_spread([[0.9, 0.7], [0.5]]).between_sd is None
