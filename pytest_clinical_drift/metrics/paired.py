"""Two models on the same cases: is the new one no worse than the old one, by more than a margin?"""

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_clinical_drift.metrics.intervals import Interval, mean_interval

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
) -> PairedResult:
    """Non-inferiority of `new` within `margin`, by a bootstrap of the cases' differences.

    not worse: a loss of the margin or more is ruled out (one-sided, alpha).
    worse: a loss is shown (one-sided, alpha / claims), and a loss of the margin is not ruled out.
    undecided: neither.
    `claims` is the number of metrics of which each may call the model worse: a false alarm by any of them stays below
    alpha. ("Not worse" must hold for all of them, which needs no such care.) `span` is the largest difference possible.
    """
    gains = [after - before if higher_is_better else before - after for after, before in zip(new, old, strict=True)]
    unseen = span if any(abs(gain) > 1e-12 for gain in gains) else UNSEEN_LOSS * span

    def limits(tail: float, worst: float) -> Interval | None:
        """The end towards `worst` is the careful one."""
        return mean_interval(gains, groups, confidence=1 - 2 * tail, worst=worst, best=-worst, unseen=False)

    interval, claim = limits(alpha, -unseen), limits(alpha / claims, unseen)
    if interval is None or claim is None:
        return PairedResult(None, None, margin, 0, UNDECIDED)
    verdict = UNDECIDED
    if interval.low > -margin:
        verdict = NOT_WORSE
    elif claim.high < 0:
        verdict = WORSE
    return PairedResult(sum(gains) / len(gains), interval, margin, len(gains), verdict)
