"""How often a day, where it is told by the hours: "with breakfast, dinner and at bedtime"."""

from __future__ import annotations

from collections.abc import Sequence

_PARTS = {
    "breakfast": "morning", "morning": "morning", "waking": "morning", "mane": "morning", "lunch": "noon",
    "lunchtime": "noon", "midday": "noon", "noon": "noon", "teatime": "tea", "tea": "tea", "afternoon": "tea",
    "dinner": "evening", "supper": "evening", "evening": "evening", "bedtime": "night", "night": "night",
    "nocte": "night", "bed": "night",
}  # fmt: skip
_WEEKDAYS = frozenset(["mondays", "tuesdays", "wednesdays", "thursdays", "fridays", "saturdays", "sundays"])
_WITHIN = 4
"""Words from one part of the day to the next of one list."""


def days_listed(words: Sequence[str]) -> int | None:
    """How many days of the week: "on Saturdays and Sundays", "at weekends"."""
    named = sum(word in _WEEKDAYS for word in set(words))
    if named:
        return named
    return 2 if "weekends" in words else 5 if "weekdays" in words else None


def times_listed(words: Sequence[str]) -> int | None:
    """How many parts of the day follow each other in a list."""
    best: set[str] = set()
    current: set[str] = set()
    last = -_WITHIN
    for at, word in enumerate(words):
        part = _PARTS.get(word)
        if part is None:
            continue
        if at - last > _WITHIN:
            current = set()
        current.add(part)
        last = at
        if len(current) > len(best):
            best = set(current)
    joined = not {"and", "then"}.isdisjoint(words) or len(best) > 2
    return len(best) if best and joined and "or" not in words else None
