"""The shape of forgetting on curves whose story is plain."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_clinical_drift.metrics.shape import describe, first_turn_carries_slope, fit_shape

LINE = [1.0 - 0.05 * turn for turn in range(10)]
FADE = [0.3 + 0.7 * 2 ** (-turn / 2) for turn in range(10)]
CLIFF = [0.95] * 5 + [0.40] * 5


@pytest.mark.parametrize(
    ("curve", "kind"),
    [
        ([0.9] * 10, "none"),
        ([1.0, 0.97, 1.0, 0.95, 1.0, 0.97, 1.0, 0.98, 0.96, 1.0], "none"),
        (LINE, "linear"),
        (FADE, "exponential"),
        (CLIFF, "step"),
        ([0.5] * 7 + [0.9] * 3, "step"),
    ],
)
def test_plain_stories(curve: list[float], kind: str) -> None:
    """Flat, even, fading and broken curves get their names; a little noise on a flat one does not change it."""
    assert fit_shape(curve).kind == kind


def test_cliff_is_told_with_its_turn_and_levels() -> None:
    """What a reader wants to hear."""
    shape = fit_shape(CLIFF)
    assert shape.turn == 6
    assert describe(shape) == "cliff at turn 6: 0.95 → 0.40"
    assert str(fit_shape([0.5] * 7 + [0.9] * 3)) == "jump at turn 8: 0.50 → 0.90"


def test_line_and_fade_are_told_with_their_figures() -> None:
    """The line with both ends; the fade with floor and half-life."""
    assert describe(fit_shape(LINE)) == "falls evenly: 1.00 → 0.55"
    shape = fit_shape(FADE)
    assert shape.half_life == pytest.approx(2.0, abs=0.1)
    assert shape.floor == pytest.approx(0.3, abs=0.02)
    assert describe(fit_shape([0.9] * 10)) == "steady at 0.90"


def test_missing_turn_does_not_move_the_cliff() -> None:
    """Turn 3 was not evaluated; the cliff is still at turn 6."""
    assert fit_shape([0.95, 0.95, None, *CLIFF[3:]]).turn == 6


def test_small_fall_is_none() -> None:
    """A perfect line of 0.01 a turn falls by 0.09 in all: nobody would call it a shape."""
    assert fit_shape([1.0 - 0.01 * turn for turn in range(10)]).kind == "none"


def test_first_turn_alone_is_called_out() -> None:
    """1.0 once, then 0.5 for ever: the slope is made by turn 1 and is no rate of forgetting."""
    curve: list[float | None] = [1.0, *[0.5] * 9]
    assert first_turn_carries_slope(curve)
    assert "turn 1 alone makes the slope" in describe(fit_shape(curve))


@pytest.mark.parametrize("curve", [LINE, FADE, CLIFF, [0.9] * 10, [None, *[0.5] * 9], [1.0, 0.5]])
def test_honest_curves_are_not_called_artefacts(curve: list[float | None]) -> None:
    """A curve that goes on falling, or a flat one, is not blamed on turn 1."""
    assert not first_turn_carries_slope(curve)


@pytest.mark.parametrize("curve", [[], [1.0], [1.0, None, 0.5], [None] * 10])
def test_too_few_turns(curve: list[float | None]) -> None:
    """Below four points there is no shape to tell."""
    shape = fit_shape(curve)
    assert shape.kind == "too short"
    assert describe(shape) == "too few turns to tell a shape"


@given(st.lists(st.one_of(st.none(), st.floats(0, 1)), max_size=20))
def test_any_curve_gets_a_finite_story(curve: list[float | None]) -> None:
    """Never NaN, never an error, whatever is missing."""
    shape = fit_shape(curve)
    for value in (shape.start, shape.end, shape.half_life, shape.floor):
        assert value is None or math.isfinite(value)
    assert "nan" not in describe(shape)
