"""A directive about a thing, and a clause of the other text that leans the other way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_clinical_drift.evidence.guidance.record import Advice
from pytest_clinical_drift.evidence.judges.opposition import Opposition
from pytest_clinical_drift.evidence.judges.oppositions import both_ways, stance_opposed


def leanings_opposed(
    before: Sequence[Advice],
    after: Sequence[Advice],
    leaning_before: Sequence[Advice],
    leaning_after: Sequence[Advice],
) -> Iterator[tuple[Advice, Advice, Opposition]]:
    """Every directive of one short text with a clause of the other that leans the other way."""
    for earlier, later in ((before, leaning_after), (leaning_before, after), (leaning_before, leaning_after)):
        for first in earlier:
            for second in later:
                opposition = stance_opposed(first, second)
                if opposition is None:
                    continue
                if both_ways(first, second, (*before, *leaning_before), (*after, *leaning_after)):
                    continue
                yield first, second, opposition
