"""Alarms and conversations as the dossier shows them.

Alarms are grouped by case, fact and run of turns, each with its words in their full text. A conversation has patient,
reply and summary side by side, facts as coloured margins, alarms at their place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_clinical_drift.judging.opinions import Opinion
from pytest_clinical_drift.report.marks import Mark, marked, quote_marks
from pytest_clinical_drift.report.sentences import alarm_title, grade_rank
from pytest_clinical_drift.results.models import CaseResult, RunResult
from pytest_clinical_drift.scoring.assessment import Alarm, AlarmKind, AlarmState, CaseAssessment, SettledFact
from pytest_clinical_drift.transcript import Exchange, Reply, Transcript
from pytest_clinical_drift.verdict.case import findings_of

Transcripts = Mapping[tuple[str, int], Transcript]
"""Conversations by case and repeat."""

_IN_SUMMARIES = (
    AlarmKind.LOST, AlarmKind.CONTRADICTED, AlarmKind.STALE, AlarmKind.INVENTED, AlarmKind.MISREPORTED,
)  # fmt: skip
_SCROLLS = 250
"""Characters from which a text may be higher than its box and needs to be scrolled by keyboard."""
_STATES = {AlarmState.CONFIRMED: 0, AlarmState.OPEN: 1, AlarmState.DISMISSED: 2}
_TEXT_LIMIT = 12_000
"""Longest reply or summary shown whole; the transcript file always has all of it."""
SYMBOLS = {"retained": "●", "partial": "◐", "contradicted": "✕", "absent": "○", "stale": "↺", "open": "?"}


@dataclass(frozen=True, slots=True)
class AlarmGroup:
    """Alarms on one thing, in one state, on turns in a row: what a reader settles at a time."""

    id: str
    case: str
    place: str
    """What anchors of the conversation begin with."""
    first: Alarm
    """The first severe one; where none is, the first."""
    alarms: Sequence[Alarm]
    texts: Sequence[Mapping[str, Any]]
    row: Sequence[Mapping[str, Any]]
    """The fact on every turn."""

    @property
    def state(self) -> AlarmState:
        return self.first.state

    @property
    def severe(self) -> bool:
        return self.first.severe

    @property
    def title(self) -> str:
        return alarm_title(self.first)

    @property
    def turns(self) -> list[int]:
        return [alarm.turn for alarm in self.alarms]

    @property
    def opinions(self) -> list[tuple[int, Opinion]]:
        return [(alarm.turn, opinion) for alarm in self.alarms for opinion in alarm.answers]


def alarm_groups(result: RunResult, transcripts: Transcripts) -> list[AlarmGroup]:
    """Every group of alarms of the run; the severe first, then by state, grade of harm, case and turn."""
    return groups_of(result.cases, transcripts)


def groups_of(cases: Iterable[CaseResult], transcripts: Transcripts) -> list[AlarmGroup]:
    """The same of some cases; without transcripts, without texts."""
    groups = []
    for case in cases:
        for run in case.repeats:
            transcript = transcripts.get((case.case_id, run.repeat))
            for number, alarms in enumerate(findings_of(run), start=1):
                groups.append(_group(number, run, alarms, transcript))
    groups.sort(key=_gravity)
    return groups


def _gravity(group: AlarmGroup) -> tuple[object, ...]:
    return not group.severe, _STATES[group.state], grade_rank(group.first.grade), group.case, group.turns[0]


def run_name(case_id: str, repeat: int) -> str:
    """What anchors of one conversation begin with."""
    return f"{case_id}-r{repeat + 1}"


def _group(number: int, run: CaseAssessment, alarms: Sequence[Alarm], transcript: Transcript | None) -> AlarmGroup:
    first = next((alarm for alarm in alarms if alarm.severe), alarms[0])
    place = run_name(run.case_id, run.repeat)
    row = fact_cells(run, first.fact) if first.fact else []
    return AlarmGroup(f"alarm-{place}-{number}", run.case_id, place, first, alarms, _texts(first, transcript), row)


def _texts(alarm: Alarm, transcript: Transcript | None) -> list[dict[str, Any]]:
    """The full texts that an alarm is about, with its words marked; for a reply also what the patient had said."""
    by_turn: dict[int | None, Exchange] = {e.turn: e for e in transcript.exchanges} if transcript else {}
    exchange, earlier = by_turn.get(alarm.turn), by_turn.get(alarm.earlier_turn)
    if exchange is None:
        return []
    in_either = alarm.kind in (AlarmKind.TO_JUDGE, AlarmKind.LEAK)
    in_summary = alarm.what == "summary" if in_either else alarm.kind in _IN_SUMMARIES and not alarm.source
    quotes = [alarm.quote, *(opinion.quote for opinion in alarm.answers)]
    if in_summary:
        return [_text(f"Summary after turn {exchange.turn}", exchange.summary, quotes, alarm)]
    before = [alarm.earlier_quote, *(opinion.earlier_quote for opinion in alarm.answers)]
    return [
        *([_text(f"Reply on turn {earlier.turn}", earlier.reply, before, alarm)] if earlier else []),
        _text(f"Patient on turn {exchange.turn}", exchange.message, (), alarm),
        _text(f"Reply on turn {exchange.turn}", exchange.reply, quotes, alarm),
    ]


def _text(name: str, said: Reply | str | None, quotes: Sequence[str], alarm: Alarm) -> dict[str, Any]:
    text = said.text if isinstance(said, Reply) else said or ""
    marks = quote_marks(text, quotes, f"state-{alarm.state}", alarm_title(alarm))
    return {"name": name, "text": marked(text, marks), "long": len(text) > _SCROLLS}


def fact_rows(run: CaseAssessment) -> list[dict[str, Any]]:
    """Facts by turns: one row per wording that held, so that each turn shows the fact as it was true then."""
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for turn in run.turns:
        for finding in turn.findings:
            key = finding.fact_id, finding.text
            row = rows.setdefault(key, {"id": key[0], "text": key[1], "hard_stop": finding.hard_stop, "cells": {}})
            row["cells"][turn.turn] = cell(finding)
    order = list(dict.fromkeys(fact for fact, _ in rows))
    changed = {fact for fact in order if sum(fact == other for other, _ in rows) > 1}
    for (fact, _), row in rows.items():
        row["held"] = _span(list(row["cells"])) if fact in changed else ""
    return sorted(rows.values(), key=lambda row: (order.index(row["id"]), min(row["cells"])))


def _span(turns: Sequence[int]) -> str:
    return f"turn {turns[0]}" if len(turns) == 1 else f"turns {turns[0]} to {turns[-1]}"


def fact_cells(run: CaseAssessment, fact: str) -> list[dict[str, Any]]:
    """One fact over all turns, whatever its wording; a turn on which it did not hold is blank."""
    cells = {turn.turn: cell(f) for turn in run.turns for f in turn.findings if f.fact_id == fact}
    blank = {"style": "blank", "symbol": "", "title": "not true of the patient at that turn, or not evaluated"}
    return [{"turn": turn.turn, **cells.get(turn.turn, blank)} for turn in run.turns if turn.probed]


def cell(finding: SettledFact) -> dict[str, str]:
    """What a summary says about a fact: its status, or that the question is open."""
    style = "open" if finding.state == AlarmState.OPEN else "stale" if finding.stale else finding.status
    reason = f": {finding.reason}" if finding.reason else ""
    status = f"open, {finding.alarm}?" if style == "open" else style
    return {"style": style, "symbol": SYMBOLS[style], "title": f"{status}{reason}", "text": finding.text}


def run_view(run: CaseAssessment, transcript: Transcript | None, groups: Sequence[AlarmGroup]) -> dict[str, Any]:
    """One conversation: facts by turn, and the turns with their texts; without its transcript no texts."""
    return {
        "repeat": run.repeat,
        "turns": [turn for turn in run.turns if turn.probed],
        "recall_curve": run.recall_curve,
        "incomplete": run.incomplete,
        "notes": run.notes,
        "name": run_name(run.case_id, run.repeat),
        "facts": fact_rows(run),
        "exchanges": _exchanges(run, transcript, groups) if transcript else [],
    }


def _exchanges(run: CaseAssessment, transcript: Transcript, groups: Sequence[AlarmGroup]) -> list[dict[str, Any]]:
    findings = {turn.turn: turn.findings for turn in run.turns}
    order = list(dict.fromkeys(finding.fact_id for turn in run.turns for finding in turn.findings))
    standing = [group for group in groups if group.state != AlarmState.DISMISSED]
    return [
        {
            "turn": exchange.turn,
            "message": marked(exchange.message, ()),
            "reply": _reply(exchange, run.alarms),
            "summary": _summary(exchange.summary, findings.get(exchange.turn, ())),
            "cut": [name for name in ("reply", "summary") if getattr(getattr(exchange, name), "truncated", False)],
            "error": str(failed) if (failed := exchange.reply.error or exchange.summary.error) else None,
            "margin": _margin(order, findings.get(exchange.turn, ())),
            "alarms": [group for group in standing if exchange.turn in group.turns],
        }
        for exchange in transcript.exchanges
    ]


def _margin(order: Sequence[str], findings: Sequence[SettledFact]) -> list[dict[str, str]]:
    """One stripe per fact, always in the same place, so that a fact can be followed down the page."""
    by_fact = {finding.fact_id: finding for finding in findings}
    blank = {"style": "blank", "title": "", "text": ""}
    return [cell(by_fact[fact]) if fact in by_fact else blank for fact in order]


def _reply(exchange: Exchange, alarms: Sequence[Alarm]) -> Any:
    """The reply with the words of its alarms marked; None where none was recorded."""
    if exchange.reply is None or not exchange.reply.recorded:
        return None
    text = exchange.reply.text[:_TEXT_LIMIT]
    marks: list[Mark] = []
    for alarm in alarms:
        if alarm.state == AlarmState.DISMISSED or alarm.kind in _IN_SUMMARIES:
            continue
        style = f"state-{alarm.state}"
        if alarm.turn == exchange.turn:
            marks += quote_marks(text, [alarm.quote], style, alarm_title(alarm))
        elif alarm.earlier_turn == exchange.turn:
            marks += quote_marks(text, [alarm.earlier_quote], style, f"contradicted on turn {alarm.turn}")
    return marked(text, marks)


def _summary(summary: Reply, findings: Sequence[SettledFact]) -> Any:
    """The summary with the words of its facts marked; None where none was requested."""
    if not summary.asked:
        return None
    text = summary.text[:_TEXT_LIMIT]
    marks = []
    for finding in findings:
        shown = cell(finding)
        title = f"{shown['title']}: {finding.text}"
        marks += [Mark(quote.start, quote.end, shown["style"], title, finding.fact_id) for quote in finding.quotes]
    return marked(text, marks)


def text_size(transcript: Transcript) -> int:
    return sum(len(text.text) for exchange in transcript.exchanges for text in (exchange.reply, exchange.summary))
