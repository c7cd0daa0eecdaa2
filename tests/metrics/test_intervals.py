"""Intervals, against values worked out by hand and against scipy and statsmodels."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_clinical_drift.metrics.bootstrap import RESAMPLES, bca_limits, group_sums, resampled_means
from pytest_clinical_drift.metrics.intervals import (
    Interval,
    _most_common,
    clustered_limits,
    effective_trials,
    mean_intervals,
    pooled_interval,
    proportion_interval,
    repeat_sd,
)

SIXTY = [f"case-{number:02}" for number in range(60)]


def mean_interval(
    values: list[float],
    groups: list[str],
    *,
    confidence: float,
    worst: float,
    best: float,
    resamples: int = RESAMPLES,
) -> Interval:
    """Of one column."""
    return mean_intervals([values], groups, (worst, best), confidence=confidence, resamples=resamples)[0]


def recall_interval(values: list[float], groups: list[str]) -> tuple[float, float]:
    found = mean_interval(values, groups, confidence=0.95, worst=0.0, best=1.0)
    assert found is not None
    return found.low, found.high


def test_no_values_no_interval() -> None:
    """Nothing measured has no interval, not one of width 0."""
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
    together = mean_intervals(table.T, SIXTY, (0.0, 1.0), confidence=0.95)
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
    sums, counts = group_sums(values[:, None], membership)

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


def test_spread_of_repeats_by_hand() -> None:
    """Repeats 0.9, 0.7, 0.8 and 0.4, 0.2: squares 0.02 and 0.02 over 2 + 1 degrees of freedom."""
    assert repeat_sd([[0.9, 0.7, 0.8], [0.4, 0.2], [0.5]]) == pytest.approx((0.04 / 3) ** 0.5)


def test_spread_without_repeats_is_undefined() -> None:
    """One conversation per case says nothing about chance."""
    assert repeat_sd([[0.9], [0.5]]) is None
    assert repeat_sd([]) is None


# -- where one way of computing gives way to another


@pytest.mark.parametrize(("units", "method"), [(7, "t"), (8, "bootstrap")])
def test_a_bootstrap_needs_eight_units(units: int, method: str) -> None:
    """Each unit is a group of two cases unlike the other one, so that none shares the commonest value."""
    values = [0.1 + 0.05 * number for number in range(2 * units)]
    groups = [str(number % units) for number in range(2 * units)]
    found = mean_interval(values, groups, confidence=0.95, worst=0.0, best=1.0)
    assert found is not None
    assert (found.method, found.units) == (method, units)


@pytest.mark.parametrize(("departing", "method"), [(9, "bootstrap or exact"), (10, "bootstrap")])
def test_ten_units_unlike_the_rest_are_enough_to_resample(departing: int, method: str) -> None:
    """Below that many the exact limits stand beside the bootstrap."""
    found = mean_interval([0.5] * departing + [1.0] * (60 - departing), SIXTY, confidence=0.95, worst=0.0, best=1.0)
    assert found is not None
    assert found.method == method


def beside(values: list[float], low: float, high: float) -> tuple[float, float]:
    """The wider of the bootstrap's limits and these."""
    resampled = bca_limits(np.array(values)[:, None], np.ones(len(values)), confidence=0.95)
    return min(float(resampled[0][0]), low), max(float(resampled[1][0]), high)


@pytest.mark.parametrize(
    ("values", "size", "down", "up"),
    [
        ([0.5] * 3 + [0.9] * 57, 0.4, 3, 0),
        ([0.9] * 3 + [0.2] * 57, 0.7, 0, 3),
        ([0.1, 0.3, 0.6] + [0.5] * 57, 0.7 / 3, 2, 1),
    ],
)
def test_few_departures_by_hand(values: list[float], size: float, down: int, up: int) -> None:
    """As many as Clopper and Pearson allow may depart, by as much as those seen did on average.

    And as many as none of 60 allows, however few did, may have lost all.
    """
    from scipy.stats import binomtest

    common = values[-1]
    lower, upper = (binomtest(count, 60).proportion_ci(0.95, method="exact") for count in (down, up))
    low, high = common - size * lower.high, common + size * upper.high
    if not up:
        high = common - size * lower.low
    if not down:
        low = common + size * upper.low
    low = min(low, common * (1 - binomtest(0, 60).proportion_ci(0.95, method="exact").high))
    assert recall_interval(values, SIXTY) == pytest.approx(beside(values, low, high), abs=1e-9)


