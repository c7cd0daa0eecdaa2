"""How counts, lists, numbers and foreign values are written in every sentence and on every page."""

import re
import reprlib
from collections.abc import Iterable, Sequence
from typing import Any

_EXACT = 1e-9
"""Differences of floating point, not of what was counted; limits are kept with the same tolerance."""
_FORM = re.compile(r"(?P<sign>\+?)(?:\.(?P<digits>\d))?(?P<form>[f%g])")
_MOST_DIGITS = 12
_LONGEST_VALUE = 60
_BRIEF = reprlib.Repr()
"""Bounded: with aliases, a short YAML file stands for billions of entries."""
_BRIEF.maxlevel = 2
_BRIEF.maxstring = _LONGEST_VALUE
_BRIEF.maxlong = _LONGEST_VALUE
_BRIEF.maxother = _LONGEST_VALUE


def counted(count: float, one: str) -> str:
    """A count with its noun: "1 case", "3 cases", "2 replies"."""
    many = f"{one[:-1]}ies" if one.endswith("y") else f"{one}s"
    shown = f"{int(count):,}" if count == int(count) else f"{count:,g}"
    return f"{shown} {one if count == 1 else many}"


def listed(names: Sequence[str]) -> str:
    """ "a", "a and b", "a, b and c"."""
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def shortened(value: Any) -> str:
    """A value of a file, as a sentence quotes it: bounded, and "nothing" for null."""
    if value is None:
        return "nothing"
    try:
        return cut(_BRIEF.repr(value))
    except ValueError:  # Python refuses to write out a number of thousands of digits (0xfff…)
        return "a number too long to show"


def cut(text: str) -> str:
    """A text of at most 60 characters; a longer one ends in an ellipsis."""
    if len(text) <= _LONGEST_VALUE:
        return text
    return text[: _LONGEST_VALUE - 3] + "…"


# -- numbers


def rounded(value: float | None, spec: str = ".2f", limits: Iterable[float] = ()) -> str:
    """A number with the digits of its format, or more where it would look like a 0 or 1 that it is not,
    or as if it lay on another side of a limit, or on it; a dash for None.

    260 of 261 is 0.996, not 1.00; one of 3,000 is 0.0003, not 0.000; 0.7996 is 0.7996 where the limit is 0.8.
    """
    if value is None:
        return "–"
    form = _FORM.fullmatch(spec)
    if form is None:
        return format(value, spec)
    whole = float(round(value))
    if abs(value - whole) <= _EXACT:
        value = whole + 0.0  # never "-0.00"
    boundaries = [*limits, whole] if abs(whole) <= 1 else [*limits]
    sides = [_side(value, boundary) for boundary in boundaries]
    for digits in range(int(form["digits"] or 6), _MOST_DIGITS):
        text = format(value, f"{form['sign']}.{digits}{form['form']}")
        if [_side(_as_shown(text), boundary) for boundary in boundaries] == sides:
            break
    return text


def _as_shown(text: str) -> float:
    """The number that a reader sees."""
    if text.endswith("%"):
        return float(text.rstrip("%")) / 100
    return float(text)


def _side(value: float, limit: float) -> int:
    """Below a limit (-1), on it (0) or above it (1)."""
    if abs(value - limit) <= _EXACT:
        return 0
    return 1 if value > limit else -1


def span(low: float, high: float, spec: str = ".2f", limits: Sequence[float] = ()) -> str:
    """The two ends of an interval."""
    return f"{rounded(low, spec, limits)} to {rounded(high, spec, limits)}"
