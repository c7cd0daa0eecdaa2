"""Amounts, frequencies and dates in a sentence, and putting new ones in the place of old ones."""

from __future__ import annotations

import re

from .vocabulary import words

_NUMBER = r"\d[\d.,]*(?<=\d)(?:\s*[/–-]\s*\d[\d.]*(?<=\d))?"
_UNITS: dict[str, str] = words("units")
_UNIT = "|".join(re.escape(unit) for unit in sorted(_UNITS, key=len, reverse=True))

AMOUNT = re.compile(
    rf"(?<![\w./-])(?P<number>{_NUMBER})(?:\s*(?P<unit>{_UNIT})(?![\w/]))?(?!\s*(?:st|nd|rd|th)\b)", re.IGNORECASE
)
FREQUENCY = re.compile(
    r"\b(?:(?:once|twice|three times|four times|five times)\s+(?:daily|nightly|weekly|a day|a week)"
    r"(?:\s+(?:at night|in the morning|in the evening|at bedtime))?|every (?:morning|night|day|evening)"
    r"|at night|at bedtime|in the morning)\b",
    re.IGNORECASE,
)
_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
DATE = re.compile(
    rf"\b(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day (?:the )?)?\d{{1,2}}(?:st|nd|rd|th)? (?:{_MONTHS})\b"
)


def unit_of(amount: re.Match[str]) -> str:
    """The unit in one spelling, empty when there is none."""
    return _UNITS.get((amount["unit"] or "").lower(), (amount["unit"] or "").lower())


def written(amount: re.Match[str]) -> str:
    """An amount with its unit in the usual spelling."""
    unit = unit_of(amount)
    return f"{amount['number']} {unit}".rstrip()


def replace_values(text: str, start: int, value: str) -> str | None:
    """Put what `value` says in the place of the old amounts, frequency or date after `start`; None when none fits."""
    changed = text
    if date := DATE.search(value):
        old_date = DATE.search(changed, start)
        return changed[: old_date.start()] + date.group() + changed[old_date.end() :] if old_date else None
    end = start
    for new in AMOUNT.finditer(value):
        old = _same_unit(changed, start, new)
        if old is None:
            continue
        text_of_new = written(new)
        changed = changed[: old.start()] + text_of_new + changed[old.end() :]
        end = max(end, old.start() + len(text_of_new))
    frequency = FREQUENCY.search(value)
    if frequency and (old_frequency := FREQUENCY.search(changed, end if end > start else start)):
        changed = changed[: old_frequency.start()] + frequency.group() + changed[old_frequency.end() :]
    return changed if changed != text else None


def _same_unit(text: str, start: int, new: re.Match[str]) -> re.Match[str] | None:
    wanted = unit_of(new)
    for old in AMOUNT.finditer(text, start):
        if DATE.match(text, old.start()) or re.fullmatch(r"(?:19|20)\d\d", old["number"]):
            continue
        if unit_of(old) == wanted:
            return old
    return None
