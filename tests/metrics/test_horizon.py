"""How long a memory lasts: values by hand, numpy and scipy as second opinions, a simulation with a known truth."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats

from pytest_clinical_drift.metrics.horizon import (
    FEWEST_CASES,
    carried,
    common_probes,
    crossing,
    drift_horizon,
    early_slope,
    fall,
)

PROBES = [*range(1, 21), 25, 30, 40, 50, 60, 80, 100, 120, 160]
LIMIT = 0.8
recalls = st.floats(0, 1)
SLOW_FADING, UNEVEN_FADING = (pytest.param(*shape, marks=pytest.mark.slow) for shape in ((200.0, 0.0), (100.0, 0.5)))


def alive(
    generator: np.random.Generator, half_life: float, cases: int = 60, facts: int = 7, spread: float = 0.0
) -> np.ndarray:
    """Recall by case and probe of facts with exponential lifetimes; `spread`: cases differ in their half-life."""
    own = half_life * np.exp(spread * generator.standard_normal(cases))
    lifetimes = generator.exponential(own[:, None] / math.log(2), size=(cases, facts))
    return (lifetimes[:, :, None] > np.array(PROBES) - 1).mean(axis=1)


def groups(cases: int) -> list[str]:
    return [f"g{number}" for number in range(cases)]


# ---- the end and the way there


def test_fall_is_start_minus_end() -> None:
    """(1.0 + 0.9) / 2 - (0.5 + 0.3) / 2 = 0.55; what lies between does not matter."""
    probes = [1.0, 0.9, 0.0, 0.5, 0.3]
    assert fall(probes, probes) == pytest.approx(0.55)
    assert fall(probes[::-1], probes[::-1]) == pytest.approx(-0.55)


def test_fall_is_undefined_where_the_ends_overlap() -> None:
    """Below four probes."""
    assert fall([1.0, 0.5, 0.2], [1.0, 0.5, 0.2]) is None


@given(st.lists(recalls, min_size=4, max_size=200), st.lists(recalls, min_size=4, max_size=200))
def test_fall_against_numpy(first: list[float], last: list[float]) -> None:
    """Mean of the first two of one curve minus mean of the last two of the other."""
    assert fall(first, last) == pytest.approx(np.mean(first[:2]) - np.mean(last[-2:]))


@given(st.lists(recalls, min_size=2, max_size=100))
def test_the_slope_is_that_of_the_first_twenty_turns(curve: list[float]) -> None:
    """What comes later does not change it; scipy's is the same."""
    found = early_slope(curve)
    assert found is not None
    expected = stats.linregress(range(1, min(20, len(curve)) + 1), curve[:20]).slope
    assert found.slope == pytest.approx(expected, abs=1e-9)


def test_gaps_are_filled_with_what_was_last() -> None:
    """And with nothing before the first."""
    assert carried([None, 0.5, None, None, 0.25, None]) == [None, 0.5, 0.5, 0.5, 0.25, 0.25]


def test_only_probes_that_every_case_has_are_compared() -> None:
    """A shorter case ends the table; a turn at which one of them has no value is left out."""
    table, turns = common_probes([[1.0, 0.5, 0.4, 0.3], [1.0, None, 0.2]])
    assert turns == [1, 3]
    assert table.tolist() == [[1.0, 0.4], [1.0, 0.2]]


# ---- the horizon


def test_the_crossing_lies_on_the_line_between_two_probes() -> None:
    """From 0.9 at turn 20 to 0.7 at turn 30: 0.8 at turn 25."""
    assert crossing([1.0, 0.9, 0.7], [10, 20, 30], LIMIT) == pytest.approx(25.0)
    assert crossing([0.5, 0.4], [1, 2], LIMIT) == 1.0
    assert crossing([1.0, 0.81], [1, 2], LIMIT) is None


