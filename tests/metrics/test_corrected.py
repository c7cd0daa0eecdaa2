"""A rate corrected for the judge's error."""

from __future__ import annotations

import numpy as np
import pytest

from pytest_clinical_drift.metrics.agreement import corrected_rate


def test_the_correction_inverts_the_error() -> None:
    """Upholding 90 % of faults and 5 % of clean ones, a judge sees 0.9 x 0.2 + 0.05 x 0.8 = 0.22 for 0.2."""
    found = corrected_rate((220, 1000), sensitivity=(90, 100), specificity=(285, 300))
    assert found is not None
    assert found.value == pytest.approx(0.2)
    assert found.low < 0.2 < found.high


def test_a_judge_without_error_changes_nothing() -> None:
    """With a flawless judge the corrected rate is the raw one."""
    found = corrected_rate((7, 100), sensitivity=(60, 60), specificity=(300, 300))
    assert found is not None
    assert found.value == pytest.approx(0.07)


def test_a_rate_below_the_judges_own_noise_is_none_at_all() -> None:
    """Fewer upheld than the false ones to expect: the corrected rate stays at 0, not below."""
    found = corrected_rate((1, 100), sensitivity=(55, 60), specificity=(285, 300))
    assert found is not None
    assert found.value == 0.0
    assert found.low == 0.0


@pytest.mark.parametrize(
    ("judged", "sensitivity", "specificity"),
    [
        ((0, 0), (60, 60), (300, 300)),
        ((1, 9), (0, 0), (300, 300)),
        ((1, 9), (60, 60), (0, 0)),
        ((1, 9), (30, 60), (150, 300)),
    ],
)
def test_without_evidence_there_is_no_rate(
    judged: tuple[int, int], sensitivity: tuple[int, int], specificity: tuple[int, int]
) -> None:
    """An empty sample, or a judge no better than a coin, leaves the rate undefined."""
    assert corrected_rate(judged, sensitivity=sensitivity, specificity=specificity) is None


@pytest.mark.parametrize(
    ("true", "sensitivity", "specificity"), [(0.02, 0.9, 0.99), (0.1, 0.85, 0.98), (0.3, 0.7, 0.9), (0.05, 0.95, 0.999)]
)
def test_the_interval_keeps_its_promise(true: float, sensitivity: float, specificity: float) -> None:
    """Over simulated runs and calibrations the 95 % interval holds the true rate about 95 times in a hundred."""
    random, pairs, faults, clean, runs = np.random.default_rng(5), 540, 60, 300, 2000
    seen = true * sensitivity + (1 - true) * (1 - specificity)
    drawn = zip(
        random.binomial(pairs, seen, runs),
        random.binomial(faults, sensitivity, runs),
        random.binomial(clean, specificity, runs),
        strict=True,
    )
    held = 0
    for upheld, right, cleared in drawn:
        found = corrected_rate(
            (int(upheld), pairs), sensitivity=(int(right), faults), specificity=(int(cleared), clean)
        )
        held += found is not None and found.low <= true <= found.high
    assert 0.925 <= held / runs <= 1.0


def test_both_samples_widen_the_interval() -> None:
    """A larger calibration set gives a narrower interval, though the run is the same."""
    small = corrected_rate((54, 540), sensitivity=(54, 60), specificity=(297, 300))
    large = corrected_rate((54, 540), sensitivity=(540, 600), specificity=(2970, 3000))
    assert small is not None
    assert large is not None
    assert large.high - large.low < small.high - small.low


def test_the_interval_by_hand() -> None:
    """30 of 100 upheld; with two imagined trials sensitivity 0.89 of 100 and specificity 0.945 of 200.

    z² = 3.84146 imagined trials make the rate 0.307399. Slack 0.835, true rate 0.302274. Variances of the judge:
    0.89 x 0.11 / 100 = 0.000979 and 0.945 x 0.055 / 200 = 0.000259875. Shift 2 z² (0.302274 x 0.000979 - 0.697726 x
    0.000259875) = 0.000880. Spread sqrt(0.307399 x 0.692601 / 103.841 + 0.697726² x 0.000259875 + 0.302274² x 0.000979)
    / 0.835 = 0.057012. Limits 0.303154 -+ 1.959964 x 0.057012.
    """
    found = corrected_rate((30, 100), sensitivity=(88, 98), specificity=(188, 198))
    assert found is not None
    assert [found.low, found.high] == pytest.approx([0.191413, 0.414896], abs=2e-6)
    assert found.value == pytest.approx((0.3 + 188 / 198 - 1) / (88 / 98 + 188 / 198 - 1))


def test_a_rate_beyond_what_the_judge_can_see_is_one() -> None:
    """99 of 100 upheld by a judge who finds 90 % of the faults: 1.1 by the formula, and no rate is above 1."""
    found = corrected_rate((99, 100), sensitivity=(90, 100), specificity=(100, 100))
    assert found is not None
    assert (found.value, found.high) == (1.0, 1.0)


def test_a_judge_barely_better_than_a_coin_says_nothing_of_the_limits() -> None:
    """1 of 1 faults and 1 of 2 clean ones: power 0.5, but with imagined trials 2/3 + 1/2 - 1 is all that is left."""
    found = corrected_rate((1, 2), sensitivity=(1, 1), specificity=(1, 2))
    assert found is not None
    assert (found.value, found.low, found.high) == (0.0, 0.0, 1.0)
    none_left = corrected_rate((1, 2), sensitivity=(1, 10), specificity=(1, 1))
    assert none_left is not None
    assert (none_left.low, none_left.high) == (0.0, 1.0)  # 2/12 + 2/3 is less than 1
