"""The record of a whole run: what leaves the verdict, and all that reports, comparisons and later verdicts read.

The scoring of each conversation is kept as it was made (`CaseResult.repeats`); everything else follows from it.
Raise `SCHEMA_VERSION` when a reader of the older file would misread the new one, and write the schema anew by
`python docs/make_reference.py`.
"""

import dataclasses
import datetime
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, Literal

from pydantic import Field

from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.metrics.recall import mean, mean_curve
from pytest_clinical_drift.results.manifest import Manifest, Record
from pytest_clinical_drift.scoring.assessment import AlarmKind, AlarmState, CaseAssessment, Curve
from pytest_clinical_drift.verdict.bands import MetricLimits
from pytest_clinical_drift.verdict.baseline import BaselineComparison
from pytest_clinical_drift.verdict.case import count_findings
from pytest_clinical_drift.verdict.counts import EvidenceCounts, count_evidence
from pytest_clinical_drift.verdict.memory import Memory, memory_of
from pytest_clinical_drift.verdict.reasons import Reason, Verdict
from pytest_clinical_drift.verdict.thresholds import Thresholds, Waiver
from pytest_clinical_drift.verdict.ungated import (
    AttributeFigures,
    RepeatFigures,
    SanityBand,
    attribute_figures,
    repeat_figures,
    sanity_band,
)
from pytest_clinical_drift.verdict.values import RULES_ONLY, UNDIAGNOSED, Deciders, MetricVerdict, SetVerdict
from pytest_clinical_drift.verdict.values import CaseResult as CaseResult

SCHEMA_VERSION: Final = 4


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

    schema_version: Literal[4] = SCHEMA_VERSION
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
    open_findings: int = 0
    """Groups of open alarms."""
    severe_open_findings: int = 0
    severe_without_reviewer: int = 0
    """Confirmed severe alarms that no person has read."""
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


# -- from the judged cases to the record: the figures that the seeds name, counted once


def build_result(
    cases: Sequence[CaseResult],
    verdict: SetVerdict,
    manifest: Manifest,
    *,
    thresholds: Thresholds,
    case_set: Sequence[Case],
    today: datetime.date,
    signed: Collection[str] = (),
    baseline: BaselineComparison | None = None,
    reviewed: ReviewRecord | None = None,
) -> RunResult:
    """The record of a run; `case_set` is the full set of cases, of which `cases` may be a part."""
    runs = [run for case in cases for run in case.repeats]
    complete = [run for run in runs if run.incomplete is None]
    finished = [case.repeats for case in cases if case.verdict != Verdict.INCOMPLETE]
    values = {item.metric: item.value for item in verdict.judgements}
    intervals = {item.metric: item.interval for item in verdict.judgements if item.interval is not None}
    selected, known = {case.case_id for case in cases}, {case.id for case in case_set}
    alarms = Counter((alarm.kind, alarm.state) for run in runs for alarm in run.alarms)
    confidence, judge = thresholds.set.confidence, manifest.judged
    continuity = mean(run.alignment for run in complete)
    missing = next((run.alignment_reason for run in complete if run.alignment_reason), "")
    confirmed = [a for repeats in finished for run in repeats for a in run.alarms if a.state == AlarmState.CONFIRMED]
    findings = count_findings(runs)
    open_findings, severe_open_findings = findings[AlarmState.OPEN]
    return RunResult(
        **_fields(verdict),
        waivers=tuple(one for one in thresholds.waivers if one.holds_on(today) and one.case in known),
        cases_selected=len(cases),
        cases_complete=len(finished),
        failing_cases=tuple(case.case_id for case in cases if case.verdict == Verdict.FAIL),
        entity_recall_at_t10=values.get("recall_at_t10"),
        entity_recall_at_t10_extended=mean(
            turn.extended.recall for run in complete for turn in run.turns[run.t10_turn - 1 : run.t10_turn]
        ),
        strict_recall_at_t10=values.get("strict_recall_at_t10"),
        knowledge_conflict_rate=values.get("k_conflict"),
        knowledge_conflict_pairs=sum(run.conflict.pairs for run in complete),
        drift_slope_critical=values.get("drift_slope"),
        drift_slope_extended=mean(run.slope_extended.slope for run in complete if run.slope_extended),
        r_squared=mean(run.slope.r_squared for run in complete if run.slope),
        continuity_score=continuity,
        continuity_not_evaluated=missing if continuity is None else None,
        **_curves(complete),
        confidence_intervals={name: IntervalRecord(**_fields(interval)) for name, interval in intervals.items()},
        limits={name: _limits(limits) for name, limits in thresholds.metrics.items()},
        gated_by_default=tuple(thresholds.implied_metrics),
        alarms={
            kind: {state: alarms[kind, state] for state in AlarmState} for kind in sorted({kind for kind, _ in alarms})
        },
        findings=findings,
        open_findings=open_findings,
        severe_open_findings=severe_open_findings,
        severe_without_reviewer=sum(alarm.severe and alarm.settled_by != "person" for alarm in confirmed),
        hazards={
            hazard: tuple(case.id for case in case_set if hazard in case.hazards)
            for hazard in sorted({hazard for case in case_set for hazard in case.hazards})
        },
        counts=count_evidence(
            runs,
            case_set,
            signed=signed,
            confidence=confidence,
            judge=judge.calibration.kinds if judge and judge.calibration else None,
            deciding=judge.deciding if judge else (),
        ),
        memory=memory_of(
            finished, case_set, limit=thresholds.metrics["recall_at_end"].pass_limit.value, confidence=confidence
        ),
        pdsqi=attribute_figures([case.repeats[0] for case in cases if case.repeats], confidence=confidence),
        repeat_spread=repeat_figures(finished, thresholds, today, verdict.deciders.deciding),
        baseline=baseline,
        sanity_band=sanity_band([case for case in case_set if case.id in selected]),
        reviewed=reviewed,
        cases=tuple(cases),
        manifest=manifest,
    )


def _curves(complete: Sequence[CaseAssessment]) -> dict[str, Any]:
    """The mean of every curve, by its field of the record."""
    curves: dict[str, list[Sequence[float | None]]] = {
        f"average_{figure}_curve_{gold}": [
            [getattr(getattr(turn, gold), figure) for turn in run.turns] for run in complete
        ]
        for gold in ("critical", "extended")
        for figure in ("recall", "precision", "f1", "hallucinated_rate")
    }
    curves["average_strict_recall_curve_critical"] = [run.strict_curve for run in complete]
    curves["average_worst_recall_curve_critical"] = [run.worst_curve for run in complete]
    return {name: tuple(mean_curve(per_case)) for name, per_case in curves.items()}


def _limits(limits: MetricLimits) -> LimitRecord:
    return LimitRecord(
        pass_limit=str(limits.pass_limit),
        caution=str(limits.caution_limit),
        pass_value=limits.pass_limit.value,
        caution_value=limits.caution_limit.value,
        **limits.model_dump(include={"direction", "worst", "why"}),
    )


def _fields(record: Any) -> dict[str, Any]:
    """What a dataclass holds, as it is."""
    return {field.name: getattr(record, field.name) for field in dataclasses.fields(record)}
