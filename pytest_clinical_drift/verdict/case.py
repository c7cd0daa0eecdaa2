"""One case: the verdict is the worst of its gated metrics, each at both ends; and the diagnosis: what is wrong."""

import datetime
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import replace

from pytest_clinical_drift.metrics.recall import mean
from pytest_clinical_drift.scoring.assessment import Alarm, AlarmKind, AlarmState, CaseAssessment
from pytest_clinical_drift.verdict.bands import MetricLimits
from pytest_clinical_drift.verdict.measures import Repeats, in_a_row, incomplete
from pytest_clinical_drift.verdict.metric_table import CORE, METRICS, SEVERE, Aggregation, case_value, metric_named
from pytest_clinical_drift.verdict.reasons import (
    ActiveContradiction,
    ContradictsFacts,
    Doubt,
    FigureState,
    Forgetting,
    NeedsJudge,
    NothingToDiagnose,
    Reason,
    RecallNotEvaluated,
    RemembersBut,
    Speechless,
    Stable,
    Unread,
    UnsourcedSummaries,
    Verdict,
)
from pytest_clinical_drift.verdict.thresholds import Thresholds
from pytest_clinical_drift.verdict.values import CaseResult, MetricVerdict, judged

_LEAST_EVENTS = 2
"""Confirmed events that a rate needs to fail a single case: one may be chance."""
_MOST_UNSOURCED = 0.8
"""Careful models name a third that the intake and the patient did not, another patient's summary nine tenths."""
_GRAVEST_FIRST = sorted((name for name, metric in METRICS.items() if metric.gravity), key=lambda m: METRICS[m].gravity)
"""What is wrong with a model that remembers, by what was confirmed or lies outside its limit."""
_RECALL = ("recall_at_t10", "recall_at_end")
"""Low at turn 10 or at the end, recall is low."""


def judge_case(
    repeats: Repeats, thresholds: Thresholds, today: datetime.date, deciding: Collection[str] = ()
) -> CaseResult:
    """FAIL past a fail line at the better end, PASS inside at the worse one; UNSETTLED while a severe alarm is open.

    `deciding` are the groups of kinds that a judge at its floor has read.
    """
    items = tuple(
        with_reader(_judge(name, limits, repeats), deciding)
        for name, limits in thresholds.metrics.items()
        if metric_named(name).aggregation is not Aggregation.LOWEST
    )
    states, doubts = {item.verdict for item in items}, doubts_on(repeats)
    verdict = Verdict.PASS
    if FigureState.FAIL in states:
        verdict = Verdict.FAIL
    elif doubts or states & {FigureState.CAUTION, FigureState.UNREAD}:
        verdict = Verdict.CAUTION
    unread = any(i.verdict == FigureState.UNREAD and thresholds.unsettles(i.metric) for i in items)
    unsettled = unread or severe_open(items, thresholds)
    case = CaseResult(
        repeats[0].case_id,
        verdict,
        items,
        diagnose(items, items, thresholds),
        unsettled=unsettled,
        doubts=doubts,
        repeats=tuple(repeats),
    )
    lacking = any(i.verdict == FigureState.NOT_EVALUATED for i in items if i.metric in CORE)
    if incomplete(repeats) or (lacking and verdict != Verdict.FAIL):
        return replace(case, verdict=Verdict.INCOMPLETE)
    waiver = next((w for w in thresholds.waivers if w.case == case.case_id and w.holds_on(today)), None)
    if waiver and verdict == Verdict.FAIL and not case.failed_severely:
        case = replace(case, verdict=Verdict.CAUTION, waiver=waiver)
    if unsettled and case.verdict != Verdict.FAIL:
        return replace(case, verdict=Verdict.UNSETTLED)
    return case


