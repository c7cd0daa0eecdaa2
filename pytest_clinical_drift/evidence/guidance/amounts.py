"""How much, how often, when: the measurable side of a piece of advice, read from a stretch of words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from pytest_clinical_drift.evidence.guidance.numbers import NUMBER_WORDS, number, number_range, with_halves
from pytest_clinical_drift.evidence.guidance.quantity import Amount, Amounts, Span
from pytest_clinical_drift.evidence.guidance.regimens import as_range, split_doses
from pytest_clinical_drift.evidence.guidance.rhythms import times_listed
from pytest_clinical_drift.evidence.terms.vocabulary import load_data

# Base units of the dimensions in data/units.yaml, as they are shown.
_SHOWN = {"mass": "mg", "volume": "ml"}
_COUNTED = frozenset(("tablet", "puff", "spoon"))
_PERIODS = {
    "hour": 1 / 24, "hours": 1 / 24, "hourly": 1 / 24, "hrs": 1 / 24, "day": 1.0, "days": 1.0, "daily": 1.0,
    "night": 1.0, "nights": 1.0, "nightly": 1.0, "morning": 1.0, "mornings": 1.0, "evening": 1.0, "evenings": 1.0,
    "week": 7.0, "weeks": 7.0, "weekly": 7.0, "fortnight": 14.0, "fortnightly": 14.0, "month": 30.0,
    "months": 30.0, "monthly": 30.0, "year": 365.0, "years": 365.0, "yearly": 365.0, "annually": 365.0,
    "bedtime": 1.0, "breakfast": 1.0, "meal": 1 / 3, "monday": 7.0, "tuesday": 7.0, "wednesday": 7.0, "thursday": 7.0,
    "friday": 7.0, "saturday": 7.0, "sunday": 7.0,
}  # fmt: skip
_SHORT = {"bd": 2.0, "bid": 2.0, "tds": 3.0, "tid": 3.0, "qds": 4.0, "qid": 4.0, "od": 1.0, "nocte": 1.0, "mane": 1.0}
_ONCE = {"once": 1.0, "twice": 2.0, "thrice": 3.0}
_ADVERBS = frozenset(["daily", "nightly", "weekly", "fortnightly", "monthly", "yearly", "annually"])
# "the daily limit" says nothing about how often.
_NOT_A_RHYTHM = frozenset(
    ["limit", "maximum", "max", "total", "amount", "life", "routine", "activities", "living", "intake", "allowance"]
)
_GIVEN = frozenset(
    ["injection", "injections", "jab", "jabs", "shot", "shots", "session", "sessions", "application", "checks", "check"]
)
_ONCE_IN_A_WHILE = 0.01
_FEW = 2
"""More parts of the day than this in one list are a rhythm; two have their own wordings."""
_TWICE_A_DAY = re.compile(
    r"\b(?:(?:morning|breakfast) and (?:\w+ ){0,4}?(?:night|evening|bedtime|dinner|supper|teatime|tea|lunch|nightly)"
    r"|am and pm|night and morning|evening and morning)\b"
)
_ONCE_A_DAY = re.compile(r"\b(?:at night|at bedtime|in the morning|at breakfast|with breakfast)\b")
_WHOLE_DAY = re.compile(r"\b(?:in 24 hours|a day|in a day|per day|daily|each day|every day)\b")
_CEILING = re.compile(
    r"\b(?:up to|the most|no more than|not more than|at most|maximum|max|limit|ceiling|never more than|within)\b"
    r"|\b(?:under|below|less than|fewer than) (?=\d)"
)


@lru_cache(maxsize=1)
def _units() -> dict[str, tuple[str, float]]:
    """Word of a unit in which medicines are taken: its dimension and factor to the base unit."""
    found: dict[str, tuple[str, float]] = {"spoonful": ("spoon", 1.0), "teaspoon": ("spoon", 1.0)}
    for entry in load_data("units") or ():
        if entry["kind"] in ("dose", "count"):
            unit = _SHOWN.get(entry["dimension"], str(entry["dimension"])), float(entry["factor"])
            found.update((word, unit) for word in entry["words"] if len(word) > 1 or word == "g")
    return found


NOTHING = Amounts()
# Without a figure and without any of these words there is nothing to read.
_SIGNS = (
    frozenset(NUMBER_WORDS) | frozenset(_SHORT) | frozenset(_ONCE) | _ADVERBS | frozenset(_PERIODS) | {"every", "each"}
)


def _frequency(words: Sequence[str], at: int) -> tuple[Span, int] | None:
    """A frequency that begins at `at`: times per day and where it ends."""
    word = words[at]
    total = len(words)
    if word in _SHORT:
        return (_SHORT[word], _SHORT[word]), at + 1
    if word in _ONCE:
        return _per_period(words, at + 1, (_ONCE[word], _ONCE[word]))
    if word in ("every", "each"):
        return _every(words, at + 1) if at + 1 < total else None
    if word in _ADVERBS:
        if at + 1 < total and words[at + 1] in _NOT_A_RHYTHM:
            return None
        return (1 / _PERIODS[word], 1 / _PERIODS[word]), at + 1
    found = number_range(words, at)
    if found is None or found[2] >= total:
        return None
    low, high, end = found
    if words[end] in ("times", "time", "x", "nights", "days", "mornings", "evenings"):
        return _per_period(words, end + 1, (low, high))
    for after in range(end, min(end + 3, total - 2)):
        # "one B12 jab a year"
        if words[after] in _GIVEN and word not in ("a", "an"):
            return _per_period(words, after + 1, (low, high))
    if words[end] == "hourly":
        return (24 / high, 24 / low), end + 1
    if words[end] in _ADVERBS and word not in ("a", "an"):
        days = _PERIODS[words[end]]
        return (low / days, high / days), end + 1
    return None


def _every(words: Sequence[str], at: int) -> tuple[Span, int] | None:
    """What follows "every": "other day", "morning", "72 hours", "6 to 8 hours"."""
    if words[at] in ("other", "second") and at + 1 < len(words) and words[at + 1] in _PERIODS:
        days = 2 * _PERIODS[words[at + 1]]
        return (1 / days, 1 / days), at + 2
    if words[at] in _PERIODS:
        days = _PERIODS[words[at]]
        return (1 / days, 1 / days), at + 1
    found = number_range(words, at)
    if found and found[2] < len(words) and words[found[2]] in _PERIODS and found[0] > 0:
        unit = _PERIODS[words[found[2]]]
        return (1 / (found[1] * unit), 1 / (found[0] * unit)), found[2] + 1
    return None


def _per_period(words: Sequence[str], at: int, times: Span) -> tuple[Span, int] | None:
    """The period that times refer to: "a day", "in 24 hours", "daily"."""
    total = len(words)
    if at >= total:
        return None
    if words[at] in _ADVERBS:
        days = _PERIODS[words[at]]
        return (times[0] / days, times[1] / days), at + 1
    if words[at] not in ("a", "per", "every", "each", "in", "the", "any") or at + 1 >= total:
        return None
    if words[at] == "in" and words[at + 1] in ("any", "each", "a", "the") and at + 2 < total:
        at += 1
    if words[at + 1] in _PERIODS:
        days = _PERIODS[words[at + 1]]
        return (times[0] / days, times[1] / days), at + 2
    found = number_range(words, at + 1)
    if found and found[2] < total and words[found[2]] in _PERIODS and found[0] > 0:
        days = found[0] * _PERIODS[words[found[2]]]
        return (times[0] / days, times[1] / days), found[2] + 1
    return None


def read_amounts(words: Sequence[str]) -> Amounts:
    """Amounts, frequency, due date and duration that stand in a stretch of words."""
    if _SIGNS.isdisjoint(words) and not any(word[0].isdigit() for word in words):
        return NOTHING
    words = with_halves(words)
    units = _units()
    found: list[tuple[Amount, int, int]] = []
    frequencies: list[Span] = []
    due: Span | None = None
    lasts: Span | None = None
    at = 0
    total = len(words)
    while at < total:
        frequency = _frequency(words, at)
        if frequency is not None:
            frequencies.append(frequency[0])
            at = frequency[1]
            continue
        value = number_range(words, at)
        if value is None:
            at += 1
            continue
        low, high, end = value
        if end < total and words[end] in ("full", "whole", "good", "further", "solid"):
            end += 1
        unit = words[end] if end < total else ""
        if at and words[at - 1] == "from" and unit in ("to", "up", "down"):
            unit = _unit_ahead(words, end, units) or unit
        if unit in units and not (words[at] in ("a", "an") and unit in ("g", "unit", "units")):
            dimension, factor = units[unit]
            if at and words[at - 1] == "by":
                # "by two units" is a step, not a dose
                at = end + 1
                continue
            written = end < total and words[end] == unit
            found.append((Amount(low * factor, high * factor, dimension), at, end + written))
        elif unit in _PERIODS:
            days = (low * _PERIODS[unit], high * _PERIODS[unit])
            before = words[at - 1] if at else ""
            after = words[end + 1] if end + 1 < total else ""
            if unit in ("hours", "hrs") and after in ("between", "apart") and high:
                # "at least six hours apart": four times a day at most
                least = "least" in words[max(0, at - 2) : at]
                frequencies.append((_ONCE_IN_A_WHILE if least else 24 / high, 24 / low))
            elif before == "least" and "for" in words[max(0, at - 3) : at]:
                lasts = lasts or days
            elif before == "for" and after == "after":
                # "for four weeks after the operation"
                lasts = lasts or days
            elif after in ("time", "after", "later") or before in ("in", "within", "than", "least", "after"):
                due = due or days
            elif before in ("for", "full", "the", "complete", "finish", "another") or after == "of":
                lasts = lasts or days
        at = max(end, at + 1)
    return _assemble(words, found, frequencies, due, lasts)


def _unit_ahead(words: Sequence[str], at: int, units: dict[str, tuple[str, float]]) -> str | None:
    """The unit of "from 2 up to 4 mg", which is said only once."""
    while at < len(words) and words[at] in ("to", "up", "down"):
        at += 1
    value = number_range(words, at) if at < len(words) else None
    unit = words[value[2]] if value is not None and value[2] < len(words) else ""
    return unit if unit in units else None


def _assemble(
    words: Sequence[str],
    found: list[tuple[Amount, int, int]],
    frequencies: list[Span],
    due: Span | None,
    lasts: Span | None,
) -> Amounts:
    joined = " ".join(words)
    ceiling = bool(_CEILING.search(joined))
    per_day = frequencies[0] if frequencies else None
    if _TWICE_A_DAY.search(joined) and (per_day is None or per_day == (1.0, 1.0)):
        per_day = (2.0, 2.0)
    elif (per_day is None or per_day == (1.0, 1.0)) and (times_listed(words) or 0) > _FEW:
        times = float(times_listed(words) or 0)
        per_day = (times, times)
    elif per_day is None and _ONCE_A_DAY.search(joined):
        per_day = (1.0, 1.0)
    split = split_doses(words, found)
    if split is not None:
        return split
    found = as_range(words, found)
    stated_daily, found = _stated_daily(words, found)
    dose, changed_from = _dose(words, found)
    daily = dose.times(*per_day) if dose is not None and per_day is not None else None
    if (
        daily is None
        and len(found) == 1
        and list(words[found[0][2] : found[0][2] + 2]) in (["a", "day"], ["per", "day"])
    ):
        daily = dose
    if dose is not None and daily is None and ceiling and _WHOLE_DAY.search(joined):
        dose, daily = None, dose
    return Amounts(dose, stated_daily or daily, per_day, due, lasts, ceiling, False, changed_from)


def _stated_daily(
    words: Sequence[str], found: list[tuple[Amount, int, int]]
) -> tuple[Amount | None, list[tuple[Amount, int, int]]]:
    """A day's limit beside the single dose ("no more than 4 g in 24 hours"), and the other amounts."""
    if len(found) < 2:
        return None, found
    for index, (amount, first, end) in enumerate(found):
        before = " ".join(words[max(0, first - 4) : first])
        after = " ".join(words[end : end + 6])
        if _CEILING.search(before) and _WHOLE_DAY.search(after):
            return amount, found[:index] + found[index + 1 :]
    return None, found


