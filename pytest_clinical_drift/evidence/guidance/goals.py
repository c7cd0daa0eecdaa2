"""Numeric goals of everyday care: litres of fluid, steps, minutes of activity, hours in bed, a blood pressure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from pytest_clinical_drift.evidence.guidance.numbers import number, with_halves
from pytest_clinical_drift.evidence.terms.vocabulary import load_data

_PERIODS = {
    "day": 1.0, "daily": 1.0, "night": 1.0, "nightly": 1.0, "24": 1.0, "morning": 1.0, "evening": 1.0,
    "week": 7.0, "weekly": 7.0, "fortnight": 14.0, "month": 30.0, "monthly": 30.0,
}  # fmt: skip
_BEFORE_PERIOD = frozenset(["a", "per", "each", "every", "the", "in", "any", "over"])
_PERIOD_WITHIN = 9
_BOUND_WITHIN = 5
_NEAR = frozenset(["about", "around", "roughly", "approximately", "some", "of", "a", "an", "total", "the"])
_NO_LIMIT = 1e12


@dataclass(frozen=True, slots=True)
class Goal:
    """How much of something to reach or to stay within."""

    measure: str
    """Entry of `goals` in data/advice.yaml."""
    low: float
    high: float
    margin: float
    """Goals of this measure differ when they are apart by this factor."""
    ramped: bool
    """Usually reached in steps, so that a smaller figure may be a stage on the way."""
    shown: str
    """The words that state it."""

    @property
    def figure(self) -> float:
        """The one figure of a goal that is only bounded on one side."""
        return self.low if self.high == _NO_LIMIT else self.high

    def apart(self, other: Goal) -> bool:
        """Whether both cannot be kept, give or take the margin."""
        if self.measure != other.measure or self.figure <= 0 or other.figure <= 0:
            return False
        if self.low == other.low == 0 or self.high == other.high == _NO_LIMIT:
            # two upper (or two lower) limits: which one holds?
            return max(self.figure, other.figure) >= self.margin * min(self.figure, other.figure)
        # a limit is meant more strictly than a figure to aim at
        limited = 0 in (self.low, other.low) or _NO_LIMIT in (self.high, other.high)
        margin = self.margin**0.5 if limited else self.margin
        return self.low >= other.high * margin or other.low >= self.high * margin


@dataclass(frozen=True, slots=True)
class _Measure:
    name: str
    units: dict[str, float]
    about: frozenset[str]
    plain: frozenset[str]
    """Units that say enough by themselves: "two litres a day"."""
    others: frozenset[str]
    """Words of other matters with the same units."""
    stated: bool
    """A measured value: only a goal where the sentence says so ("target", "aim")."""
    per: float | None
    margin: float
    ramped: bool


@lru_cache(maxsize=1)
def _measures() -> tuple[_Measure, ...]:
    data: dict[str, dict[str, Any]] = load_data("advice")["goals"]
    return tuple(
        _Measure(
            name,
            {str(unit): float(factor) for unit, factor in entry["units"].items()},
            frozenset(entry.get("about", ())),
            frozenset(entry.get("plain", ())),
            frozenset(entry.get("others", ())),
            bool(entry.get("stated", False)),
            _PERIODS.get(str(entry.get("per", ""))),
            float(entry["margin"]),
            bool(entry.get("ramped", False)),
        )
        for name, entry in data.items()
    )


@lru_cache(maxsize=1)
def _words() -> dict[str, frozenset[str]]:
    data: dict[str, list[str]] = load_data("advice")["goal_words"]
    return {name: frozenset(words) for name, words in data.items()}


@lru_cache(maxsize=1)
def _all_units() -> frozenset[str]:
    return frozenset(unit for measure in _measures() for unit in measure.units)


def states_a_goal(words: Sequence[str]) -> bool:
    """Whether a stretch of words speaks of a target at all."""
    if not _words()["announces"].isdisjoint(words):
        return True
    return any(word == "up" and words[at + 1] == "to" for at, word in enumerate(words[:-1]))


def read_goal(words: Sequence[str]) -> Goal | None:
    """The first goal that stands in the words of a sentence."""
    ratio = any("/" in word and word[0].isdigit() for word in words)
    if not ratio and _all_units().isdisjoint(words):
        return None
    words = with_halves(words)
    for measure in _measures():
        if measure.about and measure.about.isdisjoint(words) and measure.plain.isdisjoint(words):
            continue
        if not measure.others.isdisjoint(words):
            continue
        if measure.stated and not states_a_goal(words):
            continue
        found = _pressure(words, measure) if "/" in measure.units else _amount(words, measure)
        if found is not None:
            return found
    return None


def _pressure(words: Sequence[str], measure: _Measure) -> Goal | None:
    for at, word in enumerate(words):
        upper, _, lower = word.partition("/")
        if upper.isdigit() and lower.isdigit() and 80 <= int(upper) <= 240 and 40 <= int(lower) <= 140:
            value = float(upper)
            return Goal(measure.name, 0.0, value, measure.margin, measure.ramped, word) if at else None
    return None


def _amount(words: Sequence[str], measure: _Measure) -> Goal | None:
    for at, word in enumerate(words):
        factor = measure.units.get(word)
        if factor is None or not at or (words[at + 1 : at + 2] != [] and words[at + 1] in measure.units):
            # of "8-ounce glasses" the glasses are counted
            continue
        first = at - 1
        size = _size(words, at, measure)
        if size is not None:
            factor, first = size, at - 3
        high = number(words[first])
        if high is None or words[first] in ("a", "an"):
            continue
        low = high
        if first >= 2 and words[first - 1] in ("to", "or", "and") and number(words[first - 2]) is not None:
            low = number(words[first - 2]) or high
            first -= 2
        elif first >= 1 and words[first - 1][0].isdigit() and number(words[first - 1]) is not None:
            # "7-9 hours": the hyphen is no word
            low = number(words[first - 1]) or high
            first -= 1
        scale = _per_day(words, at, measure)
        if scale is None or low > high:
            continue
        shown = " ".join(words[first : at + 1])
        return _bounded(words, first, at, Goal(measure.name, low * factor * scale, high * factor * scale,
                                               measure.margin, measure.ramped, shown))  # fmt: skip
    return None


def _size(words: Sequence[str], at: int, measure: _Measure) -> float | None:
    """How much is in one of the "8-ounce glasses" or "cups of 200 ml" that are counted, in the goal's own unit."""
    if at < 3 or words[at] not in measure.units:
        return None
    held, unit = number(words[at - 2]), measure.units.get(words[at - 1])
    return None if held is None or unit is None or number(words[at - 3]) is None else held * unit


