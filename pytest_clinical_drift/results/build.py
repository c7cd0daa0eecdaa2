"""From the judged cases to the record of the run: the figures that the seeds name, counted once."""

import dataclasses
import datetime
from collections.abc import Collection, Sequence
from typing import Any

from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.metrics.recall import mean, mean_curve
from pytest_clinical_drift.results.manifest import Manifest
from pytest_clinical_drift.results.models import CaseResult, IntervalRecord, LimitRecord, ReviewRecord, RunResult
from pytest_clinical_drift.scoring.assessment import AlarmKind, AlarmState, CaseAssessment
from pytest_clinical_drift.scoring.sanity import sanity_band
from pytest_clinical_drift.verdict.bands import MetricLimits
from pytest_clinical_drift.verdict.baseline import BaselineComparison
from pytest_clinical_drift.verdict.case import count_findings
from pytest_clinical_drift.verdict.counts import count_evidence
from pytest_clinical_drift.verdict.measures import Repeats
from pytest_clinical_drift.verdict.memory import memory_of
from pytest_clinical_drift.verdict.quality import attribute_figures
from pytest_clinical_drift.verdict.repeats import repeat_figures
from pytest_clinical_drift.verdict.states import Verdict
from pytest_clinical_drift.verdict.thresholds import Thresholds
from pytest_clinical_drift.verdict.values import CaseVerdict, SetVerdict


def case_result(verdict: CaseVerdict, repeats: Repeats) -> CaseResult:
    known = {field.name: getattr(verdict, field.name) for field in dataclasses.fields(CaseVerdict)}
    return CaseResult(**known, repeats=tuple(repeats))


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
    selected = {case.case_id for case in cases}
    confidence, judge = thresholds.set.confidence, manifest.judged
    return RunResult(
        verdict=verdict.verdict,
        reasons=verdict.reasons,
        diagnosed=verdict.diagnosed,
        deciders=verdict.deciders,
        cases_total=verdict.total,
        cases_selected=verdict.selected,
        cases_complete=verdict.complete,
        failing_cases=verdict.failing,
        entity_recall_at_t10=values.get("recall_at_t10"),
        entity_recall_at_t10_extended=mean(_extended_at_t10(run) for run in complete),
        strict_recall_at_t10=values.get("strict_recall_at_t10"),
        knowledge_conflict_rate=values.get("k_conflict"),
        knowledge_conflict_pairs=sum(run.conflict.pairs for run in complete),
        drift_slope_critical=values.get("drift_slope"),
        drift_slope_extended=mean(run.slope_extended.slope if run.slope_extended else None for run in complete),
        r_squared=mean(run.slope.r_squared if run.slope else None for run in complete),
        **_continuity(complete),
        **_curves(complete),
        judgements=verdict.judgements,
        confidence_intervals={
            item.metric: IntervalRecord(low=item.interval.low, high=item.interval.high, method=item.interval.method)
            for item in verdict.judgements
            if item.interval is not None
        },
        limits={name: _limits(limits) for name, limits in thresholds.metrics.items()},
        gated_by_default=tuple(thresholds.implied_metrics),
        waivers=tuple(waiver for waiver in verdict.waivers if waiver.case in {case.id for case in case_set}),
        alarms=_alarm_counts(runs),
        findings=count_findings(runs),
        hazards=_hazards(case_set),
        to_read=verdict.to_read,
        severe_to_read=verdict.severe_to_read,
        unread=verdict.unread,
        canaries=verdict.canaries,
        canaries_unanswered=verdict.canaries_unanswered,
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


def _continuity(complete: Sequence[CaseAssessment]) -> dict[str, Any]:
    score = mean(run.alignment for run in complete)
    if score is not None:
        return {"continuity_score": score}
    missing = next((run.alignment_reason for run in complete if run.alignment_reason), "")
    return {"continuity_not_evaluated": missing}


def _curves(complete: Sequence[CaseAssessment]) -> dict[str, Any]:
    curves: dict[str, Any] = {}
    for gold in ("critical", "extended"):
        for figure in ("recall", "precision", "f1", "hallucinated_rate"):
            per_case = [[getattr(getattr(turn, gold), figure) for turn in run.turns] for run in complete]
            curves[f"average_{figure}_curve_{gold}"] = tuple(mean_curve(per_case))
    curves["average_strict_recall_curve_critical"] = tuple(mean_curve([run.strict_curve for run in complete]))
    curves["average_worst_recall_curve_critical"] = tuple(mean_curve([run.worst_curve for run in complete]))
    return curves


def _limits(limits: MetricLimits) -> LimitRecord:
    return LimitRecord(
        direction=limits.direction,
        pass_limit=str(limits.pass_limit),
        caution=str(limits.caution_limit),
        pass_value=limits.pass_limit.value,
        caution_value=limits.caution_limit.value,
        worst=limits.worst,
        why=limits.why,
    )


def _alarm_counts(runs: Sequence[CaseAssessment]) -> dict[AlarmKind, dict[AlarmState, int]]:
    counts: dict[AlarmKind, dict[AlarmState, int]] = {}
    for run in runs:
        for alarm in run.alarms:
            counts.setdefault(alarm.kind, dict.fromkeys(AlarmState, 0))[alarm.state] += 1
    return dict(sorted(counts.items()))


def _hazards(cases: Sequence[Case]) -> dict[str, tuple[str, ...]]:
    named = sorted({hazard for case in cases for hazard in case.hazards})
    return {hazard: tuple(case.id for case in cases if hazard in case.hazards) for hazard in named}


def _extended_at_t10(run: CaseAssessment) -> float | None:
    return run.turns[run.horizon - 1].extended.recall if run.horizon <= len(run.turns) else None