def _dose(words: Sequence[str], found: list[tuple[Amount, int, int]]) -> tuple[Amount | None, Amount | None]:
    """The single dose, and the old one where the words tell of a change."""
    volumes = [amount for amount, _, _ in found if amount.dimension == "ml"]
    masses = [entry for entry in found if entry[0].dimension in ("mg", "unit")]
    counts = [entry for entry in found if entry[0].dimension in _COUNTED or entry[0].dimension == "drop"]
    if volumes:
        return volumes[0], None
    if masses:
        amount, first, end = masses[0]
        if first and words[first - 1] == "from" and len(masses) > 1:
            return masses[1][0], amount
        count = _count_before(words, first, end)
        if count is not None:
            return amount.times(count, count), None
        if counts and counts[0][0].dimension == "tablet" and 0 <= counts[0][1] - end <= 2:
            # "500 mg, two tablets"; in "two tablets (100 mg)" the mass is the total
            return amount.times(counts[0][0].low, counts[0][0].high), None
        return amount, None
    if counts:
        if counts[0][1] and words[counts[0][1] - 1] == "from" and len(counts) > 1:
            return counts[1][0], counts[0][0]
        return counts[0][0], None
    return None, None


def _count_before(words: Sequence[str], first: int, end: int) -> float | None:
    """ "two 500 mg tablets", "twelve of the 500 mg tablets": the count that stands before a strength."""
    units = _units()
    if not any(units.get(word, ("",))[0] == "tablet" for word in words[end : end + 4]):
        return None
    at = first - 1
    while at >= 0 and words[at] in ("of", "the", "your", "those"):
        at -= 1
    if at >= 1 and number(words[at]) is None:
        # "six codeine 30 mg tablets"
        at -= 1
    return number(words[at]) if at >= 0 else None