@pytest.mark.parametrize("units", [10, 37, 60])
def test_one_slight_loss_is_no_merit(units: int) -> None:
    """A set with one loss is not known better than one without: 1 - 0.025 ** (1 / units) may still lose all."""
    names = [str(number) for number in range(units)]
    flawless, _ = recall_interval([1.0] * units, names)
    assert flawless == pytest.approx(0.025 ** (1 / units))
    low, _ = recall_interval([0.98] + [1.0] * (units - 1), names)
    assert low <= flawless
    nearly_half = (units - 1) // 2  # also where there are enough of them to resample
    assert recall_interval([0.98] * nearly_half + [1.0] * (units - nearly_half), names)[0] <= flawless
    rising = mean_interval([0.02] + [0.0] * (units - 1), names, confidence=0.95, worst=1.0, best=0.0)
    assert rising is not None
    assert rising.high == pytest.approx(1 - low, abs=1e-9)


def test_the_commonest_value_is_the_lowest_where_several_are() -> None:
    """Four of eight at 0.2 and four at 0.8: those at 0.8 depart, upwards, and no limit is below 0.2."""
    from scipy.stats import binomtest

    values = [0.8, 0.2] * 4
    exact = binomtest(4, 8).proportion_ci(0.95, method="exact")
    low, high = beside(values, 0.2 + 0.6 * exact.low, 0.2 + 0.6 * exact.high)
    assert recall_interval(values, list("abcdefgh")) == pytest.approx((low, high), abs=1e-9)


def test_of_values_as_common_the_lowest_is_the_usual_one() -> None:
    """Three at 0.2 and three at 0.8; where 0.8 is there once more, it is that."""
    values = np.array([0.8, 0.2, 0.5, 0.8, 0.2, 0.6, 0.8, 0.2])
    assert _most_common(np.column_stack([values, np.append(values[:-1], 0.8)])).tolist() == [0.2, 0.8]


def test_two_units_have_a_width() -> None:
    """0.4 and 0.6: 0.5 ± 1 · 0.1, since half of Student's t of one degree of freedom lies within 1."""
    found = mean_interval([0.4, 0.6], ["a", "b"], confidence=0.5, worst=0.0, best=1.0)
    assert found is not None
    assert (found.low, found.high) == pytest.approx((0.4, 0.6), abs=1e-9)


def test_limits_stay_within_what_is_possible() -> None:
    """Three values about 0.9 would reach past 1 by Student's t, and three about 0.1 below 0."""
    low, high = recall_interval([0.8, 0.9, 1.0], list("abc"))
    assert high == 1.0
    assert 0.0 < low < 0.8
    low, high = recall_interval([0.0, 0.1, 0.2], list("abc"))
    assert low == 0.0
    assert 0.2 < high < 1.0


def test_where_lower_is_better_the_high_end_is_the_careful_one() -> None:
    """1 - x of every case, with worst and best exchanged, has the mirrored interval."""
    values = [0.25 + 0.5 * number / 59 for number in range(60)]
    low, high = recall_interval(values, SIXTY)
    mirrored = mean_interval([1 - value for value in values], SIXTY, confidence=0.95, worst=1.0, best=0.0)
    assert mirrored is not None
    mean = sum(values) / 60
    assert mean - low > 1.03 * (high - mean)
    assert (mirrored.low, mirrored.high) == pytest.approx((1 - high, 1 - low), abs=1e-9)


def test_students_t_of_unequal_groups_by_hand() -> None:
    """Groups (0.4, 0.6), (0.8) and (0.9): mean 0.675, residuals -0.35, 0.125, 0.225; error sqrt(1.5 · 0.18875) / 4."""
    low, high = recall_interval([0.4, 0.6, 0.8, 0.9], ["a", "a", "b", "c"])
    wing = 4.3026527 * math.sqrt(1.5 * 0.18875) / 4
    assert low == pytest.approx(max(0.0, 0.675 - wing), abs=1e-6)
    assert high == 1.0
    half = mean_interval([0.4, 0.6, 0.8, 0.9], ["a", "a", "b", "c"], confidence=0.5, worst=0.0, best=1.0)
    assert half is not None
    wing = 0.8164966 * math.sqrt(1.5 * 0.18875) / 4
    assert (half.low, half.high) == pytest.approx((0.675 - wing, 0.675 + wing), abs=1e-6)


# -- how many independent trials grouped ones are worth


