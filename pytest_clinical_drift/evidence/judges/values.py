"""Figures of two short texts compared: how long, how often, from which value on, for the same thing."""

from __future__ import annotations

from pytest_clinical_drift.evidence.guidance.objects import related
from pytest_clinical_drift.evidence.guidance.values import Value, values_of
from pytest_clinical_drift.evidence.guidance.words import listed
from pytest_clinical_drift.evidence.judges.protocol import Conflict

_MARGIN = {"time": 2.0, "rhythm": 1.9, "level": 1.15}
_SHARED = {"time": 2, "rhythm": 2, "level": 1}
"""Topic words in common, where no thing is named in both."""
_NO_LIMIT = 1e11
_REASONS = {"time": "different lengths of time", "rhythm": "different rhythms", "level": "different limits"}


def values_opposed(earlier: str, later: str) -> Conflict | None:
    """Two figures for the same thing that exclude each other."""
    for kind in _MARGIN:
        before = [value for value in values_of(earlier) if value.kind == kind]
        after = [value for value in values_of(later) if value.kind == kind]
        if len(before) != 1 or len(after) != 1:
            # several figures of a kind: which belongs to which is not clear
            continue
        first, second = before[0], after[0]
        if first.goal and second.goal:
            continue
        if _conditional(first, second) or not _one_matter(first, second) or not _apart(first, second):
            continue
        reason = f"{_REASONS[kind]}: {first.shown} and {second.shown}"
        name = "frequency" if kind == "rhythm" else "dose"
        return Conflict(True, reason, (first.quote, second.quote), False, name, None)
    return None


def _conditional(first: Value, second: Value) -> bool:
    """Whether one holds only in a situation that the other does not speak of."""
    return any(
        bool(one.condition) and one.condition.isdisjoint(other.words) and one.kind != "level"
        for one, other in ((first, second), (second, first))
    )


def _medicines(value: Value) -> set[str]:
    """The drugs it is about; classes only where no drug is named."""
    drugs = {name for name in value.named if name.startswith("drug:")}
    return drugs or {name for name in value.named if name.startswith("class:")}


def _one_matter(first: Value, second: Value) -> bool:
    one, other = _medicines(first), _medicines(second)
    if one and other and not any(related(name, another) for name in one for another in other):
        return False
    common = first.named & second.named
    common = common if first.kind == "time" else common - listed("generic")
    return bool(common) or len(first.words & second.words) >= _SHARED[first.kind]


def _apart(first: Value, second: Value) -> bool:
    margin = _MARGIN[first.kind]
    if first.high >= _NO_LIMIT and second.high >= _NO_LIMIT:
        return max(first.low, second.low) >= margin * min(first.low, second.low)
    if first.low == 0 and second.low == 0:
        return max(first.high, second.high) >= margin * min(first.high, second.high)
    low, high = sorted((first, second), key=lambda value: value.low)
    return high.low >= margin * low.high