def _per_day(words: Sequence[str], at: int, measure: _Measure) -> float | None:
    """Factor to the measure's own period; None where the period is not said."""
    if measure.per is None:
        return 1.0
    days: float | None = None
    times = 1.0
    for index in range(at + 1, min(at + _PERIOD_WITHIN, len(words))):
        if words[index] in ("days", "times", "nights") and number(words[index - 1]) is not None:
            # "30 minutes, five days a week"
            times = number(words[index - 1]) or 1.0
        elif words[index] in _PERIODS and (words[index].endswith("ly") or words[index - 1] in _BEFORE_PERIOD):
            days = _PERIODS[words[index]]
            break
    if days is None:
        opening = words[max(0, at - 8) : at]
        if "daily" in opening or ("day" in opening and not {"every", "a", "per"}.isdisjoint(opening)):
            days = 1.0
    return None if days is None else measure.per * times / days


def _capped(before: Sequence[str]) -> bool:
    """ "up to 1.5 litres"; "build up to" names what to reach."""
    return list(before[-2:]) == ["up", "to"] and before[-3:-2] not in (["build"], ["work"], ["building"], ["working"])


def _bounded(words: Sequence[str], first: int, at: int, goal: Goal) -> Goal:
    """The goal as an upper or lower limit where the words around it say so."""
    before = [word for word in words[max(0, first - _BOUND_WITHIN) : first] if word not in _NEAR]
    after = list(words[at + 1 : at + 3])
    bounds = _words()
    negated = not {"no", "not", "never"}.isdisjoint(before)
    ceiling = not bounds["ceiling"].isdisjoint(before) or _capped(before) or after == ["or", "less"]
    floor = not bounds["floor"].isdisjoint(before[-3:]) or after == ["or", "more"]
    if ceiling or (floor and negated):
        return Goal(goal.measure, 0.0, goal.high, goal.margin, goal.ramped, goal.shown)
    if floor:
        return Goal(goal.measure, goal.low, _NO_LIMIT, goal.margin, goal.ramped, goal.shown)
    return goal
