"""How reports name and write what the gate counts."""

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
    return format(value, words("metrics").get(metric, {}).get("format", "g"))


def optional(value: float | None) -> str:
    """A rate, or a dash where there is none."""
    return "–" if value is None else f"{value:.2f}"


def counted(count: float, one: str) -> str:
    """A count with its noun: "1 case", "3 cases", "2 replies"."""
    many = f"{one[:-1]}ies" if one.endswith("y") else f"{one}s"
    return f"{count:,g} {one if count == 1 else many}"


def listed(names: list[str]) -> str:
    """ "a", "a and b", "a, b and c"."""
    return " and ".join((", ".join(names[:-1]), names[-1])) if len(names) > 1 else "".join(names)
