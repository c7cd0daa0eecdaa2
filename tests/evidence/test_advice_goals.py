"""Figures to reach, figures of a situation, and the advice they belong to."""

from __future__ import annotations

import pytest

from pytest_clinical_drift.evidence.advice import find_advice
from pytest_clinical_drift.evidence.conflict import judge_conflict
from pytest_clinical_drift.evidence.guidance.figures import Figure, alike, meet, read_figures
from pytest_clinical_drift.evidence.guidance.goals import read_goal


@pytest.mark.parametrize(
    ("text", "measure", "low", "high"),
    [
        ("drink about two litres of water a day", "fluids", 2.0, 2.0),
        ("drink eight glasses of water a day", "fluids", 1.76, 1.76),
        ("no more than 1500 ml of fluid a day", "fluids", 0.0, 1.5),
        ("walk 7000 steps", "steps", 7000.0, 7000.0),
        ("30 minutes of brisk walking five days a week", "activity", 150.0, 150.0),
        ("spend 6 to 7 hours in bed", "time in bed", 6.0, 7.0),
        ("aim for a blood pressure below 135/85", "blood pressure", 0.0, 135.0),
        ("keep to two and a half litres of fluid a day", "fluids", 0.0, 2.5),
    ],
)
def test_a_goal_is_read(text: str, measure: str, low: float, high: float) -> None:
    """Amount, period and direction make up the goal."""
    goal = read_goal(text.split())
    assert goal is not None
    assert (goal.measure, pytest.approx(goal.low), pytest.approx(goal.high)) == (measure, low, high)


@pytest.mark.parametrize("text", ["your blood pressure was 150/95", "wait ten minutes", "two litres", "drink water"])
def test_no_goal(text: str) -> None:
    """A reading, a wait, an amount of nothing and a drink without an amount set none."""
    assert read_goal(text.split()) is None


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Keep your fluids to one litre a day.", "Drink at least two litres of water a day."),
        ("Aim for 3000 steps a day this month.", "Your goal this month is 10000 steps a day."),
        ("The target is a blood pressure under 130/80.", "Aim for a blood pressure under 155/95."),
        ("Stay under four mugs of coffee a day.", "Ten mugs of coffee a day are fine."),
    ],
)
def test_other_goals_contradict(earlier: str, later: str) -> None:
    """Two figures for one goal that cannot both be kept."""
    assert judge_conflict(earlier, later).contradiction


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Drink up to two litres of fluid a day.", "About 1.5 litres of fluid a day is right."),
        ("Aim for 150 minutes of exercise a week.", "30 minutes of exercise on five days a week is a good aim."),
        ("Aim for a blood pressure under 140/90.", "Your blood pressure was 152/94 today."),
    ],
)
def test_goals_that_agree(earlier: str, later: str) -> None:
    """A figure within the limit, the same total in other words, and a reading."""
    assert not judge_conflict(earlier, later).contradiction


def test_figures_have_units() -> None:
    """Times become minutes, body heat a temperature, and "more than" is open above."""
    assert read_figures(["longer", "than", "five", "minutes"])[0][:2] == ("time", 5.0)
    assert read_figures(["at", "38.6", "ring", "us"]) == (Figure("temperature", 38.6, 38.6),)
    assert read_figures(["within", "two", "minutes"]) == (Figure("time", 0.0, 2.0),)
    assert read_figures(["call", "999"]) == ()


def test_figures_meet() -> None:
    """None without a common unit; temperatures need no other word in common."""
    long, short = read_figures(["over", "5", "minutes"]), read_figures(["2", "minutes"])
    assert meet(long, short) is False
    assert meet(long, ()) is None
    hot, hotter = read_figures(["a", "fever", "over", "38"]), read_figures(["at", "38.9"])
    assert alike(hot, hotter, one_matter=False)
    assert not alike(long, read_figures(["9", "minutes"]), one_matter=False)


def test_each_medicine_has_its_own_amount() -> None:
    """Two medicines in one instruction keep their doses apart."""
    advice = find_advice("Take amlodipine 10 mg and your atorvastatin 40 mg at night.")
    assert [(item.object, item.dose) for item in advice] == [
        ("drug:amlodipine", "10 mg"), ("drug:atorvastatin", "40 mg")
    ]  # fmt: skip


def test_tablets_are_counted_without_a_unit() -> None:
    """A number right before a medicine is how many."""
    assert judge_conflict("Take one codeine at a time.", "Take four codeine at a time.").contradiction
