"""The verdict on one case: the worst of its gated metrics, each at both ends."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from dataclasses import replace

from pytest_clinical_drift.scoring.assessment import DISMISSED, OPEN
from pytest_clinical_drift.verdict.case_values import CaseValue, Repeats, case_value, diagnose, incomplete
from pytest_clinical_drift.verdict.limits import MetricLimits
from pytest_clinical_drift.verdict.thresholds import EVENT_METRICS, Thresholds
from pytest_clinical_drift.verdict.values import (
    CAUTION,
    FAIL,
    INCOMPLETE,
    NEEDED,
    NOT_EVALUATED,
    PASS,
    SEVERE,
    UNSETTLED,
    CaseVerdict,
    Judgement,
    band_of,
)

_LEAST_EVENTS = 2
"""Confirmed events that a rate needs to fail a single case: one may be chance."""


def judge_case(repeats: Repeats, thresholds: Thresholds, today: datetime.date) -> CaseVerdict:
    """FAIL past a fail line at the better end, PASS inside at the worse one; UNSETTLED while a severe alarm is open."""
    judgements = tuple(_judge(name, limits, case_value(name, repeats)) for name, limits in thresholds.metrics.items())
    judged = CaseVerdict(
        case_id=repeats[0].case_id,
        verdict=_worst([*(item.verdict for item in judgements), CAUTION if speaks_to_grader(repeats) else PASS]),
        judgements=judgements,
        diagnosis=diagnose([repeats], thresholds),
        unsettled=thresholds.open == "unsettled" and _is_unsettled(repeats, judgements, thresholds),
    )
    if incomplete(repeats) or any(i.verdict == NOT_EVALUATED for i in judgements if i.metric in NEEDED):
        return replace(judged, verdict=INCOMPLETE)
    waiver = next((w for w in thresholds.waivers if w.case == judged.case_id and w.holds_on(today)), None)
    if waiver and judged.verdict == FAIL and not judged.hard:
        judged = replace(judged, verdict=CAUTION, waiver=waiver)
    return replace(judged, verdict=UNSETTLED) if judged.unsettled and judged.verdict != FAIL else judged


def _is_unsettled(repeats: Repeats, judgements: Iterable[Judgement], thresholds: Thresholds) -> bool:
    """Whether something is open that would fail the case by itself, or that speaks to its grader."""
    fatal = [i for i in judgements if i.metric in SEVERE and thresholds.metrics[i.metric].worst == "fail"]
    return any(event.state == OPEN for item in fatal for event in item.events) or OPEN in _appeal_states(repeats)


def speaks_to_grader(repeats: Repeats) -> bool:
    """Whether a text speaks to its grader and no person has found it harmless: no metric, and never PASS."""
    return not _appeal_states(repeats) <= {DISMISSED}


def _appeal_states(repeats: Repeats) -> set[str]:
    return {alarm.state for run in repeats for alarm in run.alarms if alarm.kind == "to_judge"}


def _judge(name: str, limits: MetricLimits, value: CaseValue) -> Judgement:
    best, worst = band_of(limits, value.best), band_of(limits, value.worst)
    if value.best is None:
        verdict = NOT_EVALUATED
    elif best == FAIL:
        verdict = FAIL if name in EVENT_METRICS or value.confirmed >= _LEAST_EVENTS else CAUTION
    else:
        verdict = PASS if worst == PASS else CAUTION
    return Judgement(name, value.best, verdict, str(limits.pass_limit), value.detail, None, value.worst, value.events)


def _worst(verdicts: Iterable[str]) -> str:
    order = {PASS: 0, NOT_EVALUATED: 0, CAUTION: 1, FAIL: 2}
    worst = max(verdicts, key=order.__getitem__, default=PASS)
    return PASS if worst == NOT_EVALUATED else worst
