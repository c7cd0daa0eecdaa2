"""From the judged cases to the record of the run: the figures that the seeds name, counted once."""

import dataclasses
import datetime
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.metrics.recall import mean, mean_curve
from pytest_clinical_drift.results.manifest import Manifest
from pytest_clinical_drift.results.models import CaseResult, IntervalRecord, LimitRecord, ReviewRecord, RunResult
from pytest_clinical_drift.scoring.assessment import AlarmState, CaseAssessment
from pytest_clinical_drift.verdict.bands import MetricLimits
from pytest_clinical_drift.verdict.baseline import BaselineComparison
from pytest_clinical_drift.verdict.case import count_findings
from pytest_clinical_drift.verdict.counts import count_evidence
from pytest_clinical_drift.verdict.memory import memory_of
from pytest_clinical_drift.verdict.reasons import Verdict
from pytest_clinical_drift.verdict.thresholds import Thresholds
from pytest_clinical_drift.verdict.ungated import attribute_figures, repeat_figures, sanity_band
from pytest_clinical_drift.verdict.values import SetVerdict


def _fields(record: Any) -> dict[str, Any]:
    """What a dataclass holds, as it is."""
    return {field.name: getattr(record, field.name) for field in dataclasses.fields(record)}


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
    # the names that both have: verdict, judgements, reasons, diagnosis, deciders, and what is left to read
    judged = {name: value for name, value in _fields(verdict).items() if name in RunResult.model_fields}
    return RunResult(
        **judged | {"waivers": tuple(waiver for waiver in verdict.waivers if waiver.case in known)},
        cases_total=verdict.total,
        cases_selected=verdict.selected,
        cases_complete=verdict.complete,
        failing_cases=verdict.failing,
        entity_recall_at_t10=values.get("recall_at_t10"),
        entity_recall_at_t10_extended=mean(
            turn.extended.recall for run in complete for turn in run.turns[run.horizon - 1 : run.horizon]
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
        findings=count_findings(runs),
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
