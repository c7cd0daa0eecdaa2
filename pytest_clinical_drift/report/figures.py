"""Figures as every report writes them: with their unit, and with both ends where open alarms make two."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_clinical_drift.verdict.thresholds import EVENT_METRICS
from pytest_clinical_drift.verdict.values import counted, number, words


def listed(names: list[str]) -> str:
    """ "a", "a and b", "a, b and c"."""
    return " and ".join((", ".join(names[:-1]), names[-1])) if len(names) > 1 else "".join(names)


def judged_text(item: Mapping[str, Any], *, of_set: bool = False) -> str:
    """A judgement's value; the word for having none where it has none."""
    return str(item["verdict"]) if item["value"] is None else value_text(item["metric"], item["value"], of_set=of_set)


def value_text(metric: str, value: float, *, of_set: bool = False) -> str:
    """A metric's value: over the set events count cases, within a case they count facts or what else was found."""
    if metric not in EVENT_METRICS:
        return number(metric, value)
    return counted(value, "case" if of_set else words("metrics")[metric].get("unit", "fact"))


def worse_text(metric: str, value: float | None, worst: float | None, *, of_set: bool = False) -> str:
    """The value with open alarms counted against the model; empty where it is the same."""
    return "" if worst is None or worst == value else value_text(metric, worst, of_set=of_set)


def shared_reasons(judgements: Sequence[Mapping[str, Any]]) -> list[str]:
    """Reasons for having no figure that more than two metrics have: told once, below the table."""
    found = Counter(item.get("detail", "") for item in judgements if item["value"] is None)
    return [reason for reason, count in found.items() if reason and count > 2]


def interval_text(item: Mapping[str, Any]) -> str:
    """A judgement's interval; empty where it has none."""
    interval = item.get("interval")
    return f"{interval['low']:.3f} to {interval['high']:.3f}" if interval else ""
