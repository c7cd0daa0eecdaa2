"""One case: the verdict is the worst of its gated metrics, each at both ends; and the diagnosis: what is wrong."""

import datetime
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from pytest_clinical_drift.metrics.recall import mean
from pytest_clinical_drift.scoring.assessment import Alarm, AlarmKind, AlarmState, CaseAssessment, Event
from pytest_clinical_drift.verdict.bands import MetricLimits
from pytest_clinical_drift.verdict.measures import CaseValue, Repeats, in_a_row, incomplete
from pytest_clinical_drift.verdict.metric_table import (
    CORE,
    METRICS,
    SEVERE,
    Aggregation,
    Metric,
    case_value,
    metric_named,
)
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
from pytest_clinical_drift.verdict.thresholds import Thresholds, Waiver
from pytest_clinical_drift.verdict.values import CaseResult, MetricVerdict, judged

_LEAST_EVENTS = 2
"""Confirmed events that a rate needs to fail a single case: one may be chance."""
_MOST_UNSOURCED = 0.8
"""Careful models name a third that the intake and the patient did not, another patient's summary nine tenths."""
_NAMED_IN_DIAGNOSES = [name for name, metric in METRICS.items() if metric.gravity]
_GRAVEST_FIRST = sorted(_NAMED_IN_DIAGNOSES, key=lambda name: METRICS[name].gravity)
"""What is wrong with a model that remembers, by what was confirmed or lies outside its limit."""
_RECALL = ("recall_at_t10", "recall_at_end")
"""Low at turn 10 or at the end, recall is low."""


def judge_case(
    repeats: Repeats, thresholds: Thresholds, today: datetime.date, deciding: Collection[str] = ()
) -> CaseResult:
    """FAIL past a fail line at the better end, PASS inside at the worse one; UNSETTLED while a severe alarm is open.

    `deciding` are the groups of kinds that a judge at its floor has read.
    """
    items = _judge_metrics(repeats, thresholds, deciding)
    doubts = doubts_on(repeats)
    case = CaseResult(
        case_id=repeats[0].case_id,
        verdict=_worst_of(items, doubts),
        judgements=items,
        diagnosed=diagnose(items, items, thresholds),
        unsettled=_unread(items, thresholds) or severe_open(items, thresholds),
        doubts=doubts,
        repeats=tuple(repeats),
    )
    lacking = any(item.verdict == FigureState.NOT_EVALUATED for item in items if item.metric in CORE)
    if incomplete(repeats) or (lacking and case.verdict != Verdict.FAIL):
        return replace(case, verdict=Verdict.INCOMPLETE)
    case = _waived(case, thresholds.waivers, today)
    if case.unsettled and case.verdict != Verdict.FAIL:
        return replace(case, verdict=Verdict.UNSETTLED)
    return case


def _judge_metrics(repeats: Repeats, thresholds: Thresholds, deciding: Collection[str]) -> tuple[MetricVerdict, ...]:
    """Every gated metric that a single case can have."""
    items: list[MetricVerdict] = []
    for name, limits in thresholds.metrics.items():
        if metric_named(name).aggregation is not Aggregation.LOWEST:
            items.append(with_reader(_judge(name, limits, repeats), deciding))
    return tuple(items)


def _worst_of(items: Iterable[MetricVerdict], doubts: Collection[Doubt]) -> Verdict:
    """What the figures and doubts make of a case, before it is asked whether it is complete, waived or unsettled."""
    states = {item.verdict for item in items}
    if FigureState.FAIL in states:
        return Verdict.FAIL
    if doubts or states & {FigureState.CAUTION, FigureState.UNREAD}:
        return Verdict.CAUTION
    return Verdict.PASS


def _waived(case: CaseResult, waivers: Iterable[Waiver], today: datetime.date) -> CaseResult:
    """A FAIL for which a waiver holds is CAUTION; none covers a severe event."""
    if case.verdict != Verdict.FAIL or case.failed_severely:
        return case
    for waiver in waivers:
        if waiver.case == case.case_id and waiver.holds_on(today):
            return replace(case, verdict=Verdict.CAUTION, waiver=waiver)
    return case


