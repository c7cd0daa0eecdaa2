"""Agreement between two raters or between labels and answers; None where it is undefined."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence


def cohen_kappa(one: Sequence[Hashable], two: Sequence[Hashable]) -> float | None:
    """(observed - expected) / (1 - expected) agreement; 1 is perfect, 0 is chance.

    None without items, and where both raters give one and the same label throughout (expected agreement 1).
    """
    if not one or len(one) != len(two):
        return None
    size = len(one)
    observed = sum(a == b for a, b in zip(one, two, strict=True)) / size
    first, second = Counter(one), Counter(two)
    expected = sum(first[label] * second[label] for label in first) / size**2
    return None if expected >= 1 else (observed - expected) / (1 - expected)


def krippendorff_alpha(one: Sequence[Hashable], two: Sequence[Hashable]) -> float | None:
    """1 - observed / expected disagreement of two raters, nominal; None without items or without any variation.

    With two raters and no missing value: observed disagreement over pairs, expected from the pooled labels, without
    replacement (Krippendorff 2011).
    """
    if not one or len(one) != len(two):
        return None
    pooled = Counter([*one, *two])
    values = sum(pooled.values())
    observed = sum(a != b for a, b in zip(one, two, strict=True)) / len(one)
    same = sum(count * (count - 1) for count in pooled.values())
    expected = 1 - same / (values * (values - 1))
    return None if expected == 0 else 1 - observed / expected


def balanced_f1(labels: Sequence[bool], answers: Sequence[bool]) -> float | None:
    """Mean of the F1 of both classes (macro F1); None without items; a class that nobody names counts as 0."""
    if not labels:
        return None
    return sum(_f1(labels, answers, of) for of in (True, False)) / 2


def _f1(labels: Sequence[bool], answers: Sequence[bool], of: bool) -> float:
    both = sum(label is of and answer is of for label, answer in zip(labels, answers, strict=True))
    named = sum(label is of for label in labels) + sum(answer is of for answer in answers)
    return 2 * both / named if named else 0.0


def percent_agreement(one: Sequence[Hashable], two: Sequence[Hashable]) -> float | None:
    """Share of items with the same label; None without items."""
    if not one or len(one) != len(two):
        return None
    return sum(a == b for a, b in zip(one, two, strict=True)) / len(one)
