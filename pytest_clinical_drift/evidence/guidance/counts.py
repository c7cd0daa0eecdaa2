"""How many of a medicine, where no unit is said: "three tramadol", "more than one paracetamol"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pytest_clinical_drift.evidence.guidance.numbers import number
from pytest_clinical_drift.evidence.guidance.objects import Mention
from pytest_clinical_drift.evidence.guidance.quantity import Amount, Amounts

_MOST = 12


def counted(words: Sequence[str], targets: Sequence[Mention], amounts: Amounts) -> Amounts:
    """The amounts, with a number that stands right before the medicine as its dose in tablets."""
    if amounts.dose is not None or amounts.daily is not None or len(targets) != 1 or targets[0].kind != "drug":
        return amounts
    first = targets[0].first
    before = words[first - 1] if first else ""
    count = number(before) if before not in ("a", "an") else None
    if count is None or not 1 <= count <= _MOST:
        return amounts
    most = list(words[max(0, first - 3) : first - 1]) == ["more", "than"]
    return replace(amounts, dose=Amount(count, count, "tablet"), ceiling=amounts.ceiling or most)
