"""Agreement between two raters or between labels and answers; None where it is undefined."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import NamedTuple


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


class Icc(NamedTuple):
    """An intraclass correlation with its interval."""

    value: float
    low: float | None
    """None where it is undefined: the raters never differ."""
    high: float | None


def icc_2_1(table: Sequence[Sequence[float]], *, confidence: float) -> Icc | None:
    """ICC(2,1) of a row per item and a column per rater: two-way random effects, absolute agreement, one rater.

    (MSR - MSE) / (MSR + (k - 1) MSE + k (MSC - MSE) / n), limits by F (Shrout and Fleiss 1979; McGraw and Wong 1996).
    None with fewer than two items or raters, and where all values are equal.
    """
    n, k = len(table), min(map(len, table), default=0)
    if n < 2 or k < 2:
        return None
    mean = sum(map(sum, table)) / (n * k)
    rows, columns = [sum(row) / k for row in table], [sum(column) / n for column in zip(*table, strict=True)]
    row_square = k * sum((row - mean) ** 2 for row in rows) / (n - 1)
    column_square = n * sum((column - mean) ** 2 for column in columns) / (k - 1)
    rest = sum((v - rows[i] - columns[j] + mean) ** 2 for i, row in enumerate(table) for j, v in enumerate(row))
    error = rest / ((n - 1) * (k - 1))
    below = row_square + (k - 1) * error + k * (column_square - error) / n
    if below <= 1e-12:
        return None
    value = (row_square - error) / below
    if error <= 1e-12 or value >= 1:
        return Icc(value, None, None)
    from scipy.special import fdtri

    a, b = k * value / (n * (1 - value)), 1 + k * value * (n - 1) / (n * (1 - value))
    free = (a * column_square + b * error) ** 2 / (
        (a * column_square) ** 2 / (k - 1) + (b * error) ** 2 / ((n - 1) * (k - 1))
    )
    share = (1 + confidence) / 2
    first, second = float(fdtri(n - 1, free, share)), float(fdtri(free, n - 1, share))
    spread = k * column_square + (k * n - k - n) * error
    low = n * (row_square - first * error) / (first * spread + n * row_square)
    high = n * (second * row_square - error) / (spread + n * second * row_square)
    return Icc(value, low, high)
