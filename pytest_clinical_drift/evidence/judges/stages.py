"""Stages of one plan: dates that a later text reaches, spells without a break, rules for sick days."""

from __future__ import annotations

import re

from pytest_clinical_drift.evidence.guidance.numbers import number
from pytest_clinical_drift.evidence.guidance.record import Advice
from pytest_clinical_drift.evidence.guidance.words import listed

_DAYS = {"day": 1.0, "week": 7.0, "month": 30.0, "year": 365.0}
_COUNT = r"(?P<value>[a-z]+|\d{1,3}) (?P<unit>days?|weeks?|months?|years?)"
_SICK = frozenset(
    [
        "vomiting",
        "sick",
        "diarrhoea",
        "drink",
        "fluids",
        "dehydrated",
        "operation",
        "surgery",
        "scan",
        "contrast",
        "fast",
    ]
)
_WORD = re.compile(r"[a-z]+")


def _date(quote: str, opening: str) -> float | None:
    """The days of "at 36 weeks", "until week 12", "four months on"."""
    match = re.search(opening, quote.lower())
    if match is None:
        return None
    found = match.groupdict()
    value = number(found["value"])
    unit = found["unit"].rstrip("s")
    return None if value is None or unit not in _DAYS else value * _DAYS[unit]


def at_a_later_date(first: Advice, second: Advice) -> bool:
    """ "At 38 weeks it can be stopped": a stage of the plan, unless the earlier text kept it up beyond that."""
    date = _date(second.quote, rf"^(?:at|by|from) {_COUNT}(?! (?:on|gone|old|in)\b)")
    if date is None:
        return False
    begins = _date(first.quote, rf"\bfrom (?:about )?{_COUNT}")
    return begins is not None and begins < date


def too_early(first: Advice, second: Advice) -> bool:
    """ "Four months on": less than the year that the earlier text asked for."""
    passed = _date(second.quote, rf"{_COUNT} (?:on|in|into|after|gone|since)\b")
    lasts = first.amounts.lasts
    return passed is not None and lasts is not None and passed < lasts[0]


def served_out(first: Advice, second: Advice) -> bool:
    """ "No driving for four weeks" and "five weeks since the stent": the time is up."""
    lasts = _date(first.quote, rf"\b(?:for|until|within) (?:the )?(?:first |next |at least |about )?{_COUNT}")
    passed = _date(second.quote, rf"{_COUNT} (?:on|in|into|after|gone|since|ago|later)\b") or _date(
        second.quote, r"\b(?P<unit>day|week|month) (?P<value>[a-z]+|\d{1,3})\b"
    )
    return lasts is not None and passed is not None and passed >= lasts


def unbroken(advice: Advice) -> bool:
    """ "right through the pregnancy", "including the days when you feel well"."""
    said = advice.quote.lower()
    return any(phrase in said for phrase in listed("unbroken"))


def sick_day(advice: Advice) -> bool:
    """ "On days you can't keep fluids down": a rule for sick days, which "every day" does not exclude."""
    return not _SICK.isdisjoint(_WORD.findall((advice.condition or "").lower()))


def on_a_sick_day(advice: Advice) -> bool:
    """Whether its sentence speaks of being ill, of an operation or a scan at all."""
    return not _SICK.isdisjoint(_WORD.findall(advice.quote.lower()))
