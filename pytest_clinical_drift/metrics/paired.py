"""Two models on the same cases: is the new one no worse than the old one, by more than a margin?

And what a number of cases can show: the chance of catching a drop of recall, and of a false alarm, by a normal
approximation of the same comparison. `benchmarks/decisions.py` checks it against simulation.
"""

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pytest_clinical_drift.metrics.bootstrap import STRETCH_BAD
from pytest_clinical_drift.metrics.intervals import Interval, mean_intervals

WORSE = "worse"
NOT_WORSE = "not worse"
UNDECIDED = "undecided"

UNSEEN_LOSS = 0.5
"""Where no case moved at all: the loss assumed for a case unlike all that were seen, as a share of the whole range."""

RECALL = 0.9
"""Recall@T10 of a typical baseline."""
CORRELATION = 0.6
"""Typical correlation, over cases, between the recall of two versions of a model: hard cases are hard for both."""
FACTS = 6
"""Facts of a typical case."""
FACT_CORRELATION = 0.2
"""How alike the facts of one case fare: 0 not at all, 1 all or none."""
MOST_CASES = 100_000
_WANTED_POWER = 0.8


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


def compare_paired(  # noqa: PLR0913  # two samples, their groups, and the rules of the test by name
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
    if not gains:
        return PairedResult(None, None, margin, 0, UNDECIDED)
    unseen = span if any(abs(gain) > 1e-12 for gain in gains) else UNSEEN_LOSS * span

    # the end towards the first of the two ends is the careful one
    (interval,) = mean_intervals([gains], groups, (-unseen, unseen), confidence=1 - 2 * alpha, unseen=False)
    (claim,) = mean_intervals([gains], groups, (unseen, -unseen), confidence=1 - 2 * alpha / claims, unseen=False)
    verdict = UNDECIDED
    if interval.low > -margin:
        verdict = NOT_WORSE
    elif claim.high < 0:
        verdict = WORSE
    return PairedResult(sum(gains) / len(gains), interval, margin, len(gains), verdict)


class Odds(NamedTuple):
    """Chances of the three outcomes of a comparison with the baseline."""

    worse: float
    undecided: float
    not_worse: float


class Comparison(NamedTuple):
    """The rules of the comparison, as the thresholds have them."""

    margin: float = 0.05
    """Loss that counts as none."""
    alpha: float = 0.025
    """One-sided chance of error."""
    claims: int = 1
    """Metrics of which each may call a model worse."""
    min_cases: int = 2
    """With fewer, nothing is called not worse."""


class Spread(NamedTuple):
    """Recall@T10 over the cases of a baseline."""

    mean: float
    sd: float


class Power(NamedTuple):
    """What so many cases show of a drop of recall."""

    cases: int
    drop: float
    rules: Comparison
    case_sd: float
    correlation: float
    caught: Odds
    """When the new model is truly worse by the drop."""
    unchanged: Odds
    """When nothing changed: `worse` is the false alarm."""
    needed: int | None
    """Cases for an 80 % chance that the drop is called worse; None: no number of cases does it."""


def case_sd(recall: float = RECALL, facts: int = FACTS, correlation: float = FACT_CORRELATION) -> float:
    """Standard deviation of a case's recall when its facts are beta-binomial: r(1-r)/m * (1 + (m-1) * correlation)."""
    return math.sqrt(recall * (1 - recall) / facts * (1 + (facts - 1) * correlation))


def comparison_odds(*, cases: int, drop: float, error_sd: float, rules: Comparison) -> Odds:
    """Chances of each outcome when the truth is a loss of `drop` and a case's difference has this sd."""
    from scipy.special import ndtr, stdtrit

    if cases < 2:
        return Odds(0.0, 1.0, 0.0)
    error = max(error_sd, 1e-9) / cases**0.5
    reach = error * ((cases + STRETCH_BAD) / (cases - 1)) ** 0.5
    wing = stdtrit(cases - 1, 1 - rules.alpha) * reach
    claim = stdtrit(cases - 1, 1 - rules.alpha / rules.claims) * reach
    worse = float(ndtr((min(-claim, wing - rules.margin) + drop) / error))
    not_worse = 1 - float(ndtr((wing - rules.margin + drop) / error)) if cases >= rules.min_cases else 0.0
    return Odds(worse, max(0.0, 1 - worse - not_worse), not_worse)


def estimate_power(
    *, cases: int, drop: float, rules: Comparison, baseline: Spread | None = None, correlation: float = CORRELATION
) -> Power:
    """The chance of catching a drop of recall with this many cases; without a baseline, that of a typical one.

    A worse model scatters more, at least as a typical one of its recall: a baseline that lost nothing has no scatter at
    all, and that of its successor is not 0.
    """
    mean, before = baseline or Spread(RECALL, case_sd())
    after = max(before, case_sd(max(0.0, mean - drop)))

    def odds(cases: int, drop: float, sd: float) -> Odds:
        error = math.sqrt(max(0.0, before**2 + sd**2 - 2 * correlation * before * sd))
        return comparison_odds(cases=cases, drop=drop, error_sd=error, rules=rules)

    sizes = range(2, MOST_CASES)
    needed = 2 + bisect_left(sizes, True, key=lambda size: odds(size, drop, after).worse >= _WANTED_POWER)
    return Power(
        cases=cases,
        drop=drop,
        rules=rules,
        case_sd=before,
        correlation=correlation,
        caught=odds(cases, drop, after),
        unchanged=odds(cases, 0.0, before),
        needed=needed if needed < MOST_CASES else None,
    )
