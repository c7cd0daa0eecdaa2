"""What a verdict is made of: figures against their limits, cases and the set. Values and codes, no sentences."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from pytest_clinical_drift.judging.answers import Outage
from pytest_clinical_drift.metrics.agreement import CorrectedRate, Counted
from pytest_clinical_drift.metrics.intervals import Interval
from pytest_clinical_drift.scoring.assessment import CaseAssessment, Event
from pytest_clinical_drift.verdict.bands import MetricLimits
from pytest_clinical_drift.verdict.metric_table import SEVERE
from pytest_clinical_drift.verdict.reasons import (
    Doubt,
    FigureState,
    FiguresUnread,
    NothingToDiagnose,
    Reason,
    Unread,
    Verdict,
)
from pytest_clinical_drift.verdict.thresholds import Thresholds, Waiver


@dataclass(frozen=True, slots=True)
class Deciders:
    """Who settled the alarms of a run."""

    judge: str | None = None
    """Name of the judge; None: rules only."""
    deciding: tuple[str, ...] = ()
    """Groups of kinds in which its calibration lets it decide."""
    below_floor: tuple[str, ...] = ()
    reviewers: tuple[str, ...] = ()
    """People whose reviews count, as declared."""
    missing: Reason | None = None
    """Why a judge that the thresholds require has not judged; None where it has or need not."""
    errors: Mapping[str, tuple[Counted, Counted]] = field(default_factory=dict)
    """Per group of kinds what calibration counted: faults confirmed, of how many; clean items not, of how many."""
    control: bool = False
    """The judge of controls: an instrument check, which says nothing about models."""
    judges: int = 0
    """Models that judge: one reads and settles, or one reads and another settles."""
    outage: Outage | None = None
    """What the judge left without an answer because it could not be reached; None where it was there throughout."""


RULES_ONLY = Deciders()
UNDIAGNOSED: Final = NothingToDiagnose()


@dataclass(frozen=True, slots=True)
class MetricVerdict:
    """One metric against its limits."""

    metric: str
    value: float | None
    """At the better end: confirmed alarms only."""
    verdict: FigureState
    limit: str = ""
    """The limit of PASS."""
    reasons: tuple[Reason, ...] = ()
    """What it rests on, or why it has no value."""
    interval: Interval | None = None
    worst: float | None = None
    """At the worse end: open alarms count too."""
    events: tuple[Event, ...] = ()
    """What was counted, confirmed and open."""
    at_least: bool = False
    """Only rules have counted, and they miss most: the true value may lie above both ends."""
    corrected: CorrectedRate | None = None
    """The set's rate without the judge's error; None where it cannot be had."""
    caution: str = ""
    """The limit of CAUTION, beyond which it fails."""


def judged(
    metric: str,
    limits: MetricLimits,
    state: FigureState,
    value: float | None = None,
    worst: float | None = None,
    reasons: tuple[Reason, ...] = (),
) -> MetricVerdict:
    """A metric against these limits."""
    return MetricVerdict(
        metric=metric,
        value=value,
        verdict=state,
        limit=str(limits.pass_limit),
        reasons=reasons,
        worst=worst,
        caution=str(limits.caution_limit),
    )


@dataclass(frozen=True, slots=True)
class CaseVerdict:
    """What the gate says of a case."""

    case_id: str
    verdict: Verdict
    judgements: tuple[MetricVerdict, ...] = ()
    diagnosed: Reason = UNDIAGNOSED
    waiver: Waiver | None = None
    """The waiver that turned this FAIL into CAUTION."""
    unsettled: bool = False
    """Something severe is open and the thresholds call that unsettled; also where the case fails by something else."""
    doubts: tuple[Doubt, ...] = ()
    """Why it cannot pass although its figures could: its texts are such that they mean little; see Reason."""

    @property
    def failed_severely(self) -> bool:
        """Whether a severe event decided."""
        return any(item.metric in SEVERE and item.verdict == FigureState.FAIL for item in self.judgements)

    @property
    def has_severe_event(self) -> bool:
        """Whether a severe event is confirmed, whatever the limits make of it."""
        best = self.best()
        return any(best.get(name, 0.0) > 0 for name in SEVERE)

    def best(self) -> dict[str, float]:
        """The defined metrics at the better end."""
        return {item.metric: item.value for item in self.judgements if item.value is not None}

    def worst(self) -> dict[str, float]:
        """The defined metrics at the worse end; where nothing was open both are the same."""
        known = self.best()
        for item in self.judgements:
            if item.worst is not None:
                known[item.metric] = item.worst
        return known


@dataclass(frozen=True, slots=True)
class CaseResult(CaseVerdict):
    """One case: its verdict, and the conversations behind it, as they were scored."""

    headline: str = ""
    """What went wrong, in a line for readers of the file."""
    diagnosis: str = ""
    """The same as `diagnosed`, in words."""
    repeats: tuple[CaseAssessment, ...] = ()

    @property
    def group(self) -> str:
        """Cases of one group are not independent of each other."""
        return self.repeats[0].group if self.repeats else self.case_id


@dataclass(frozen=True, slots=True)
class SetVerdict:
    """The whole set, judged."""

    verdict: Verdict
    judgements: tuple[MetricVerdict, ...]
    reasons: tuple[Reason, ...]
    """The decisive ones first."""
    diagnosed: Reason
    cases_total: int
    deciders: Deciders = RULES_ONLY
    canaries: tuple[int, int] = (0, 0)
    """Inserted faults that the judge confirmed, of how many that it could be asked about."""
    canaries_unanswered: int = 0
    """Inserted faults besides, about which an outage kept it from being asked."""


def figures_unread(unread: Sequence[MetricVerdict]) -> FiguresUnread:
    """That nobody who may decide has read for these figures, with all that they rest on."""
    kinds: dict[str, None] = {}
    for item in unread:
        for why in item.reasons:
            if isinstance(why, Unread):
                kinds.update(dict.fromkeys(why.kinds))
    return FiguresUnread(metrics=tuple(item.metric for item in unread), kinds=tuple(kinds))


def fails_run(verdict: CaseResult, thresholds: Thresholds) -> bool:
    """Whether this case alone fails the run under the policy in force."""
    return verdict.verdict == Verdict.FAIL and (thresholds.policy == "each-case" or verdict.failed_severely)
