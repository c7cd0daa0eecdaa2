"""The drift slope, against values worked out by hand and against scipy."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_clinical_drift import compute_drift_slope
from pytest_clinical_drift.metrics.horizon import early_slope
from pytest_clinical_drift.metrics.recall import fit_slope, steepest_slope


def test_slope_by_hand() -> None:
    """1.0, 0.8, 0.6 over turns 1, 2, 3 falls by 0.2 a turn on a perfect line."""
    fit = fit_slope([1.0, 0.8, 0.6])
    assert fit is not None
    assert fit.slope == pytest.approx(-0.2)
    assert fit.intercept == pytest.approx(1.2)
    assert fit.r_squared == pytest.approx(1.0)
    assert fit.points == 3


def test_missing_turn_keeps_its_place() -> None:
    """Turns 1 and 3 without 2: (1, 1.0) and (3, 0.6) give -0.2, not -0.4."""
    assert compute_drift_slope([1.0, None, 0.6]) == pytest.approx(-0.2)


@pytest.mark.parametrize("curve", [[], [0.5], [None, 0.5, None], [None, None]])
def test_fewer_than_two_points_is_undefined(curve: list[float | None]) -> None:
    """No line through fewer than two points: None, never 0."""
    assert compute_drift_slope(curve) is None


def test_constant_curve_is_flat_with_nothing_to_explain() -> None:
    """A flat curve has slope 0 and no variance for R² to be a share of."""
    fit = fit_slope([0.7, 0.7, 0.7])
    assert fit is not None
    assert fit.slope == 0.0
    assert fit.r_squared is None


@given(st.lists(st.floats(0, 1), min_size=2, max_size=20).filter(lambda values: max(values) - min(values) > 1e-3))
def test_agrees_with_scipy(values: list[float]) -> None:
    """Slope, intercept and R² are those of scipy's linear regression."""
    from scipy.stats import linregress

    expected = linregress(range(1, len(values) + 1), values)
    fit = fit_slope(values)
    assert fit is not None
    assert fit.slope == pytest.approx(expected.slope, abs=1e-9)
    assert fit.intercept == pytest.approx(expected.intercept, abs=1e-9)
    assert fit.r_squared == pytest.approx(expected.rvalue**2, abs=1e-6)


def test_steepest_slope_by_hand() -> None:
    """Ten turns: 12.5 / 82.5; two turns: 1; three: (1, 1 or 0, 0) falls by 0.5; one turn has none."""
    assert steepest_slope(10) == pytest.approx(-12.5 / 82.5)
    assert steepest_slope(2) == -1.0
    assert steepest_slope(3) == -0.5
    assert steepest_slope(1) == 0.0


@given(st.lists(st.tuples(st.booleans(), st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=8))
def test_no_choice_between_two_curves_falls_faster_than_the_worst_slope(turns: list[tuple[bool, float, float]]) -> None:
    """Every mixture of the better and the worse values, by brute force; turns without a value keep their place."""
    best = [max(one, two) if known else None for known, one, two in turns]
    worst = [min(one, two) if known else None for known, one, two in turns]
    found = early_slope(best, worst)
    slopes = [compute_drift_slope(mixed) for mixed in product(*zip(best, worst, strict=True))]
    assert (None if found is None else found.slope) == (
        None if slopes[0] is None else pytest.approx(min(slope for slope in slopes if slope is not None), abs=1e-9)
    )
