"""How reports name and write what the gate counts."""

import re
from collections.abc import Iterable
from functools import cache
from typing import Any

from pytest_clinical_drift.evidence.terms.vocabulary import load_data


@cache
def words(section: str, name: str = "report_words") -> Any:
    """A table of the words that reports use."""
    return load_data(name)[section]


def label(metric: str) -> str:
    return str(words("metrics").get(metric, {}).get("label", metric))


def kind_name(kind: str) -> str:
    """A group of kinds of question, or a single kind, as a reader knows it."""
    return str(words("groups").get(kind) or words("kinds").get(kind, {}).get("name", kind))


def number(metric: str, value: float, limits: Iterable[float] = ()) -> str:
    return rounded(value, words("metrics").get(metric, {}).get("format", "g"), limits)


_EXACT = 1e-9
"""Differences of floating point, not of what was counted; limits are kept with the same tolerance."""
_FORM = re.compile(r"(?P<sign>\+?)(?:\.(?P<digits>\d))?(?P<form>[f%g])")
_MOST_DIGITS = 12
_COMPARED = re.compile(r"[<>]=? *([-+]?\d[\d.e+-]*)")


def rounded(value: float, spec: str = ".2f", limits: Iterable[float] = ()) -> str:
    """A number with the digits of its format, and with more of them where it would look like a 0 or 1 that it is not,
    or as if it lay on another side of a limit, or on it.

    260 of 261 is 0.996, not 1.00; one of 3,000 is 0.0003, not 0.000; 0.7996 is 0.7996 where the limit is 0.8.
    """
    whole, form = float(round(value)), _FORM.fullmatch(spec)
    if form is None:
        return format(value, spec)
    if abs(value - whole) <= _EXACT:
        value = whole + 0.0  # never "-0.00"
    held = [*limits, *([whole] if abs(whole) <= 1 else [])]
    sides = [_side(value, limit) for limit in held]
    first = 6 if form["digits"] is None else int(form["digits"])
    for digits in range(first, _MOST_DIGITS):
        text = format(value, f"{form['sign']}.{digits}{form['form']}")
        shown = float(text.rstrip("%")) / (100 if form["form"] == "%" else 1)
        if [_side(shown, limit) for limit in held] == sides:
            break
    return text


def _side(value: float, limit: float) -> int:
    """Below a limit, on it or above it."""
    return 0 if abs(value - limit) <= _EXACT else 1 if value > limit else -1


def limit_numbers(*limits: str) -> list[float]:
    """The numbers of limits as they are written: "> 0.8" has 0.8."""
    return [float(number) for limit in limits for number in _COMPARED.findall(limit)]


def span(low: float, high: float, spec: str = ".2f", limits: Iterable[float] = ()) -> str:
    """The two ends of an interval."""
    held = tuple(limits)
    return f"{rounded(low, spec, held)} to {rounded(high, spec, held)}"


def optional(value: float | None, limits: Iterable[float] = ()) -> str:
    """A rate, or a dash where there is none."""
    return "–" if value is None else rounded(value, limits=limits)


def counted(count: float, one: str) -> str:
    """A count with its noun: "1 case", "3 cases", "2 replies"."""
    many = f"{one[:-1]}ies" if one.endswith("y") else f"{one}s"
    shown = f"{int(count):,}" if count == int(count) else f"{count:,g}"
    return f"{shown} {one if count == 1 else many}"


def listed(names: list[str]) -> str:
    """ "a", "a and b", "a, b and c"."""
    return " and ".join((", ".join(names[:-1]), names[-1])) if len(names) > 1 else "".join(names)
