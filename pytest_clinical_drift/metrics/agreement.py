"""Agreement between two raters or between labels and answers, and a rate corrected for a rater's error.

Everything is None where it is undefined.
"""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from pytest_clinical_drift.metrics import SEED

_LABEL_DRAWS = 2_000

Counted = tuple[float, float]
"""Hits, of how many; not whole where they are effective numbers."""


def percent_agreement(one: Sequence[Hashable], two: Sequence[Hashable]) -> float | None:
    """Share of items with the same label; None without items."""
    if not one or len(one) != len(two):
        return None
    return sum(a == b for a, b in zip(one, two, strict=True)) / len(one)


def cohen_kappa(one: Sequence[Hashable], two: Sequence[Hashable]) -> float | None:
    """(observed - expected) / (1 - expected) agreement; 1 is perfect, 0 is chance.

    None without items, and where both raters give one and the same label throughout (expected agreement 1).
    """
    observed = percent_agreement(one, two)
    if observed is None:
        return None
    first = Counter(one)
    second = Counter(two)
    expected = sum(first[label] * second[label] for label in first) / len(one) ** 2
    return None if expected >= 1 else (observed - expected) / (1 - expected)


def krippendorff_alpha(one: Sequence[Hashable], two: Sequence[Hashable]) -> float | None:
    """1 - observed / expected disagreement of two raters, nominal; None without items or without any variation.

    Expected disagreement is that of the pooled labels, drawn without replacement (Krippendorff 2011).
    """
    observed = percent_agreement(one, two)
    if observed is None:
        return None
    pooled = Counter([*one, *two])
    values = sum(pooled.values())
    expected = 1 - sum(count * (count - 1) for count in pooled.values()) / (values * (values - 1))
    return None if expected == 0 else 1 - (1 - observed) / expected


def paired_label_limits(
    one: Sequence[bool], two: Sequence[bool], figure: Callable[[Sequence[bool], Sequence[bool]], float | None]
) -> tuple[float, float] | None:
    """95 % percentile limits of a figure of two raters over resampled items; None where too few resamples define it."""
    generator = np.random.default_rng(SEED)
    labels = np.array([one, two], dtype=bool)
    values: list[float] = []
    for _ in range(_LABEL_DRAWS):
        first, second = labels[:, generator.integers(0, len(one), len(one))].tolist()
        value = figure(first, second)
        if value is not None:
            values.append(value)
    if len(values) < _LABEL_DRAWS // 2:
        return None
    low, high = np.quantile(values, (0.025, 0.975))
    return float(low), float(high)


def balanced_f1(labels: Sequence[bool], answers: Sequence[bool]) -> float | None:
    """Mean of the F1 of both classes (macro F1); None without items; a class that nobody names counts as 0."""
    if not labels:
        return None
    both = Counter(label for label, answer in zip(labels, answers, strict=True) if label is answer)
    named = Counter([*labels, *answers])
    return sum(2 * both[of] / named[of] for of in named) / 2


def icc_2_1(table: Sequence[Sequence[float]], *, confidence: float) -> tuple[float, float | None, float | None] | None:
    """ICC(2,1) and its limits, of a row per item and a column per rater: two-way random, absolute agreement, one rater.

    (MSR - MSE) / (MSR + (k - 1) MSE + k (MSC - MSE) / n), limits by F (Shrout and Fleiss 1979; McGraw and Wong 1996).
    None with fewer than two items or raters, and where all values are equal; no limits where the raters never differ.
    """
    n = len(table)
    k = min(map(len, table), default=0)
    if n < 2 or k < 2:
        return None
    values = np.asarray(table, dtype=float)
    items = values.mean(axis=1, keepdims=True)
    raters = values.mean(axis=0)
    item_square = k * float(items.var(ddof=1))
    rater_square = n * float(raters.var(ddof=1))
    error = float(((values - items - raters + values.mean()) ** 2).sum()) / ((n - 1) * (k - 1))
    below = item_square + (k - 1) * error + k * (rater_square - error) / n
    if below <= 1e-12:
        return None
    value = (item_square - error) / below
    if error <= 1e-12 or value >= 1:
        return value, None, None
    from scipy.special import fdtri

    a = k * value / (n * (1 - value)) * rater_square
    b = (1 + k * value * (n - 1) / (n * (1 - value))) * error
    free = (a + b) ** 2 / (a**2 / (k - 1) + b**2 / ((n - 1) * (k - 1)))
    share = (1 + confidence) / 2
    first = float(fdtri(n - 1, free, share))
    second = float(fdtri(free, n - 1, share))
    spread = k * rater_square + (k * n - k - n) * error
    low = n * (item_square - first * error) / (first * spread + n * item_square)
    return value, low, n * (second * item_square - error) / (spread + n * second * item_square)


@dataclass(frozen=True, slots=True)
class CorrectedRate:
    """What a rate would be without the judge's error."""

    value: float
    low: float
    high: float
    """Limits over both samples: what was judged, and what the judge was calibrated on."""


def corrected_rate(
    judged: Counted, *, sensitivity: Counted, specificity: Counted, confidence: float = 0.95
) -> CorrectedRate | None:
    """The true rate of faults behind a judged one, with its interval; None where it cannot be had.

    Rogan and Gladen: rate = (judged + specificity - 1) / (sensitivity + specificity - 1). The interval takes in that
    judged rate, sensitivity and specificity are all estimates, each drawn towards the middle by a few imagined trials
    so that none is certain, and is shifted for the skew this brings (Lee et al., arXiv 2511.21140). Undefined where a
    sample is empty, or where the judge upholds clean ones as often as faults: then its answers say nothing of the rate.
    """
    if not (judged[1] and sensitivity[1] and specificity[1]):
        return None
    power = sensitivity[0] / sensitivity[1] + specificity[0] / specificity[1] - 1
    if power <= 0:
        return None
    value = within((judged[0] / judged[1] + specificity[0] / specificity[1] - 1) / power)
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    rate, size = _drawn_to_middle(judged, z * z)
    upheld, faults = _drawn_to_middle(sensitivity, 2.0)
    cleared, clean = _drawn_to_middle(specificity, 2.0)
    slack = upheld + cleared - 1
    if slack <= 0:
        return CorrectedRate(value, 0.0, 1.0)
    true = within((rate + cleared - 1) / slack)
    of_faults = upheld * (1 - upheld) / faults
    of_clean = cleared * (1 - cleared) / clean
    centre = true + 2 * z * z * (true * of_faults - (1 - true) * of_clean)
    spread = math.sqrt(rate * (1 - rate) / size + (1 - true) ** 2 * of_clean + true**2 * of_faults) / slack
    return CorrectedRate(value, within(centre - z * spread), within(centre + z * spread))


def _drawn_to_middle(counted: Counted, imagined: float) -> tuple[float, float]:
    """The rate and the trials with so many imagined trials added, half of them hits."""
    hits, of = counted
    return (hits + imagined / 2) / (of + imagined), of + imagined


def within(value: float) -> float:
    """A rate that lies between 0 and 1."""
    return min(1.0, max(0.0, value))
