"""The record of a whole run: what leaves the verdict, and all that reports, comparisons and later verdicts read.

The scoring of each conversation is kept as it was made (`CaseResult.repeats`); everything else follows from it.
Raise `SCHEMA_VERSION` when a reader of the older file would misread the new one, and write the schema anew by
`python docs/make_reference.py`.
"""

from collections.abc import Mapping
from typing import Final, Literal

from pydantic import Field

from pytest_clinical_drift.results.manifest import Manifest, Record
from pytest_clinical_drift.scoring.assessment import AlarmKind, AlarmState, CaseAssessment, Curve
from pytest_clinical_drift.verdict.baseline import BaselineComparison
from pytest_clinical_drift.verdict.counts import EvidenceCounts
from pytest_clinical_drift.verdict.memory import Memory
from pytest_clinical_drift.verdict.reasons import Reason, Verdict
from pytest_clinical_drift.verdict.thresholds import Waiver
from pytest_clinical_drift.verdict.ungated import AttributeFigures, RepeatFigures, SanityBand
from pytest_clinical_drift.verdict.values import RULES_ONLY, UNDIAGNOSED, Deciders, MetricVerdict
from pytest_clinical_drift.verdict.values import CaseResult as CaseResult

SCHEMA_VERSION: Final = 3


class IntervalRecord(Record):
    low: float
    high: float
    method: str = ""


class LimitRecord(Record):
    """A metric's limits in force: as comparisons to read, as numbers to draw."""

    direction: Literal["higher", "lower"]
    pass_limit: str = Field(alias="pass")
    caution: str
    pass_value: float
    caution_value: float
    worst: Literal["fail", "caution"]
    why: str


class ReviewRecord(Record):
    """What people have settled in this run."""

    sentence: str = ""
    reviewers: tuple[str, ...] = ()
    records: int = 0
    dismissed: int = 0
    confirmed: int = 0
    before: Verdict | None = Field(default=None, alias="from")
    """Verdict without these reviews; None where the run was given them from the start."""
    after: Verdict | None = Field(default=None, alias="to")
    disputed: int = 0
    cleared_read: int = 0
    """Answers that the judge had cleared and a person has read."""
    cleared_upheld: int = 0
    open: int = 0
    second_person: int = 0
    """Severe alarms that one person dismissed and a second one has to."""
    manifest: str = ""
    last_record: str = ""


class RunResult(Record):
    """A whole run, as `study_c_results.json` holds it.

    Rates have two ends: `value` counts confirmed alarms, `worst` open ones too. None: not evaluated, never 0.
    """

    schema_version: Literal[3] = SCHEMA_VERSION
    verdict: Verdict
    headline: str = ""
    """The verdict with who decided, for readers of the file."""
    reasons: tuple[Reason, ...] = ()
    """The decisive ones first."""
    diagnosis: str = ""
    """The same as `diagnosed`, in words."""
    diagnosed: Reason = UNDIAGNOSED
    deciders: Deciders = RULES_ONLY
    cases_total: int = 0
    cases_selected: int = 0
    cases_complete: int = 0
    failing_cases: tuple[str, ...] = ()

    entity_recall_at_t10: float | None = None
    entity_recall_at_t10_extended: float | None = None
    strict_recall_at_t10: float | None = None
    knowledge_conflict_rate: float | None = None
    knowledge_conflict_pairs: int = 0
    drift_slope_critical: float | None = None
    drift_slope_extended: float | None = None
    r_squared: float | None = None
    continuity_score: float | None = None
    """Session goal alignment; left out of the file where it was not evaluated."""
    continuity_not_evaluated: str | None = None

    average_recall_curve_critical: Curve = ()
    average_precision_curve_critical: Curve = ()
    average_f1_curve_critical: Curve = ()
    average_hallucinated_rate_curve_critical: Curve = ()
    average_recall_curve_extended: Curve = ()
    average_precision_curve_extended: Curve = ()
    average_f1_curve_extended: Curve = ()
    average_hallucinated_rate_curve_extended: Curve = ()
    average_strict_recall_curve_critical: Curve = ()
    average_worst_recall_curve_critical: Curve = ()

    judgements: tuple[MetricVerdict, ...] = ()
    confidence_intervals: Mapping[str, IntervalRecord] = Field(default_factory=dict)
    limits: Mapping[str, LimitRecord] = Field(default_factory=dict)
    """The gate that decided."""
    gated_by_default: tuple[str, ...] = ()
    """Metrics that the thresholds leave out and that are gated all the same."""
    waivers: tuple[Waiver, ...] = ()

    alarms: Mapping[AlarmKind, Mapping[AlarmState, int]] = Field(default_factory=dict)
    findings: Mapping[AlarmState, tuple[int, int]] = Field(default_factory=dict)
    """Groups of alarms on one thing on turns in a row, by state: all, and the severe ones."""
    hazards: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)
    """Hazards that the cases name, each with its cases, whether they were run or not."""
    to_read: int = 0
    """Groups of open alarms."""
    severe_to_read: int = 0
    unread: int = 0
    """Confirmed breaches that no person has read."""
    canaries: tuple[int, int] = (0, 0)
    """Inserted faults that the judge confirmed, of how many that it could be asked about."""
    canaries_unanswered: int = 0
    """Inserted faults besides, about which an outage kept it from being asked."""
    counts: EvidenceCounts | None = None
    """What the verdict rests on."""
    memory: Memory | None = None
    """How long facts are remembered; None where no case was finished."""
    pdsqi: tuple[AttributeFigures, ...] = ()
    """PDSQI-9, an entry per attribute; empty where it was not requested."""
    repeat_spread: RepeatFigures | None = None
    baseline: BaselineComparison | None = None
    sanity_band: SanityBand | None = None
    reviewed: ReviewRecord | None = None
    cases: tuple[CaseResult, ...]
    what_this_means: str = ""
    manifest: Manifest

    @property
    def runs(self) -> list[CaseAssessment]:
        """Every conversation."""
        return [run for case in self.cases for run in case.repeats]

    def judgement(self, metric: str) -> MetricVerdict | None:
        return next((item for item in self.judgements if item.metric == metric), None)
