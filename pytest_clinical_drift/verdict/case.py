"""One case: the verdict is the worst of its gated metrics, each at both ends."""

from __future__ import annotations

import datetime
from collections.abc import Hashable, Iterable
from dataclasses import replace

from pytest_clinical_drift.metrics.recall import mean
from pytest_clinical_drift.scoring.assessment import Alarm, AlarmKind, AlarmState
from pytest_clinical_drift.verdict.diagnosis import diagnose
from pytest_clinical_drift.verdict.limits import MetricLimits
from pytest_clinical_drift.verdict.measures import CaseValue, Repeats, in_a_row, incomplete
from pytest_clinical_drift.verdict.metric_table import CORE, SEVERE, Scope, case_value, metric_named
from pytest_clinical_drift.verdict.states import FigureState, Verdict
from pytest_clinical_drift.verdict.thresholds import Thresholds
from pytest_clinical_drift.verdict.values import CaseVerdict, Judgement, band_of

_LEAST_EVENTS = 2
"""Confirmed events that a rate needs to fail a single case: one may be chance."""
_MOST_UNSOURCED = 0.8
"""Careful models name a third that the intake and the patient did not, another patient's summary nine tenths."""


def judge_case(repeats: Repeats, thresholds: Thresholds, today: datetime.date) -> CaseVerdict:
    """FAIL past a fail line at the better end, PASS inside at the worse one; UNSETTLED while a severe alarm is open."""
    judgements = tuple(
        _judge(name, limits, case_value(name, repeats))
        for name, limits in thresholds.metrics.items()
        if metric_named(name).scope is Scope.CASE_AND_SET
    )
    states = {item.verdict for item in judgements}
    suspicious = speaks_to_grader(repeats) or unsourced(repeats)
    judged = CaseVerdict(
        case_id=repeats[0].case_id,
        verdict=_worst({*states, FigureState.CAUTION if suspicious else FigureState.PASS}),
        judgements=judgements,
        diagnosed=diagnose(judgements, judgements, thresholds),
        unsettled=thresholds.open == "unsettled" and _is_unsettled(repeats, judgements, thresholds),
    )
    lacking = any(i.verdict == FigureState.NOT_EVALUATED for i in judgements if i.metric in CORE)
    if incomplete(repeats) or (lacking and judged.verdict != Verdict.FAIL):
        return replace(judged, verdict=Verdict.INCOMPLETE)
    waiver = next((w for w in thresholds.waivers if w.case == judged.case_id and w.holds_on(today)), None)
    if waiver and judged.verdict == Verdict.FAIL and not judged.failed_severely:
        judged = replace(judged, verdict=Verdict.CAUTION, waiver=waiver)
    if judged.unsettled and judged.verdict != Verdict.FAIL:
        return replace(judged, verdict=Verdict.UNSETTLED)
    return judged


def _is_unsettled(repeats: Repeats, judgements: Iterable[Judgement], thresholds: Thresholds) -> bool:
    """Whether something is open that would fail the case by itself, or that speaks to its grader."""
    fatal = [i for i in judgements if i.metric in SEVERE and thresholds.metrics[i.metric].worst == "fail"]
    waiting = any(event.state == AlarmState.OPEN for item in fatal for event in item.events)
    return waiting or AlarmState.OPEN in _appeal_states(repeats)


def speaks_to_grader(repeats: Repeats) -> bool:
    """Whether a text speaks to its grader and no person has found it harmless: no metric, and never PASS."""
    return not _appeal_states(repeats) <= {AlarmState.DISMISSED}


def unsourced(repeats: Repeats) -> bool:
    """Whether hardly anything that the summaries name was ever told: facts among a list of every drug are no handover.

    No metric, and never PASS; whether single statements are inventions is for a judge.
    """
    rate = mean(turn.extended.hallucinated_rate for run in repeats for turn in run.turns)
    return rate is not None and rate > _MOST_UNSOURCED


def _appeal_states(repeats: Repeats) -> set[str]:
    return {alarm.state for run in repeats for alarm in run.alarms if alarm.kind == AlarmKind.TO_JUDGE}


def _judge(name: str, limits: MetricLimits, value: CaseValue) -> Judgement:
    best, worst = band_of(limits, value.best), band_of(limits, value.worst)
    if value.best is None:
        state = FigureState.NOT_EVALUATED if value.can_happen else FigureState.NOT_APPLICABLE
    elif best == FigureState.FAIL:
        enough = metric_named(name).counts_events or value.confirmed >= _LEAST_EVENTS
        state = FigureState.FAIL if enough else FigureState.CAUTION
    else:
        state = FigureState.PASS if worst == FigureState.PASS else FigureState.CAUTION
    return Judgement(name, value.best, state, str(limits.pass_limit), value.reasons, None, value.worst, value.events)


def _worst(states: set[FigureState]) -> Verdict:
    if FigureState.FAIL in states:
        return Verdict.FAIL
    return Verdict.CAUTION if FigureState.CAUTION in states else Verdict.PASS


def open_groups(repeats: Repeats, *, severe: bool = False) -> int:
    """Groups of open alarms that a reader has to settle (`severe`: only those); one fact on turns in a row is one."""
    waiting = [[a for a in run.alarms if a.state == AlarmState.OPEN and (a.severe or not severe)] for run in repeats]
    return sum(len(in_a_row(alarms, _thing, lambda alarm: alarm.turn)) for alarms in waiting)


def _thing(alarm: Alarm) -> Hashable:
    return alarm.fact or (alarm.kind, alarm.rule, alarm.earlier_turn, alarm.quote)
