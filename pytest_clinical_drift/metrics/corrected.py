"""A rate corrected for the error of whoever counted it."""

import math
from dataclasses import dataclass
from statistics import NormalDist

Counted = tuple[float, float]
"""Hits, of how many; not whole where they are effective numbers."""


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
    value = (judged[0] / judged[1] + specificity[0] / specificity[1] - 1) / power
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    rate, size = _drawn(judged, z * z)
    upheld, faults = _drawn(sensitivity, 2.0)
    cleared, clean = _drawn(specificity, 2.0)
    slack = upheld + cleared - 1
    if slack <= 0:
        return CorrectedRate(_within(value), 0.0, 1.0)
    true = _within((rate + cleared - 1) / slack)
    of_faults, of_clean = upheld * (1 - upheld) / faults, cleared * (1 - cleared) / clean
    shift = 2 * z * z * (true * of_faults - (1 - true) * of_clean)
    spread = math.sqrt(rate * (1 - rate) / size + (1 - true) ** 2 * of_clean + true**2 * of_faults) / slack
    centre = true + shift
    return CorrectedRate(_within(value), _within(centre - z * spread), _within(centre + z * spread))


def _drawn(counted: Counted, trials: float) -> tuple[float, float]:
    """A share and its size with imagined trials added, half of them hits."""
    hits, of = counted
    return (hits + trials / 2) / (of + trials), of + trials


def _within(value: float) -> float:
    return min(1.0, max(0.0, value))
