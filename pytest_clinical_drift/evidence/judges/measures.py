"""Amounts and rhythms of two directives compared."""

from __future__ import annotations

from pytest_clinical_drift.evidence.guidance.quantity import Amounts, Span
from pytest_clinical_drift.evidence.guidance.record import Advice
from pytest_clinical_drift.evidence.guidance.words import listed
from pytest_clinical_drift.evidence.judges.opposition import Opposition

_GRAVE_GOALS = frozenset(("fluids", "blood pressure", "glucose", "saturation"))
_HOURS = frozenset(("morning", "evening", "night"))
_OTHER_DOSE = 1.2
_SEVERE_DOSE = 2.0
_OTHER_RHYTHM = 1.45
_FAR_DATE = 3.0
"""A date against a rhythm is only a contradiction when this far apart."""


def amounts_opposed(first: Advice, second: Advice, name: str, object_id: str, medicine: bool) -> Opposition | None:
    """Different dose, or else different frequency, of one thing."""
    for advice in (first, second):
        limits = advice.polarity == "don't" and advice.effect == "more" and advice.amounts.ceiling
        if advice.effect == "against" or (advice.polarity != "do" and advice.effect != "wait" and not limits):
            return None
    if {first.hour, second.hour} <= _HOURS and first.hour != second.hour and medicine:
        # two doses of one day
        return None
    ratio = dose_ratio(first.amounts, second.amounts)
    if ratio is not None:
        if ratio < _OTHER_DOSE:
            return None
        reason = f"different amounts of {name}: {first.dose} and {second.dose}"
        return Opposition("dose", reason, ratio >= _SEVERE_DOSE, object_id, 2.0)
    gap = rhythm_ratio(first.amounts, second.amounts)
    if gap is None or gap < _OTHER_RHYTHM:
        return None
    reason = f"{name} {how_often(first.amounts)} and {how_often(second.amounts)}"
    return Opposition("frequency", reason, medicine, object_id, 1.8)


def goals_opposed(first: Advice, second: Advice, *, whole: bool) -> Opposition | None:
    """Two figures to reach that exclude each other; in whole replies a stage on the way is none."""
    one, other = first.goal, second.goal
    if one is None or other is None or not one.apart(other):
        return None
    if not (_keeps_goal(first) and _keeps_goal(second)):
        return None
    if one.ramped and whole and (_is_stage(first) or _is_stage(second)):
        return None
    reason = f"different goals for {one.measure}: {one.shown} and {other.shown}"
    return Opposition("dose", reason, one.measure in _GRAVE_GOALS, f"goal:{one.measure}", 1.9)


def _keeps_goal(advice: Advice) -> bool:
    """Whether it sets the figure; "don't aim for" sets one only as an upper limit."""
    goal = advice.goal
    return advice.polarity == "do" or (advice.polarity == "don't" and goal is not None and goal.low == 0)


def _is_stage(advice: Advice) -> bool:
    return not listed("on_the_way").isdisjoint(advice.quote.lower().replace(",", " ").split())


def food_opposed(first: Advice, second: Advice, name: str, object_id: str) -> Opposition | None:
    """With food here, without it there."""
    if {first.food, second.food} == {"with_food", "without_food"}:
        return Opposition("food", f"{name} with food and without food", False, object_id, 1.5)
    return None


def how_often(amounts: Amounts) -> str:
    """A rhythm or date in words."""
    return amounts.frequency_text or (f"in {amounts.due[0]:g} days" if amounts.due else "")


def dose_ratio(one: Amounts, other: Amounts) -> float | None:
    """How far two doses are apart (1: they agree), None when they cannot be compared."""
    if one.split != other.split and one.dose is not None and other.dose is not None and one.dose.overlaps(other.dose):
        # one of several unequal doses of a day
        return 1.0
    for first, second in ((one.daily, other.daily), (one.dose, other.dose)):
        if first is None or second is None or first.dimension != second.dimension:
            continue
        if first.overlaps(second):
            return 1.0
        if one.ceiling != other.ceiling:
            limit, plain = (first, second) if one.ceiling else (second, first)
            if plain.high <= limit.high:
                return 1.0
        low, high = sorted((first, second), key=lambda amount: amount.high)
        return high.low / low.high if low.high else None
    return None


def rhythm_ratio(one: Amounts, other: Amounts) -> float | None:
    """How far two rhythms, or a rhythm and a date, are apart; None when they cannot be compared."""
    first, second = _interval(one), _interval(other)
    if first is None or second is None or not (first[1] and second[1]):
        return None
    ratio = max(first[0] / second[1], second[0] / first[1])
    if (one.per_day is None or other.per_day is None) and ratio < _FAR_DATE:
        return None
    return ratio


def _interval(amounts: Amounts) -> Span | None:
    """Days from one time to the next, shortest and longest."""
    if amounts.per_day is not None and amounts.per_day[0] > 0:
        return 1 / amounts.per_day[1], 1 / amounts.per_day[0]
    return amounts.due
