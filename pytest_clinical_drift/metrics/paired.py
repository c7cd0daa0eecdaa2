"""Two models on the same cases: is the new one no worse than the old one, by more than a margin?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pytest_clinical_drift.metrics.bootstrap import RESAMPLES
from pytest_clinical_drift.metrics.seed import SEED
from pytest_clinical_drift.metrics.stats import Interval, mean_interval

WORSE, NOT_WORSE, UNDECIDED = "worse", "not worse", "undecided"

UNSEEN_LOSS = 0.5
"""Where no case moved at all: the loss assumed for a case unlike all that were seen, as a share of the whole range."""


@dataclass(frozen=True, slots=True)
class PairedResult:
    """The mean difference new - old over paired cases, turned so that positive is better."""

    difference: float | None
    """None without a pair."""
    interval: Interval | None
    """Two-sided at 1 - 2 alpha, so that each end is a one-sided limit at alpha."""
    p_value: float | None
    """Of a difference at least as bad by chance alone (signs of whole groups swapped); None without a pair."""
    margin: float
    pairs: int
    verdict: str
    """worse, not worse or undecided."""


def compare_paired(
    new: Sequence[float],
    old: Sequence[float],
    groups: Sequence[str],
    *,
    margin: float,
    alpha: float = 0.025,
    claims: int = 1,
    span: float = 1.0,
    higher_is_better: bool = True,
    seed: int = SEED,
    resamples: int = RESAMPLES,
) -> PairedResult:
    """Non-inferiority of `new` within `margin`, by a bootstrap of the cases' differences.

    not worse: a loss of the margin or more is ruled out (one-sided, alpha).
    worse: a loss is shown (one-sided, alpha / claims), and a loss of the margin is not ruled out.
    undecided: neither.
    `claims` is the number of metrics of which each may call the model worse: a false alarm by any of them stays below
    alpha. ("Not worse" must hold for all of them, which needs no such care.) `span` is the largest difference possible.
    """
    if not new:
        return PairedResult(None, None, None, margin, 0, UNDECIDED)
    sign = 1.0 if higher_is_better else -1.0
    gains = [sign * (after - before) for after, before in zip(new, old, strict=True)]
    unseen = UNSEEN_LOSS * span if max(gains) - min(gains) <= 1e-12 else span

    def limits(tail: float, worst: float) -> Interval | None:
        """The end towards `worst` is the careful one."""
        return mean_interval(
            gains, groups, confidence=1 - 2 * tail, worst=worst, best=-worst, seed=seed, resamples=resamples
        )

    interval, verdict = limits(alpha, -unseen), UNDECIDED
    claim = limits(alpha / claims, unseen)
    if interval is not None and interval.low > -margin:
        verdict = NOT_WORSE
    elif claim is not None and claim.high < 0:
        verdict = WORSE
    p_value = sign_flip_p_value(gains, groups, seed=seed, resamples=resamples)
    return PairedResult(sum(gains) / len(gains), interval, p_value, margin, len(gains), verdict)


def sign_flip_p_value(
    gains: Sequence[float], groups: Sequence[str], *, seed: int = SEED, resamples: int = RESAMPLES
) -> float:
    """One-sided permutation test of "the old one is not better": the sign of each group's sum is swapped at random."""
    names, membership = np.unique(np.asarray(groups), return_inverse=True)
    sums = np.bincount(membership, weights=np.asarray(gains, dtype=float), minlength=len(names))
    generator = np.random.default_rng(seed)
    at_least_as_bad = 0
    rows_at_once = max(1, 4_000_000 // len(names))
    for start in range(0, resamples, rows_at_once):
        rows = min(rows_at_once, resamples - start)
        signs = generator.integers(0, 2, size=(rows, len(names))) * 2.0 - 1.0
        at_least_as_bad += int((signs @ sums <= sums.sum() + 1e-12).sum())
    return (at_least_as_bad + 1) / (resamples + 1)
