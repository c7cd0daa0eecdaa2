"""Alarms as the gated metrics count them, and the words that a headline shows of a contradicted fact."""

import re
from collections.abc import Sequence
from dataclasses import replace

from pytest_clinical_drift.scoring.assessment import DISMISSED, Alarm, AlarmKind, Event, TurnAssessment

_STOP = re.compile(r"\n+|[.;!?](?=\s|$)")
"""Where a sentence or line ends."""
_BESIDE = 35
"""Characters that a headline shows on each side of a quote in a long sentence."""
_METRIC_OF = {
    AlarmKind.INVENTED: ("inventions", "minor_inventions"),
    AlarmKind.CONFLICT: ("severe_contradictions", "other_contradictions"),
    AlarmKind.RECOMMENDS: ("breaches", "lesser_breaches"),
    AlarmKind.OMITS: ("breaches", "lesser_breaches"),
    AlarmKind.LOST: ("hard_stops", "contradicted_facts"),
    AlarmKind.CONTRADICTED: ("hard_stops", "contradicted_facts"),
    AlarmKind.STALE: ("hard_stops", "stale_facts"),
    AlarmKind.HARM: ("harms", "harms"),
    AlarmKind.COURSE: ("courses", "courses"),
    AlarmKind.MISREPORTED: ("misreported", "misreported"),
    AlarmKind.LEAK: ("leaks", "leaks"),
    AlarmKind.TO_JUDGE: ("appeals", "appeals"),
}
"""Kind of an alarm to the metric that counts it: where it is severe, and where it is not."""


def events_of_alarms(alarms: Sequence[Alarm]) -> list[Event]:
    """Alarms as the gated metrics count them; facts of summaries are counted over their turns instead."""
    return [
        Event(
            _METRIC_OF[alarm.kind][not alarm.severe], alarm.kind, alarm.turn, alarm.state,
            (alarm.what if alarm.fact else alarm.rule) or alarm.reason, alarm.quote, alarm.reason, alarm.fact,
            alarm.earlier_turn, alarm.what, alarm.by_fact, alarm.finder, grade=alarm.grade, source=alarm.source,
        )
        for alarm in alarms
        if alarm.state != DISMISSED
    ]  # fmt: skip


def in_its_sentence(event: Event, turns: Sequence[TurnAssessment], summary: str) -> Event:
    """A contradicted fact with the words that deny it: the name of the thing alone would not show it."""
    findings = [fact for turn in turns if turn.turn == event.turn for fact in turn.findings]
    quote = next((fact.quotes[0] for fact in findings if fact.fact_id == event.fact and fact.quotes), None)
    if event.kind != AlarmKind.CONTRADICTED or quote is None or summary[quote.start : quote.end] != quote.text:
        return event
    begin = max((stop.end() for stop in _STOP.finditer(summary, 0, quote.start)), default=0)
    stop = _STOP.search(summary, quote.end)
    before, after = summary[begin : quote.start], summary[quote.end : stop.start() if stop else None]
    if len(before) + len(after) > 2 * _BESIDE:
        before = before if len(before) <= _BESIDE else f"…{before[-_BESIDE:].partition(' ')[2]}"
        after = after if len(after) <= _BESIDE else f"{after[:_BESIDE].rpartition(' ')[0]}…"
    return replace(event, around=f"{before}{quote.text}{after}".strip(" \t-*#|"))
