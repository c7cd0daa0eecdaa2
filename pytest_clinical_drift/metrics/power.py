"""What a number of cases can show: the chance of catching a drop against a baseline, and of a false alarm.

Normal approximation of the paired comparison in `paired`; `tests/benchmarks/decisions.py` checks it against simulation.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import NamedTuple

from pytest_clinical_drift.metrics.bootstrap import STRETCH_BAD

RECALL = 0.9
"""Recall@T10 of a typical baseline."""
CORRELATION = 0.6
"""Typical correlation, over cases, between the recall of two versions of a model: hard cases are hard for both."""
FACTS = 6
"""Facts of a typical case."""
FACT_CORRELATION = 0.2
"""How alike the facts of one case fare: 0 not at all, 1 all or none."""
CLAIMS = 3
"""Metrics of which each may call a model worse: recall, slope and K_Conflict."""
MOST_CASES = 100_000


class Odds(NamedTuple):
    """Chances of the three outcomes of a comparison with the baseline."""

    worse: float
    undecided: float
    not_worse: float


@dataclass(frozen=True, slots=True)
class Power:
    """What a set of this size shows."""

    cases: int
    drop: float
    margin: float
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
    variance: float = recall * (1 - recall) / facts * (1 + (facts - 1) * correlation)
    return float(variance**0.5)


def comparison_odds(
    *, cases: int, drop: float, margin: float, error_sd: float, alpha: float = 0.025, claims: int = CLAIMS
) -> Odds:
    """Chances of each outcome when the truth is a loss of `drop` and a case's difference has this sd."""
    from scipy.special import ndtr, stdtrit

    if cases < 2:
        return Odds(0.0, 1.0, 0.0)
    error = max(error_sd, 1e-9) / cases**0.5
    reach = error * ((cases + STRETCH_BAD) / (cases - 1)) ** 0.5
    wing, claim = (float(stdtrit(cases - 1, 1 - tail)) * reach for tail in (alpha, alpha / claims))
    not_worse = 1 - float(ndtr((wing - margin + drop) / error))
    worse = float(ndtr((min(-claim, wing - margin) + drop) / error))
    return Odds(worse, max(0.0, 1 - worse - not_worse), not_worse)


def estimate_power(
    *,
    cases: int,
    drop: float,
    margin: float = 0.05,
    sd: float | None = None,
    correlation: float = CORRELATION,
    alpha: float = 0.025,
) -> Power:
    """The chance of catching a drop of recall with this many cases; `sd` is that of the baseline's cases, if known."""
    before = case_sd() if sd is None else sd
    after = before if sd is not None else case_sd(max(0.0, RECALL - drop))
    paired, unchanged = (_difference_sd(before, sd, correlation) for sd in (after, before))
    return Power(
        cases=cases,
        drop=drop,
        margin=margin,
        case_sd=before,
        correlation=correlation,
        caught=comparison_odds(cases=cases, drop=drop, margin=margin, error_sd=paired, alpha=alpha),
        unchanged=comparison_odds(cases=cases, drop=0.0, margin=margin, error_sd=unchanged, alpha=alpha),
        needed=_cases_needed(drop, margin, paired, alpha),
    )


def _difference_sd(before: float, after: float, correlation: float) -> float:
    return float(max(0.0, before**2 + after**2 - 2 * correlation * before * after) ** 0.5)


def _cases_needed(drop: float, margin: float, error_sd: float, alpha: float, power: float = 0.8) -> int | None:
    """Fewest cases for which the drop is called worse with the wanted chance; None when no number does it."""

    def enough(cases: int) -> bool:
        return comparison_odds(cases=cases, drop=drop, margin=margin, error_sd=error_sd, alpha=alpha).worse >= power

    sizes = range(2, MOST_CASES)
    fewest = bisect_left(sizes, True, key=enough)
    return sizes[fewest] if fewest < len(sizes) else None