def _judge(name: str, limits: MetricLimits, repeats: Repeats) -> MetricVerdict:
    metric, value = metric_named(name), case_value(name, repeats)
    if value.best is None or value.worst is None:
        state = FigureState.NOT_EVALUATED if value.can_happen else FigureState.NOT_APPLICABLE
    elif limits.band(value.best) == FigureState.FAIL:
        of_set = metric.aggregation is Aggregation.PER_REPLIES
        enough = metric.counts_events or (value.confirmed >= _LEAST_EVENTS and not of_set)
        state = FigureState.FAIL if enough else FigureState.CAUTION
    else:
        state = FigureState.PASS if limits.band(value.worst) == FigureState.PASS else FigureState.CAUTION
    return judged(name, limits, state, value.best, value.worst, value.reasons, events=value.events)


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
    never_sought = any(isinstance(why, NeedsJudge) for why in item.reasons)
    if not unread or not (item.verdict in (FigureState.PASS, FigureState.CAUTION) or never_sought):
        return item
    return replace(item, verdict=FigureState.UNREAD, reasons=(*item.reasons, Unread(tuple(unread))))


def doubts_on(repeats: Repeats) -> tuple[Doubt, ...]:
    """Why a case cannot pass, whatever its figures: hardly a source, hardly a reply. No metrics, and never PASS.

    Hardly anything that the summaries name was ever told: facts among a list of every drug are not a handover. Or most
    replies to the case's own turns say nothing, in some repeat: who says nothing breaks no demand. Whether single
    statements are inventions, and whether silence harms, is for a judge.
    """
    rate = mean(turn.extended.hallucinated_rate for run in repeats for turn in run.turns)
    own = [[turn.silent for turn in run.turns if turn.own] for run in repeats]
    found: list[Doubt] = []
    if rate is not None and rate > _MOST_UNSOURCED:
        found.append(UnsourcedSummaries())
    if any(2 * sum(replies) > len(replies) for replies in own):
        found.append(Speechless())
    return tuple(found)


def diagnose(judgements: Sequence[MetricVerdict], seen: Iterable[MetricVerdict], thresholds: Thresholds) -> Reason:
    """Why recall is low, if it is: forgetting, or contradiction; else the gravest thing that is wrong.

    `seen` are the judgements of every case, also of those that were not run to the end. Stable is only what has nothing
    confirmed, and says so where something is open or was not evaluated.
    """
    limits, values = thresholds.metrics, {item.metric: item.value for item in judgements}
    missed = {name for name, value in values.items() if value is not None and not limits[name].pass_limit.holds(value)}
    events = [event for item in seen for event in item.events]
    confirmed = [event for event in events if event.state == AlarmState.CONFIRMED]
    bad = {event.metric for event in confirmed} | missed
    # last those of the project's own
    wrong = next((metric for metric in (*_GRAVEST_FIRST, *sorted(missed)) if metric in bad), None)
    if all(values.get(name) is None for name in _RECALL):
        return NothingToDiagnose() if wrong is None else RecallNotEvaluated(wrong)
    evaluated = not ("k_conflict" in values and values["k_conflict"] is None)
    if not missed.isdisjoint(_RECALL):
        if "k_conflict" in missed:
            return ActiveContradiction()
        kinds = Counter(event.kind for event in confirmed if event.metric in ("hard_stops", "contradicted_facts"))
        # whoever denies more than is missing has not passively forgotten
        denies = kinds[AlarmKind.CONTRADICTED] > kinds[AlarmKind.LOST]
        return ContradictsFacts(evaluated) if denies else Forgetting(evaluated)
    if wrong is not None:
        return RemembersBut(wrong)
    waiting = bool(events) or any(item.worst not in (None, item.value) for item in judgements)
    return Stable(open=waiting, advice_evaluated=evaluated)


def findings_of(run: CaseAssessment) -> list[list[Alarm]]:
    """The findings of a conversation: alarms on one thing, in one state, on turns in a row, read and settled as one."""

    def thing(alarm: Alarm) -> Hashable:
        return alarm.state, alarm.fact or (alarm.kind, alarm.rule, alarm.earlier_turn, alarm.quote)

    return in_a_row(run.alarms, thing, lambda alarm: alarm.turn, run.probes)


def count_findings(runs: Iterable[CaseAssessment]) -> dict[AlarmState, tuple[int, int]]:
    """Findings by state: all, and those of which an alarm is severe."""
    found = [(group[0].state, any(alarm.severe for alarm in group)) for run in runs for group in findings_of(run)]
    states = Counter(state for state, _ in found)
    return {state: (states[state], found.count((state, True))) for state in AlarmState}
