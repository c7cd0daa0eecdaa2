"""Alarms and conversations as the dossier shows them.

Alarms are grouped by case, fact and run of turns. A conversation has patient, reply and summary side by side, facts as
coloured margins, the words of facts and alarms marked.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pytest_clinical_drift.evidence.findings import visible
from pytest_clinical_drift.judging.rulings import Opinion
from pytest_clinical_drift.report.clean import Mark, marked, quote_marks
from pytest_clinical_drift.report.headlines import case_headline
from pytest_clinical_drift.report.reasons import reason_text
from pytest_clinical_drift.report.sentences import alarm_title, grade_rank, kind_rank
from pytest_clinical_drift.results.models import CaseResult
from pytest_clinical_drift.scoring.assessment import Alarm, AlarmKind, AlarmState, CaseAssessment, SettledFact
from pytest_clinical_drift.transcript import Exchange, Reply, Transcript
from pytest_clinical_drift.verdict.case import findings_of

_IN_SUMMARIES = (
    AlarmKind.LOST, AlarmKind.CONTRADICTED, AlarmKind.STALE, AlarmKind.INVENTED, AlarmKind.MISREPORTED,
)  # fmt: skip
_IN_REPLIES = (AlarmKind.RECOMMENDS, AlarmKind.OMITS, AlarmKind.HARM, AlarmKind.CONFLICT, AlarmKind.COURSE)
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
    alarms: Sequence[Alarm]
    row: Sequence[Mapping[str, Any]]
    """The fact on every turn."""
    replies: Mapping[int, str] = field(default_factory=dict)
    """By turn, the replies of which a finding on them quotes no words: what stands there instead of what is missing."""

    @property
    def first(self) -> Alarm:
        """The first severe one; where none is, the first."""
        return next((alarm for alarm in self.alarms if alarm.severe), self.alarms[0])

    @property
    def state(self) -> AlarmState:
        return self.first.state

    @property
    def severe(self) -> bool:
        return self.first.severe

    @property
    def read(self) -> bool:
        """Whether a person has read it, on every turn."""
        return all(any(opinion.by_person for opinion in alarm.answers) for alarm in self.alarms)

    @property
    def reply(self) -> str | None:
        """The reply behind a finding that quotes none of its words; None where it quotes some, or is on no reply."""
        return self.replies.get(self.first.turn)

    @property
    def title(self) -> str:
        """What happened; of a fact that changed on the way also what was true from then on."""
        told, parts = self.first, [alarm_title(self.first)]
        for alarm in self.alarms if told.fact is not None else ():
            if alarm.turn > told.turn and alarm.what != told.what:
                parts.append(f"from turn {alarm.turn}: {alarm_title(alarm)}")
                told = alarm
        return "; ".join(parts)

    def title_at(self, turn: int) -> str:
        """What happened on one of its turns, with the fact as it was true then."""
        return next((alarm_title(alarm) for alarm in self.alarms if alarm.turn == turn), self.title)

    @property
    def turns(self) -> list[int]:
        return [alarm.turn for alarm in self.alarms]

    @property
    def opinions(self) -> list[tuple[int, Opinion]]:
        return [(alarm.turn, opinion) for alarm in self.alarms for opinion in alarm.answers]


def alarm_groups(
    cases: Iterable[CaseResult], transcripts: Mapping[str, Sequence[Transcript]] | None = None
) -> list[AlarmGroup]:
    """Every group of alarms; the severe first, then by state, grade of harm, what was said before what was not, case
    and turn. `transcripts` are the conversations by case."""
    groups = []
    for run in (run for case in cases for run in case.repeats):
        place = run_name(run)
        for number, alarms in enumerate(findings_of(run), start=1):
            row = fact_cells(run, alarms[0].fact) if alarms[0].fact else []
            replies = _replies_behind(alarms, (transcripts or {}).get(run.case_id, ()), run.repeat)
            groups.append(AlarmGroup(f"alarm-{place}-{number}", run.case_id, place, alarms, row, replies))
    return sorted(groups, key=_gravity)


def _replies_behind(alarms: Sequence[Alarm], transcripts: Sequence[Transcript], repeat: int) -> dict[int, str]:
    """The replies that findings on them quote no words of: the words of an omission are those that stand there."""
    on_replies = [alarm for alarm in alarms if alarm.kind in _IN_REPLIES or alarm.source == "reply"]
    turns = {alarm.turn for alarm in on_replies if not alarm.quote}
    said = {e.turn: visible(e.reply) for t in transcripts if t.repeat == repeat for e in t.exchanges if e.turn in turns}
    return {turn: text for turn, text in said.items() if text is not None}


def _gravity(group: AlarmGroup) -> tuple[object, ...]:
    first = group.first
    return (
        not group.severe,
        _STATES[group.state],
        grade_rank(first.grade),
        kind_rank(first.kind),
        group.case,
        group.turns[0],
    )


def run_name(run: CaseAssessment) -> str:
    """What anchors of one conversation begin with."""
    return f"{run.case_id}-r{run.repeat + 1}"


def case_view(
    case: CaseResult, groups: Iterable[AlarmGroup], transcripts: Mapping[int, Transcript] | None = None
) -> dict[str, Any]:
    """A case with its conversations by repeat; without `transcripts`, without facts and texts."""
    own = [group for group in groups if group.case == case.case_id]
    states = [group.state for group in own]
    return {
        "case": case,
        "headline": case_headline(case),
        "diagnosis": reason_text(case.diagnosed),
        "open": states.count(AlarmState.OPEN),
        "confirmed": states.count(AlarmState.CONFIRMED),
        "runs": [] if transcripts is None else [_run_view(run, transcripts, own) for run in case.repeats],
    }


def _run_view(
    run: CaseAssessment, transcripts: Mapping[int, Transcript], groups: Sequence[AlarmGroup]
) -> dict[str, Any]:
    """One conversation: facts by turn, and the turns with their texts, where its transcript is there."""
    return {
        "run": run,
        "name": run_name(run),
        "turns": [turn.turn for turn in run.turns if turn.probed],
        "facts": fact_rows(run),
        "exchanges": _exchanges(run, transcripts.get(run.repeat), groups),
    }


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


def _exchanges(
    run: CaseAssessment, transcript: Transcript | None, groups: Sequence[AlarmGroup]
) -> list[dict[str, Any]]:
    findings = {turn.turn: turn.findings for turn in run.turns}
    order = list(dict.fromkeys(finding.fact_id for turn in run.turns for finding in turn.findings))
    standing = [group for group in groups if group.place == run_name(run) and group.state != AlarmState.DISMISSED]
    return [
        {
            "exchange": exchange,
            "message": marked(exchange.message, ()),
            "reply": _text(exchange.reply, _alarm_marks(exchange, standing, in_summary=False)),
            "summary": _text(exchange.summary, _summary_marks(exchange, standing, findings.get(exchange.turn, ()))),
            "margin": _margin(order, findings.get(exchange.turn, ())),
            "alarms": [group for group in standing if exchange.turn in group.turns],
        }
        for exchange in (transcript.exchanges if transcript else ())
    ]


def _margin(order: Sequence[str], findings: Sequence[SettledFact]) -> list[dict[str, str]]:
    """One stripe per fact, always in the same place, so that a fact can be followed down the page."""
    by_fact = {finding.fact_id: finding for finding in findings}
    blank = {"style": "blank", "title": "", "text": ""}
    return [cell(by_fact[fact]) if fact in by_fact else blank for fact in order]


def _text(said: Reply, marks: Iterable[Mark]) -> Any:
    return marked(said.text[:_TEXT_LIMIT], marks)


def _alarm_marks(exchange: Exchange, groups: Sequence[AlarmGroup], *, in_summary: bool) -> list[Mark]:
    """The words of alarms in a reply, or in the summary after it."""
    text = (exchange.summary if in_summary else exchange.reply).text[:_TEXT_LIMIT]
    marks: list[Mark] = []
    for alarm in (alarm for group in groups for alarm in group.alarms):
        style, title = f"state-{alarm.state}", alarm_title(alarm)
        if alarm.turn == exchange.turn and _is_in_summary(alarm) == in_summary:
            quotes = [alarm.quote, *(opinion.quote for opinion in alarm.answers)]
            marks += quote_marks(text, quotes, style, title)
        elif alarm.earlier_turn == exchange.turn and not in_summary:
            quotes = [alarm.earlier_quote, *(opinion.earlier_quote for opinion in alarm.answers)]
            marks += quote_marks(text, quotes, style, f"contradicted on turn {alarm.turn}")
    return marks


def _is_in_summary(alarm: Alarm) -> bool:
    if alarm.kind in (AlarmKind.TO_JUDGE, AlarmKind.LEAK):
        return alarm.what == "summary"
    return alarm.kind in _IN_SUMMARIES and not alarm.source


def _summary_marks(exchange: Exchange, groups: Sequence[AlarmGroup], findings: Sequence[SettledFact]) -> list[Mark]:
    """The words of alarms in a summary, and those of facts where no alarm is about them."""
    marks = _alarm_marks(exchange, groups, in_summary=True)
    alarmed = [(mark.start, mark.end) for mark in marks]
    for finding in findings:
        shown = cell(finding)
        title = f"{shown['title']}: {finding.text}"
        marks += [
            Mark(quote.start, quote.end, shown["style"], title, finding.fact_id)
            for quote in finding.quotes
            if not any(quote.start < end and start < quote.end for start, end in alarmed)
        ]
    return marks
