"""What a verdict is made of: the values that travel, and how reports name and write the metrics."""

from __future__ import annotations

from dataclasses import dataclass

from .metrics.stats import Interval
from .thresholds import MetricLimits, Thresholds, Waiver

PASS, CAUTION, FAIL, INCOMPLETE, PARTIAL = "PASS", "CAUTION", "FAIL", "INCOMPLETE", "PARTIAL"
NOT_EVALUATED = "not evaluated"

HARD = ("hard_stops", "breaches")
"""Metrics that fail a case under every policy and that no waiver covers."""
NEEDED = ("recall_at_t10", "drift_slope")
"""Metrics without which there is no verdict at all."""

_LABELS = {
    "recall_at_t10": "Recall@T10",
    "strict_recall_at_t10": "strict Recall@T10",
    "drift_slope": "slope β",
    "k_conflict": "K_Conflict",
    "hard_stops": "hard stops",
    "breaches": "breaches",
    "stale_facts": "stale facts",
    "contradicted_facts": "contradicted facts",
    "hard_stop_slips": "hard-stop slips",
    "severe_contradictions": "severe contradictions",
}
_FORMATS = {
    "recall_at_t10": ".2f",
    "strict_recall_at_t10": ".2f",
    "drift_slope": "+.3f",
    "k_conflict": ".3f",
}


@dataclass(frozen=True, slots=True)
class Judgement:
    """One metric against its limits."""

    metric: str
    value: float | None
    verdict: str
    """PASS, CAUTION, FAIL or "not evaluated"."""
    limit: str
    """The limit that decided, such as "> 0.8"."""
    detail: str = ""
    """What a reader needs to act: sentences found, or why it is undefined."""
    interval: Interval | None = None


@dataclass(frozen=True, slots=True)
class CaseVerdict:
    """One case, judged."""

    case_id: str
    verdict: str
    judgements: tuple[Judgement, ...]
    diagnosis: str
    waiver: Waiver | None = None
    """The waiver that turned this FAIL into CAUTION."""

    @property
    def hard(self) -> bool:
        """Whether a hard stop or breach decided."""
        return any(item.metric in HARD and item.verdict == FAIL for item in self.judgements)


@dataclass(frozen=True, slots=True)
class SetVerdict:
    """The whole set, judged."""

    verdict: str
    judgements: tuple[Judgement, ...]
    reasons: tuple[str, ...]
    """Sentences, the decisive ones first."""
    diagnosis: str
    selected: int
    total: int
    complete: int
    failing: tuple[str, ...]
    """Ids of the cases past a fail line."""
    waivers: tuple[Waiver, ...] = ()

    @property
    def headline(self) -> str:
        """The verdict in a few words."""
        if self.verdict == PARTIAL:
            return f"PARTIAL ({self.selected} of {self.total}): no release verdict"
        return self.verdict


def judge_value(name: str, limits: MetricLimits, value: float | None, detail: str) -> Judgement:
    """A value against its bands; an undefined one is not evaluated, never 0."""
    if value is None:
        return Judgement(name, None, NOT_EVALUATED, str(limits.pass_limit), detail)
    band = limits.band(value)
    decisive = limits.caution_limit if band == FAIL else limits.pass_limit
    return Judgement(name, value, band, str(decisive), detail)


def fails_run(verdict: CaseVerdict, thresholds: Thresholds) -> bool:
    """Whether this case alone fails the run under the policy in force."""
    return verdict.verdict == FAIL and (thresholds.policy == "each-case" or verdict.hard)


def label(metric: str) -> str:
    """A metric's name as reports show it."""
    return _LABELS.get(metric, metric)


def number(metric: str, value: float) -> str:
    """A metric's value as reports show it."""
    return format(value, _FORMATS.get(metric, "g"))
