"""Amounts that belong together: ranges over two units, unequal doses of one day."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_clinical_drift.evidence.guidance.quantity import Amount, Amounts

_DAY_PARTS = frozenset(
    ["morning", "night", "evening", "bedtime", "breakfast", "lunch", "lunchtime", "noon", "midday", "teatime", "dinner",
     "supper", "afternoon", "am", "pm", "nocte", "mane"]
)  # fmt: skip


def as_range(words: Sequence[str], found: list[tuple[Amount, int, int]]) -> list[tuple[Amount, int, int]]:
    """ "500 mg to 1 g": the first two amounts as one range."""
    if len(found) < 2 or found[0][0].dimension != found[1][0].dimension:
        return found
    (low, first, end), (high, start, stop) = found[:2]
    plain = first == 0 or words[first - 1] != "from"
    if plain and start == end + 1 and words[end] == "to" and low.low < high.high:
        return [(Amount(low.low, high.high, low.dimension), first, stop), *found[2:]]
    return found


def split_doses(words: Sequence[str], found: list[tuple[Amount, int, int]]) -> Amounts | None:
    """ "150 mg in the morning and 250 mg at night": each amount with its own time of day."""
    if len(found) < 2 or len({amount.dimension for amount, _, _ in found}) > 1:
        return None
    starts = [first for _, first, _ in found[1:]] + [len(words)]
    for (_, _, end), stop in zip(found, starts, strict=True):
        if _DAY_PARTS.isdisjoint(words[end : min(stop, end + 5)]):
            return None
    low, high = min(a.low for a, _, _ in found), max(a.high for a, _, _ in found)
    dimension = found[0][0].dimension
    total = Amount(sum(a.low for a, _, _ in found), sum(a.high for a, _, _ in found), dimension)
    times = float(len(found))
    return Amounts(Amount(low, high, dimension), total, (times, times), split=True)
