"""Figures of a sentence with their units: "longer than five minutes", "over 38", "under 4"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pytest_clinical_drift.evidence.guidance.numbers import number
from pytest_clinical_drift.evidence.guidance.words import listed

_MINUTES = {
    "minute": 1.0, "minutes": 1.0, "min": 1.0, "mins": 1.0, "second": 1 / 60, "seconds": 1 / 60, "hour": 60.0,
    "hours": 60.0, "hrs": 60.0, "day": 1440.0, "days": 1440.0, "week": 10080.0, "weeks": 10080.0,
}  # fmt: skip
_UNITS = {
    "kg": "kg", "kilos": "kg", "kilo": "kg", "lb": "lb", "lbs": "lb", "pound": "lb", "pounds": "lb", "mg": "mg",
    "ml": "ml", "litres": "litre", "puffs": "puff", "units": "unit",
}  # fmt: skip
_OR_MORE = (("or", "more"), ("or", "higher"), ("or", "above"), ("or", "over"), ("and", "above"), ("or", "longer"))
_RHYTHM = frozenset(["times", "pm", "am", "months", "years"])
_ABOVE = frozenset(["over", "above", "than", "beyond", "least", "exceeds", "exceeding", "past"])
_BELOW = frozenset(["under", "below", "less", "fewer", "shorter", "lower", "within"])
_COLDEST, _HOTTEST = 35.0, 42.5
_HEAT = frozenset(["temperature", "fever", "thermometer", "hot", "degrees", "celsius", "feverish"])
_TO = frozenset(("to", "and", "or"))
_NO_LIMIT = 1e12


class Figure(NamedTuple):
    """A range of values."""

    unit: str
    """time (in minutes), a unit of measurement, or "" where none is said."""
    low: float
    high: float


def read_figures(words: Sequence[str]) -> tuple[Figure, ...]:
    """The figures of a sentence, phone numbers and clock times aside."""
    phones = listed("phones")
    found: list[Figure] = []
    ends = -1
    for at, word in enumerate(words):
        if word in phones or at <= ends:
            continue
        if word[0].isdigit() and _is_range(words, at):
            ends = at + (2 if words[at + 1] in _TO else 1)
            unit = words[ends + 1] if ends + 1 < len(words) else ""
            factor = _MINUTES.get(unit)
            low, high = float(word), float(words[ends])
            found.append(Figure("time", low * factor, high * factor) if factor else Figure("", low, high))
            continue
        following = words[at + 1] if at + 1 < len(words) else ""
        if word == "half" and list(words[at + 1 : at + 3]) == ["an", "hour"]:
            found.append(_ranged(words, at, "time", 30.0))
            ends = at + 2
        elif following in _MINUTES:
            value = number(word)
            if value is not None:
                found.append(_ranged(words, at, "time", value * _MINUTES[following]))
        elif following in _UNITS and word.isalpha() and word not in ("a", "an") and number(word) is not None:
            found.append(_ranged(words, at, _UNITS[following], number(word) or 0.0))
        elif "/" in word and _is_pressure(word):
            found.append(_ranged(words, at, "pressure", float(word.partition("/")[0])))
        elif _plain(word) and following not in _RHYTHM:
            found.append(_ranged(words, at, _unit(words, word, following), float(word)))
    return tuple(found)


def _is_pressure(word: str) -> bool:
    """ "180/110"."""
    upper, _, lower = word.partition("/")
    return upper.isdecimal() and lower.isdecimal() and 70 <= int(upper[:4]) <= 260 and 30 <= int(lower[:4]) <= 150


def _unit(words: Sequence[str], word: str, following: str) -> str:
    """The unit of a figure; a decimal of body heat is a temperature even where the word is not said."""
    if following in _UNITS:
        return _UNITS[following]
    heat = _COLDEST <= float(word) <= _HOTTEST
    return "temperature" if heat and ("." in word or not _HEAT.isdisjoint(words)) else ""


def _is_range(words: Sequence[str], at: int) -> bool:
    """ "1.6 to 2.9", "between 4 and 7", "0.6–1.5"."""
    following = list(words[at + 1 : at + 3])
    if following[:1] and following[0] in _TO:
        following = following[1:]
    if not following or not _plain(following[0]) or not _plain(words[at]):
        return False
    joined = words[at + 1] in ("to", "or") or words[max(0, at - 1)] == "between" or words[at + 1] not in _TO
    return joined and float(words[at]) < float(following[0])


def _plain(word: str) -> bool:
    return word[0].isdigit() and word.replace(".", "", 1).isdecimal() and len(word) < 6


def _ranged(words: Sequence[str], at: int, unit: str, value: float) -> Figure:
    before = words[max(0, at - 3) : at]
    if words[max(0, at - 1)] == "within" and "not" in words[max(0, at - 5) : at]:
        # "if it doesn't go within 15 minutes"
        return Figure(unit, value, _NO_LIMIT)
    if not _BELOW.isdisjoint(before):
        return Figure(unit, 0.0, value)
    if not _ABOVE.isdisjoint(before) or tuple(words[at + 1 : at + 3]) in _OR_MORE:
        return Figure(unit, value, _NO_LIMIT)
    return Figure(unit, value, value)


def meet(first: Sequence[Figure], second: Sequence[Figure]) -> bool | None:
    """Whether two sentences speak of the same values: None where no unit is common to both."""
    verdict = None
    for one in first:
        for other in second:
            if one.unit == other.unit:
                verdict = bool(verdict) or (one.low <= other.high and other.low <= one.high)
    return verdict


def shared_units(first: Sequence[Figure], second: Sequence[Figure]) -> frozenset[str]:
    """Units in which both name values that meet."""
    return frozenset(
        one.unit for one in first for other in second if one.unit and one.unit == other.unit and meet([one], [other])
    )


def exclude(first: Sequence[Figure], second: Sequence[Figure]) -> bool:
    """Whether both name values of one unit, or limits and values without any, that do not meet."""
    measured = [figure for figure in first if figure.unit or 0 in figure or _NO_LIMIT in figure]
    return meet(measured, second) is False


def alike(first: Sequence[Figure], second: Sequence[Figure], *, one_matter: bool) -> bool:
    """Whether both name the same values in the same unit; temperatures need no other word in common."""
    measured = [figure for figure in first if figure.unit]
    heat = any(figure.unit == "temperature" for figure in measured)
    return bool(meet(measured, second)) and (heat or one_matter)