def test_effective_trials_by_hand() -> None:
    """Events 1, 0, 2, 3 of 2, 4, 4, 6 trials in four groups.

    16 trials, 72 / 16 = 4.5 to a group, share 0.375. Residuals 0.25, -1.5, 0.5, 0.75: variance 4 / 3 · 3.125 / 256.
    Correlation (variance · 16 / 0.234375 - 1) / 3.5 = 0.031746, seen in three groups, drawn to (3 · 0.031746 + 1.5) / 8
    = 0.199405. Student's t of 3 and 15 degrees of freedom: 3.182446 and 2.131450. 16 / (1.697917 · 2.229302).
    """
    found = effective_trials([1, 0, 2, 3], [2, 4, 4, 6], list("abcd"), confidence=0.95)
    assert found == pytest.approx(16 / (1.697917 * (3.182446 / 2.131450) ** 2), rel=1e-5)


@pytest.mark.parametrize(
    ("events", "trials", "groups", "expected"),
    [
        ([], [], [], 0.0),
        ([0], [0], ["a"], 0.0),
        ([1], [1], ["a"], 1.0),
        ([3], [10], ["a"], 10 / 3.7),
        ([1, 2], [4, 6], ["a", "a"], 10 / 3.7),
        ([1, 0, 1], [1, 1, 1], list("abc"), 3.0),
        ([1, 0, 5], [1, 1, 0], list("abc"), 2.0),
    ],
)
def test_effective_trials_of_one_group_and_of_single_trials(
    events: list[int], trials: list[int], groups: list[str], expected: float
) -> None:
    """One group is corrected by the assumed correlation of 0.3; single trials are themselves; none are none."""
    assert effective_trials(events, trials, groups, confidence=0.95) == pytest.approx(expected)


@pytest.mark.parametrize("events", [0, 10])
def test_events_never_or_always_seen_leave_the_assumption(events: int) -> None:
    """None or all of 10 pairs in each of 60: 600 / (3.7 · (t59 / t599)²)."""
    from scipy.stats import t

    found = effective_trials([events] * 60, [10] * 60, SIXTY, confidence=0.95)
    assert found == pytest.approx(600 / (3.7 * (t.ppf(0.975, 59) / t.ppf(0.975, 599)) ** 2))


def test_pooled_limits_are_exact_at_the_effective_number() -> None:
    """The events of the groups above: 0.375 of 4.227 trials, by the beta distribution."""
    from scipy.stats import beta

    found = pooled_interval([1, 0, 2, 3], [2, 4, 4, 6], list("abcd"), confidence=0.95)
    size = effective_trials([1, 0, 2, 3], [2, 4, 4, 6], list("abcd"), confidence=0.95)
    hits = 0.375 * size
    assert found is not None
    assert (found.low, found.high) == pytest.approx(
        (beta.ppf(0.025, hits, size - hits + 1), beta.ppf(0.975, hits + 1, size - hits))
    )
    assert (found.units, found.method) == (4, "exact")


# -- one-sided limits of a judge's hits


def test_clustered_limits_by_hand() -> None:
    """Hits 9, 5, 10 of 10 each: share 0.8, residuals 1, -3, 2; spread 14 · 3 / 2 = 21 over 30 · 0.16 = 4.8 is 4.375."""
    from scipy.stats import beta

    low, high = clustered_limits([9, 5, 10], [10, 10, 10], list("abc"))
    hits, trials = 24 / 4.375, 30 / 4.375
    assert low == pytest.approx(beta.ppf(0.05, hits, trials - hits + 1))
    assert high == pytest.approx(beta.ppf(0.95, hits + 1, trials - hits))
    two, _ = clustered_limits([9, 5], [10, 10], list("ab"))  # residuals 2 and -2: 16 over 20 · 0.21
    assert two == pytest.approx(beta.ppf(0.05, 14 * 4.2 / 16, 6 * 4.2 / 16 + 1))
    wider, _ = clustered_limits([9, 5, 10], [10, 10, 10], list("abc"), confidence=0.99)
    assert wider == pytest.approx(beta.ppf(0.01, hits, trials - hits + 1))


@pytest.mark.parametrize(
    ("hits", "trials"),
    [([10, 20], [10, 20]), ([0, 0], [10, 20]), ([3], [10]), ([5, 5], [10, 10])],
)
def test_clustered_limits_without_a_design_effect_are_clopper_pearson(hits: list[int], trials: list[int]) -> None:
    """Without an error, in one group, or where groups are more alike than chance makes them."""
    from scipy.stats import binomtest

    exact = binomtest(sum(hits), sum(trials)).proportion_ci(0.90, method="exact")
    found = clustered_limits(hits, trials, [str(number) for number in range(len(hits))])
    assert found == pytest.approx((exact.low, exact.high), abs=1e-9)


def test_no_trials_leave_everything_possible() -> None:
    assert clustered_limits([], [], []) == (0.0, 1.0)
    assert clustered_limits([0], [0], ["a"]) == (0.0, 1.0)
