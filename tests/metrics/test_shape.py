"""The shape of forgetting on curves whose story is plain."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_clinical_drift.metrics.shape import fit_shape

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


def test_cliff_has_a_turn_and_two_levels() -> None:
    """The first turn after the step, and what recall was before and is after it; up or down."""
    fall, rise = fit_shape(CLIFF), fit_shape([0.5] * 7 + [0.9] * 3)
    assert (fall.turn, rise.turn) == (6, 8)
    assert [fall.start, fall.end, rise.start, rise.end] == pytest.approx([0.95, 0.40, 0.5, 0.9])


def test_line_and_fade_have_their_figures() -> None:
    """The line both ends; the fade its floor and half-life."""
    line, fade = fit_shape(LINE), fit_shape(FADE)
    assert [line.start, line.end] == pytest.approx([1.0, 0.55])
    assert fade.half_life == pytest.approx(2.0, abs=0.1)
    assert fade.floor == pytest.approx(0.3, abs=0.02)


def test_a_rising_line_does_not_promise_more_than_everything() -> None:
    """Recall that rises to 1.0 and stays there: the line through it would end at 1.06."""
    shape = fit_shape([0.76, 0.80, 0.85, 0.90, 0.94, 0.98, 1.0, 1.0, 1.0, 1.0])
    assert shape.kind != "none"
    assert shape.end == 1.0


def test_missing_turn_does_not_move_the_cliff() -> None:
    """Turn 3 was not evaluated; the cliff is still at turn 6."""
    assert fit_shape([0.95, 0.95, None, *CLIFF[3:]]).turn == 6


def test_small_fall_is_none() -> None:
    """A perfect line of 0.01 a turn falls by 0.09 in all: nobody would call it a shape."""
    assert fit_shape([1.0 - 0.01 * turn for turn in range(10)]).kind == "none"


@pytest.mark.parametrize("curve", [[], [1.0], [1.0, None, 0.5], [None] * 10, [1.0, 1.0, 0.0, 0.0], [0.9] * 5])
def test_too_few_turns(curve: list[float | None]) -> None:
    """Below six points there is no shape to tell, and a cliff is not called steady."""
    shape = fit_shape(curve)
    assert (shape.kind, shape.start, shape.end) == ("too short", None, None)


@given(st.lists(st.one_of(st.none(), st.floats(0, 1)), max_size=20))
def test_any_curve_gets_a_finite_story(curve: list[float | None]) -> None:
    """Never NaN, never an error, and never a recall below 0 or above 1."""
    shape = fit_shape(curve)
    assert shape.half_life is None or math.isfinite(shape.half_life)
    for value in (shape.start, shape.end, shape.floor):
        assert value is None or 0 <= value <= 1


def test_six_turns_are_enough_to_tell() -> None:
    """With five there is no room for a step: a cliff would be called steady."""
    assert [fit_shape([0.9] * count).kind for count in (5, 6)] == ["too short", "none"]


def test_six_turns_afford_three_parameters() -> None:
    """A cliff and a quick fade of six turns: one point more than their parameters and the scatter, so they may win."""
    assert fit_shape([0.95] * 3 + [0.4] * 3).kind == "step"
    assert fit_shape([0.3 + 0.7 * 2 ** (-turn / 0.8) for turn in range(6)]).kind == "exponential"


@pytest.mark.parametrize(("noise", "kind"), [(0.055, "linear"), (0.060, "none")])
def test_a_line_must_earn_its_parameter(noise: float, kind: str) -> None:
    """Ten turns: AICc asks 2 x 3 x 10 / 6 + 2 of a line and 2 x 2 x 10 / 7 of a level, so 6.29 more.

    A fall of 0.2 under a zigzag gains 10 ln(spread of the level / spread of the line): 6.94 and 5.96.
    """
    curve = [0.9 - 0.2 * turn / 9 + (noise if turn % 2 else -noise) for turn in range(10)]
    assert fit_shape(curve).kind == kind


def test_a_cliff_may_be_the_last_turn_or_the_second() -> None:
    """Its ends are the levels of the first and of the last turn."""
    last, second = fit_shape([0.95] * 9 + [0.4]), fit_shape([0.95] + [0.4] * 9)
    assert (last.kind, last.turn, second.kind, second.turn) == ("step", 10, "step", 2)
    assert [last.start, last.end, second.start, second.end] == pytest.approx([0.95, 0.4, 0.95, 0.4])


@pytest.mark.parametrize(("fall", "kind"), [(0.100, "linear"), (0.099, "none")])
def test_a_change_of_a_tenth_is_the_least_that_is_told(fall: float, kind: str) -> None:
    """A perfect line that falls by exactly a tenth from end to end is one, a little less is not."""
    assert fit_shape([0.9 - fall * turn / 9 for turn in range(10)]).kind == kind


@pytest.mark.parametrize("half_life", [0.7, 3.0])
def test_a_fade_that_begins_late_begins_at_its_first_turn(half_life: float) -> None:
    """Turns 1 and 2 were not evaluated: start, floor and half-life are those from turn 3 on."""
    fade = fit_shape([None, None, *(0.3 + 0.6 * 2 ** (-turn / half_life) for turn in range(12))])
    assert fade.kind == "exponential"
    assert [fade.start, fade.floor] == pytest.approx([0.9, 0.3], abs=0.03)
    assert fade.half_life == pytest.approx(half_life, rel=0.05)
    assert fade.end == pytest.approx(0.3 + 0.6 * 2 ** (-11 / half_life), abs=0.02)


def test_level_and_noise_tell_one_level() -> None:
    """A steady curve begins and ends at its mean."""
    steady = fit_shape([0.9, 0.92] * 5)
    assert [steady.start, steady.end] == pytest.approx([0.91, 0.91])
    assert (steady.turn, steady.half_life, steady.floor) == (None, None, None)


def test_a_line_that_would_end_above_one_ends_at_one() -> None:
    """Recall rises by 0.04 a turn from 0.66 and stops at 1.0: the line through it would reach 1.01."""
    line = fit_shape([min(1.0, 0.66 + 0.04 * turn) for turn in range(10)])
    assert (line.kind, line.end) == ("linear", 1.0)


@pytest.mark.parametrize(("noise", "kind"), [(0.107, "step"), (0.113, "none")])
def test_a_cliff_must_earn_its_two_parameters(noise: float, kind: str) -> None:
    """Twelve turns: AICc asks 2 x 4 x 12 / 7 of a cliff and 2 x 2 x 12 / 9 of a level, so 8.38 more.

    A fall of 0.3 for the last two turns has a spread of 0.0125 between its levels; under a zigzag it gains
    12 ln(1 + 0.0125 / (noise² + 0.005²)): 8.84 and 8.18.
    """
    curve = [value + (noise if turn % 2 else -noise) for turn, value in enumerate([0.9] * 10 + [0.6] * 2)]
    assert fit_shape(curve).kind == kind


@pytest.mark.parametrize(("noise", "kind"), [(0.06, "exponential"), (0.07, "step")])
def test_fade_and_cliff_cost_the_same(noise: float, kind: str) -> None:
    """Both have three parameters, so that the closer one is told, however close the other is."""
    fade = [0.5 + 0.4 * 2 ** (-turn / 1.2) for turn in range(12)]
    assert fit_shape([value + (noise if turn % 2 else -noise) for turn, value in enumerate(fade)]).kind == kind