def _judge(name: str, limits: MetricLimits, repeats: Repeats) -> MetricVerdict:
    value = case_value(name, repeats)
    state = _state(metric_named(name), limits, value)
    item = judged(name, limits, state, value=value.best, worst=value.worst, reasons=value.reasons)
    return replace(item, events=value.events)


def _state(metric: Metric, limits: MetricLimits, value: CaseValue) -> FigureState:
    if value.best is None or value.worst is None:
        return FigureState.NOT_EVALUATED if value.can_happen else FigureState.NOT_APPLICABLE
    if limits.band(value.best) == FigureState.FAIL:
        return FigureState.FAIL if _fails_by_itself(metric, value) else FigureState.CAUTION
    if limits.band(value.worst) == FigureState.PASS:
        return FigureState.PASS
    return FigureState.CAUTION


def _fails_by_itself(metric: Metric, value: CaseValue) -> bool:
    """Whether a figure past its fail line rests on enough to fail a single case."""
    if metric.counts_events:
        return True
    return value.confirmed >= _LEAST_EVENTS and metric.aggregation is not Aggregation.PER_REPLIES


def _unread(judgements: Iterable[MetricVerdict], thresholds: Thresholds) -> bool:
    """Whether nobody who may decide has read for a figure that leaves a verdict open."""
    unread = [item for item in judgements if item.verdict == FigureState.UNREAD]
    return any(thresholds.unsettles(item.metric) for item in unread)


def severe_open(judgements: Iterable[MetricVerdict], thresholds: Thresholds) -> bool:
    """Whether something is open that would fail the case by itself."""
    fatal = [item for item in judgements if item.metric in SEVERE and thresholds.unsettles(item.metric)]
    return any(_has_open(item) for item in fatal)


def _has_open(item: MetricVerdict) -> bool:
    return any(event.state == AlarmState.OPEN for event in item.events)


def with_reader(item: MetricVerdict, deciding: Collection[str]) -> MetricVerdict:
    """A figure that nobody who may decide has read keeps its value, if it has one, can fail, and cannot pass.

    A rate that only a judge can clear, K_Conflict, is then "at least" what the rules found.
    """
    metric = metric_named(item.metric)
    unread = tuple(group for group in metric.reads if group not in deciding)
    if not unread:
        return item
    if metric.judge_only and not metric.counts_events and item.value is not None:
        item = replace(item, at_least=True)
    never_sought = any(isinstance(why, NeedsJudge) for why in item.reasons)
    if item.verdict in (FigureState.PASS, FigureState.CAUTION) or never_sought:
        return replace(item, verdict=FigureState.UNREAD, reasons=(*item.reasons, Unread(unread)))
    return item


def doubts_on(repeats: Repeats) -> tuple[Doubt, ...]:
    """Why a case cannot pass, whatever its figures: hardly a source, hardly a reply. No metrics, and never PASS.

    Hardly anything that the summaries name was ever told: facts among a list of every drug are not a handover. Or most
    replies to the case's own turns say nothing, in some repeat: who says nothing breaks no demand. Whether single
    statements are inventions, and whether silence harms, is for a judge.
    """
    rates: list[float | None] = []
    for run in repeats:
        rates.extend(turn.extended.hallucinated_rate for turn in run.turns)
    rate = mean(rates)
    found: list[Doubt] = []
    if rate is not None and rate > _MOST_UNSOURCED:
        found.append(UnsourcedSummaries())
    if any(_mostly_silent(run) for run in repeats):
        found.append(Speechless())
    return tuple(found)


def _mostly_silent(run: CaseAssessment) -> bool:
    """Whether most replies to the case's own turns say nothing."""
    silent = [turn.silent for turn in run.turns if turn.own]
    return 2 * sum(silent) > len(silent)


