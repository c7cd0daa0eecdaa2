"""The line through a curve, against scipy and statsmodels."""

from __future__ import annotations

import pytest

from pytest_clinical_drift.metrics.line import line_figures, steepest_slope

CURVE = [1.0, 0.95, 0.97, 0.9, 0.85, 0.86, 0.8, 0.78, 0.7, 0.74]


def test_least_squares_limits_are_those_of_statsmodels() -> None:
    """Slope, R² and 95 % limits are those of an ordinary least squares fit."""
    api = pytest.importorskip("statsmodels.api")
    fit = api.OLS(CURVE, api.add_constant(list(range(1, 11)))).fit()
    found = line_figures(CURVE)
    assert found is not None
    assert found.slope == pytest.approx(fit.params[1])
    assert found.r_squared == pytest.approx(fit.rsquared)
    assert (found.low, found.high) == pytest.approx(tuple(fit.conf_int()[1]))


def test_theil_sen_is_that_of_scipy() -> None:
    """Median slope and its limits."""
    from scipy.stats import theilslopes

    expected = theilslopes(CURVE, range(1, 11), alpha=0.95)
    found = line_figures(CURVE)
    assert found is not None
    assert found.theil_sen == pytest.approx(expected.slope)
    assert (found.theil_sen_low, found.theil_sen_high) == pytest.approx((expected.low_slope, expected.high_slope))


def test_one_odd_turn_moves_least_squares_but_not_theil_sen() -> None:
    """A flat curve with one lost last turn: the median of the slopes stays 0."""
    found = line_figures([0.9] * 9 + [0.0])
    assert found is not None
    assert found.slope < -0.04
    assert found.theil_sen == 0.0


def test_missing_turns_keep_their_place() -> None:
    """(1, 1.0), (3, 0.8), (5, 0.6): -0.1 a turn by both, on a perfect line without scatter, so without limits."""
    found = line_figures([1.0, None, 0.8, None, 0.6])
    assert found is not None
    assert found.slope == pytest.approx(-0.1)
    assert found.theil_sen == pytest.approx(-0.1)
    assert found.low is None
    assert found.points == 3


def test_too_few_points() -> None:
    """No line through one point; no limits from two."""
    assert line_figures([None, 0.5]) is None
    found = line_figures([1.0, 0.5])
    assert found is not None
    assert (found.slope, found.low, found.theil_sen_low) == (-0.5, None, None)


def test_steepest_slope_by_hand() -> None:
    """Ten turns: 12.5 / 82.5; two turns: 1; three: (1, 1 or 0, 0) falls by 0.5; one turn has none."""
    assert steepest_slope(10) == pytest.approx(-12.5 / 82.5)
    assert steepest_slope(2) == -1.0
    assert steepest_slope(3) == -0.5
    assert steepest_slope(1) == 0.0