@given(st.floats(2, 300))
def test_the_crossing_against_scipy(half_life: float) -> None:
    """The root of the same line, found by bisection."""
    means = [0.5 ** ((turn - 1) / half_life) for turn in PROBES]
    found = crossing(means, PROBES, LIMIT)
    if found is None:
        assert means[-1] > LIMIT
    else:
        root = optimize.brentq(lambda turn: np.interp(turn, PROBES, means) - LIMIT, 1, 160)
        assert found == pytest.approx(root, abs=1e-6)


def test_a_set_that_never_falls_has_no_crossing() -> None:
    """60 perfect cases to turn 160: at least 160, and the lower limit never comes down."""
    found = drift_horizon(np.ones((60, len(PROBES))), PROBES, groups(60), limit=LIMIT)
    assert found is not None
    assert (found.point, found.low, found.high, found.probed_to, found.cases) == (None, 160, None, 160, 60)


def test_seventeen_cases_are_the_fewest_that_can_show_it() -> None:
    """Without a loss, 17 have an exact lower limit above 0.80 and 16 have not."""
    assert FEWEST_CASES == 17
    assert 0.025 ** (1 / 17) > LIMIT > 0.025 ** (1 / 16)
    shown = drift_horizon(np.ones((17, 2)), [1, 2], groups(17), limit=LIMIT)
    hidden = drift_horizon(np.ones((16, 2)), [1, 2], groups(16), limit=LIMIT)
    assert shown is not None
    assert hidden is not None
    assert shown.low == 2
    assert (hidden.low, hidden.high) == (None, None)


def test_copies_of_a_case_are_no_further_evidence() -> None:
    """60 rows of 10 patients: only the point."""
    found = drift_horizon(np.ones((60, 3)), [1, 2, 3], [f"g{n % 10}" for n in range(60)], limit=LIMIT)
    assert found is not None
    assert found.low is None
    assert found.cases == 10


def test_a_set_that_starts_below_has_no_turn() -> None:
    """The interval starts before the first probe."""
    found = drift_horizon(
        np.full((30, 3), 0.4) + np.linspace(-0.1, 0.1, 30)[:, None], [1, 2, 3], groups(30), limit=LIMIT
    )
    assert found is not None
    assert (found.point, found.low, found.high) == (1.0, 0, 1)


def test_no_cases_no_horizon() -> None:
    """Nothing to measure is None."""
    assert drift_horizon(np.zeros((0, 3)), [1, 2, 3], [], limit=LIMIT) is None


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 2**32), st.floats(5, 400), st.integers(17, 60))
def test_the_point_lies_inside_the_interval(seed: int, half_life: float, cases: int) -> None:
    """Whatever is drawn."""
    table = alive(np.random.default_rng(seed), half_life, cases)
    found = drift_horizon(table, PROBES, groups(cases), limit=LIMIT, resamples=500)
    assert found is not None
    assert found.low is not None
    point = found.point if found.point is not None else math.inf
    assert found.low <= point <= (found.high or math.inf)


@pytest.mark.parametrize(("half_life", "spread"), [(30.0, 0.0), SLOW_FADING, UNEVEN_FADING])
def test_the_interval_contains_the_truth(half_life: float, spread: float) -> None:
    """Exponential lifetimes, 200 seeds: in at least 93 % the turn at which the population's recall is 0.80."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    own = half_life * np.exp(spread * nodes)

    def population(turn: float) -> float:
        return float((weights * 0.5 ** ((turn - 1) / own)).sum() / weights.sum())

    truth = optimize.brentq(lambda turn: population(turn) - LIMIT, 1, 2000)
    hits = 0
    for seed in range(200):
        table = alive(np.random.default_rng(seed), half_life, spread=spread)
        found = drift_horizon(table, PROBES, groups(60), limit=LIMIT, resamples=1000)
        assert found is not None
        assert found.low is not None
        hits += found.low <= truth <= (found.high or math.inf)
    assert hits >= 186, hits
