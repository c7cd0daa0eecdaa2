"""How reports name and write what the gate counts."""

import re
from functools import cache
from typing import Any

from pytest_clinical_drift.evidence.terms.vocabulary import load_data


@cache
def words(section: str, name: str = "report_words") -> Any:
    """A table of the words that reports use."""
    return load_data(name)[section]


def label(metric: str) -> str:
    return str(words("metrics").get(metric, {}).get("label", metric))


def number(metric: str, value: float) -> str:
    return rounded(value, words("metrics").get(metric, {}).get("format", "g"))


_EXACT = 1e-9
"""Differences of floating point, not of what was counted."""
_DIGITS = re.compile(r"(?P<sign>\+?)\.(?P<digits>\d)(?P<form>[f%])")


def rounded(value: float, spec: str = ".2f") -> str:
    """A number with the digits of its format, and with more of them where it would look like a 0 or 1 that it is not.

    260 of 261 is 0.996, not 1.00; one of 3,000 is 0.0003, not 0.000.
    """
    whole, form = float(round(value)), _DIGITS.fullmatch(spec)
    if form is None or abs(whole) > 1:
        return format(value, spec)
    if abs(value - whole) <= _EXACT:
        return format(whole + 0.0, spec)  # never "-0.00"
    digits = int(form["digits"])
    while round(value, digits + 2 * (form["form"] == "%")) == whole:
        digits += 1
    return format(value, f"{form['sign']}.{digits}{form['form']}")


def span(low: float, high: float, spec: str = ".2f") -> str:
    """The two ends of an interval."""
    return f"{rounded(low, spec)} to {rounded(high, spec)}"


def optional(value: float | None) -> str:
    """A rate, or a dash where there is none."""
    return "–" if value is None else rounded(value)


def counted(count: float, one: str) -> str:
    """A count with its noun: "1 case", "3 cases", "2 replies"."""
    many = f"{one[:-1]}ies" if one.endswith("y") else f"{one}s"
    return f"{count:,g} {one if count == 1 else many}"


def listed(names: list[str]) -> str:
    """ "a", "a and b", "a, b and c"."""
    return " and ".join((", ".join(names[:-1]), names[-1])) if len(names) > 1 else "".join(names)
