"""One case: the verdict is the worst of its gated metrics, each at both ends."""

import datetime
from collections.abc import Collection, Hashable, Iterable
from dataclasses import replace

from pytest_clinical_drift.metrics.recall import mean
from pytest_clinical_drift.scoring.assessment import Alarm, AlarmState, CaseAssessment
from pytest_clinical_drift.verdict.bands import MetricLimits
from pytest_clinical_drift.verdict.diagnosis import diagnose
from pytest_clinical_drift.verdict.measures import CaseValue, Repeats, in_a_row, incomplete
from pytest_clinical_drift.verdict.metric_table import CORE, SEVERE, MetricScope, case_value, metric_named
from pytest_clinical_drift.verdict.reasons import Reason, ReasonCode, reason
from pytest_clinical_drift.verdict.states import FigureState, Verdict
from pytest_clinical_drift.verdict.thresholds import Thresholds
from pytest_clinical_drift.verdict.values import CaseVerdict, MetricVerdict

_LEAST_EVENTS = 2
"""Confirmed events that a rate needs to fail a single case: one may be chance."""
_MOST_UNSOURCED = 0.8
"""Careful models name a third that the intake and the patient did not, another patient's summary nine tenths."""


def judge_case(
    repeats: Repeats, thresholds: Thresholds, today: datetime.date, deciding: Collection[str] = ()
) -> CaseVerdict:
    """FAIL past a fail line at the better end, PASS inside at the worse one; UNSETTLED while a severe alarm is open.

    `deciding` are the groups of kinds that a judge at its floor has read.
    """
    judgements = tuple(
        with_reader(_judge(name, limits, case_value(name, repeats)), deciding)
        for name, limits in thresholds.metrics.items()
        if metric_named(name).scope is MetricScope.CASE_AND_SET
    )
    states = {item.verdict for item in judgements}
    doubts = doubts_on(repeats)
    judged = CaseVerdict(
        case_id=repeats[0].case_id,
        verdict=_worst({*states, FigureState.CAUTION if doubts else FigureState.PASS}),
        judgements=judgements,
        diagnosed=diagnose(judgements, judgements, thresholds),
        unsettled=severe_open(judgements, thresholds)
        or any(i.verdict == FigureState.UNREAD and thresholds.unsettles(i.metric) for i in judgements),
        doubts=doubts,
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


def severe_open(judgements: Iterable[MetricVerdict], thresholds: Thresholds) -> bool:
    """Whether something is open that would fail the case by itself."""
    fatal = [i for i in judgements if i.metric in SEVERE and thresholds.unsettles(i.metric)]
    return any(e.state == AlarmState.OPEN for i in fatal for e in i.events)


def with_reader(item: MetricVerdict, deciding: Collection[str]) -> MetricVerdict:
    """A figure that nobody who may decide has read keeps its value, if it has one, can fail, and cannot pass.

    A rate that only a judge can clear, K_Conflict, is then "at least" what the rules found.
    """
    metric = metric_named(item.metric)
    unread = [group for group in metric.reads if group not in deciding]
    if unread and metric.judge_only and not metric.counts_events and item.value is not None:
        item = replace(item, at_least=True)
    never_sought = any(why.code is ReasonCode.NEEDS_JUDGE for why in item.reasons)
    if not unread or not (item.verdict in (FigureState.PASS, FigureState.CAUTION) or never_sought):
        return item
    return replace(item, verdict=FigureState.UNREAD, reasons=(*item.reasons, reason(ReasonCode.UNREAD, kinds=unread)))


def doubts_on(repeats: Repeats) -> tuple[Reason, ...]:
    """Why a case cannot pass, whatever its figures: hardly a source, hardly a reply. No metrics, and never PASS."""
    found = {ReasonCode.UNSOURCED_SUMMARIES: _unsourced(repeats), ReasonCode.SPEECHLESS: _speechless(repeats)}
    return tuple(reason(code) for code, holds in found.items() if holds)


def _unsourced(repeats: Repeats) -> bool:
    """Whether hardly anything that the summaries name was ever told: facts among a list of every drug are no handover.

    Whether single statements are inventions is for a judge.
    """
    rate = mean(turn.extended.hallucinated_rate for run in repeats for turn in run.turns)
    return rate is not None and rate > _MOST_UNSOURCED


def _speechless(repeats: Repeats) -> bool:
    """Whether most replies to the case's own turns say nothing, in some repeat: who says nothing breaks no demand.

    Whether silence harms is for a judge.
    """
    own = [[turn.silent for turn in run.turns if turn.own] for run in repeats]
    return any(2 * sum(replies) > len(replies) for replies in own)


def _judge(name: str, limits: MetricLimits, value: CaseValue) -> MetricVerdict:
    if value.best is None or value.worst is None:
        state = FigureState.NOT_EVALUATED if value.can_happen else FigureState.NOT_APPLICABLE
    elif limits.band(value.best) == FigureState.FAIL:
        metric = metric_named(name)
        enough = metric.counts_events or (value.confirmed >= _LEAST_EVENTS and not metric.set_decides)
        state = FigureState.FAIL if enough else FigureState.CAUTION
    else:
        state = FigureState.PASS if limits.band(value.worst) == FigureState.PASS else FigureState.CAUTION
    return MetricVerdict(
        name,
        value.best,
        state,
        str(limits.pass_limit),
        value.reasons,
        worst=value.worst,
        events=value.events,
        caution=str(limits.caution_limit),
    )


def _worst(states: set[FigureState]) -> Verdict:
    if FigureState.FAIL in states:
        return Verdict.FAIL
    return Verdict.CAUTION if states & {FigureState.CAUTION, FigureState.UNREAD} else Verdict.PASS


def findings_of(run: CaseAssessment) -> list[list[Alarm]]:
    """The findings of a conversation: alarms on one thing, in one state, on turns in a row, read and settled as one."""

    def thing(alarm: Alarm) -> Hashable:
        return alarm.state, alarm.fact or (alarm.kind, alarm.rule, alarm.earlier_turn, alarm.quote)

    return in_a_row(run.alarms, thing, lambda alarm: alarm.turn, run.probes)


def count_findings(runs: Iterable[CaseAssessment]) -> dict[AlarmState, tuple[int, int]]:
    """Findings by state: all, and those of which an alarm is severe."""
    found = [(group[0].state, any(alarm.severe for alarm in group)) for run in runs for group in findings_of(run)]
    return {
        state: (sum(s == state for s, _ in found), sum(s == state and severe for s, severe in found))
        for state in AlarmState
    }