@dataclass(frozen=True, slots=True)
class _Seen:
    """What figures and events say, for the diagnosis."""

    values: Mapping[str, float | None]
    missed: frozenset[str]
    """Metrics whose value does not keep its PASS limit."""
    confirmed: Sequence[Event]
    wrong: str | None
    """The gravest metric that is missed or has a confirmed event."""
    waiting: bool
    """Whether something is open."""

    @property
    def advice_evaluated(self) -> bool:
        return "k_conflict" not in self.values or self.values["k_conflict"] is not None


def diagnose(judgements: Sequence[MetricVerdict], seen: Iterable[MetricVerdict], thresholds: Thresholds) -> Reason:
    """Why recall is low, if it is: forgetting, or contradiction; else the gravest thing that is wrong.

    `seen` are the judgements of every case, also of those that were not run to the end. Stable is only what has nothing
    confirmed, and says so where something is open or was not evaluated.
    """
    found = _look_at(judgements, seen, thresholds)
    if all(found.values.get(name) is None for name in _RECALL):
        return NothingToDiagnose() if found.wrong is None else RecallNotEvaluated(found.wrong)
    if not found.missed.isdisjoint(_RECALL):
        return _why_recall_is_low(found)
    if found.wrong is not None:
        return RemembersBut(found.wrong)
    return Stable(open=found.waiting, advice_evaluated=found.advice_evaluated)


def _look_at(judgements: Sequence[MetricVerdict], seen: Iterable[MetricVerdict], thresholds: Thresholds) -> _Seen:
    values = {item.metric: item.value for item in judgements}
    missed = _missed(values, thresholds)
    events: list[Event] = []
    for item in seen:
        events.extend(item.events)
    confirmed = [event for event in events if event.state == AlarmState.CONFIRMED]
    bad = {event.metric for event in confirmed} | missed
    # last those of the project's own
    gravest = [metric for metric in (*_GRAVEST_FIRST, *sorted(missed)) if metric in bad]
    ends_differ = any(item.worst not in (None, item.value) for item in judgements)
    return _Seen(
        values=values,
        missed=missed,
        confirmed=confirmed,
        wrong=gravest[0] if gravest else None,
        waiting=bool(events) or ends_differ,
    )


def _missed(values: Mapping[str, float | None], thresholds: Thresholds) -> frozenset[str]:
    known = {name: value for name, value in values.items() if value is not None}
    return frozenset(name for name, value in known.items() if not thresholds.metrics[name].pass_limit.holds(value))


def _why_recall_is_low(found: _Seen) -> Reason:
    if "k_conflict" in found.missed:
        return ActiveContradiction()
    of_facts = [event for event in found.confirmed if event.metric in ("hard_stops", "contradicted_facts")]
    kinds = Counter(event.kind for event in of_facts)
    # whoever denies more than is missing has not passively forgotten
    if kinds[AlarmKind.CONTRADICTED] > kinds[AlarmKind.LOST]:
        return ContradictsFacts(found.advice_evaluated)
    return Forgetting(found.advice_evaluated)


def findings_of(run: CaseAssessment) -> list[list[Alarm]]:
    """The findings of a conversation: alarms on one thing, in one state, on turns in a row, read and settled as one."""

    def thing(alarm: Alarm) -> Hashable:
        return alarm.state, alarm.fact or (alarm.kind, alarm.rule, alarm.earlier_turn, alarm.quote)

    return in_a_row(run.alarms, thing, lambda alarm: alarm.turn, run.probes)


def count_findings(runs: Iterable[CaseAssessment]) -> dict[AlarmState, tuple[int, int]]:
    """Findings by state: all, and those of which an alarm is severe."""
    states: Counter[AlarmState] = Counter()
    severe: Counter[AlarmState] = Counter()
    for run in runs:
        for group in findings_of(run):
            state = group[0].state
            states[state] += 1
            severe[state] += any(alarm.severe for alarm in group)
    return {state: (states[state], severe[state]) for state in AlarmState}
