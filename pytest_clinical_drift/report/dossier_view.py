"""Alarms and conversations as the dossier shows them.

Alarms are grouped by case, fact and run of turns. A conversation has patient, reply and summary side by side, facts as
coloured margins, the words of facts and alarms marked.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_clinical_drift.core.findings import Opinion
from pytest_clinical_drift.evidence.findings import visible
from pytest_clinical_drift.report.clean import Mark, marked, quote_marks
from pytest_clinical_drift.report.sentences import alarm_title, grade_rank, kind_rank, turns_text
from pytest_clinical_drift.results.models import CaseResult
from pytest_clinical_drift.scoring.assessment import Alarm, AlarmKind, AlarmState, CaseAssessment, SettledFact
from pytest_clinical_drift.transcript import Exchange, Transcript
from pytest_clinical_drift.verdict.case import findings_of

Transcripts = Mapping[str, Sequence[Transcript]]
"""Conversations by case."""

_IN_SUMMARIES = {"lost", "contradicted", "stale", "invented", "misreported"}
_TEXT_LIMIT = 12_000
"""Longest reply or summary shown whole; the transcript file always has all of it."""
_SYMBOLS = {"retained": "●", "partial": "◐", "contradicted": "✕", "absent": "○", "stale": "↺", "open": "?"}
_BLANK = {"style": "blank", "symbol": "", "title": "not true of the patient at that turn, or not evaluated", "text": ""}


@dataclass(frozen=True, slots=True)
class AlarmGroup:
    """Alarms on one thing, in one state, on turns in a row: what a reader settles at a time."""

    id: str
    case: str
    place: str
    """What anchors of the conversation begin with."""
    alarms: Sequence[Alarm]
    row: Sequence[tuple[int, Mapping[str, str]]]
    """Turns, and what each summary says of the fact."""
    replies: Mapping[int, str]
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
    def turns(self) -> list[int]:
        return [alarm.turn for alarm in self.alarms]

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

    @property
    def opinions(self) -> list[tuple[int, Opinion]]:
        return [(alarm.turn, opinion) for alarm in self.alarms for opinion in alarm.answers]


def alarm_groups(cases: Iterable[CaseResult], transcripts: Transcripts | None = None) -> list[AlarmGroup]:
    """Every group of alarms; the severe first, then by state, grade of harm, what was said before what was not, case
    and turn."""
    groups = []
    for run in (run for case in cases for run in case.repeats):
        place, talks = run_name(run), (transcripts or {}).get(run.case_id, ())
        exchanges = [exchange for talk in talks if talk.repeat == run.repeat for exchange in talk.exchanges]
        for number, alarms in enumerate(findings_of(run), start=1):
            fact, replies = alarms[0].fact, _replies_behind(alarms, exchanges)
            row = [(turn.turn, _cells(turn.findings, [fact])[0]) for turn in run.turns if turn.probed and fact]
            groups.append(AlarmGroup(f"alarm-{place}-{number}", run.case_id, place, alarms, row, replies))
    return sorted(groups, key=_gravity)


def _replies_behind(alarms: Sequence[Alarm], exchanges: Iterable[Exchange]) -> dict[int, str]:
    """The replies that findings on them quote no words of: the words of an omission are those that stand there."""
    turns = {alarm.turn for alarm in alarms if not alarm.quote and not _is_in_summary(alarm)}
    said = {exchange.turn: visible(exchange.reply) for exchange in exchanges if exchange.turn in turns}
    return {turn: text for turn, text in said.items() if text is not None}


def _gravity(group: AlarmGroup) -> tuple[object, ...]:
    rank = [*AlarmState].index(group.state), grade_rank(group.first.grade), kind_rank(group.first.kind)
    return not group.severe, *rank, group.case, group.turns[0]


def run_name(run: CaseAssessment) -> str:
    """What anchors of one conversation begin with."""
    return f"{run.case_id}-r{run.repeat + 1}"


def _cell(finding: SettledFact | None) -> dict[str, str]:
    """What a summary says about a fact: its status, or that the question is open; blank where the fact did not hold."""
    if finding is None:
        return _BLANK
    style = status = "stale" if finding.stale else finding.status
    if finding.state == AlarmState.OPEN:
        style, status = "open", f"open, {finding.alarm}?"
    title = f"{status}: {finding.reason}" if finding.reason else status
    return {"style": style, "symbol": _SYMBOLS[style], "title": title, "text": finding.text}


def _cells(findings: Iterable[SettledFact], facts: Iterable[str]) -> list[dict[str, str]]:
    """What a summary says of these facts, whatever wording of each was true then."""
    found = {finding.fact_id: finding for finding in findings}
    return [_cell(found.get(fact)) for fact in facts]


def case_view(
    case: CaseResult, groups: Sequence[AlarmGroup], transcripts: Sequence[Transcript] | None = None
) -> dict[str, Any]:
    """A case with its alarms by state and its conversations; without `transcripts`, without facts and texts."""
    by_repeat = {talk.repeat: talk for talk in transcripts or ()}
    runs = case.repeats if transcripts is not None else ()
    return {
        "case": case,
        "states": Counter(group.state for group in groups),
        "runs": [_run_view(run, by_repeat.get(run.repeat), groups) for run in runs],
    }


def _run_view(run: CaseAssessment, transcript: Transcript | None, groups: Sequence[AlarmGroup]) -> dict[str, Any]:
    """One conversation: facts by turn, and the turns with their texts, where its transcript is there."""
    order = list(dict.fromkeys(finding.fact_id for turn in run.turns for finding in turn.findings))
    standing = [group for group in groups if group.place == run_name(run) and group.state != AlarmState.DISMISSED]
    findings, exchanges = {turn.turn: turn.findings for turn in run.turns}, transcript.exchanges if transcript else ()
    return {
        "run": run,
        "name": run_name(run),
        "turns": [turn.turn for turn in run.turns if turn.probed],
        "facts": _fact_table(run, order),
        "exchanges": [_exchange_view(said, findings.get(said.turn, ()), order, standing) for said in exchanges],
    }


def _fact_table(run: CaseAssessment, order: Sequence[str]) -> list[dict[str, Any]]:
    """Facts by turns: one row per wording that held, so that each turn shows the fact as it was true then."""
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for turn in run.turns:
        for finding in turn.findings:
            new = {"id": finding.fact_id, "text": finding.text, "hard_stop": finding.hard_stop, "cells": {}}
            row = rows.setdefault((finding.fact_id, finding.text), new)
            row["cells"][turn.turn] = _cell(finding)
    wordings = Counter(fact for fact, _ in rows)
    for (fact, _), row in rows.items():
        row["held"] = turns_text(list(row["cells"])) if wordings[fact] > 1 else ""
    return sorted(rows.values(), key=lambda row: order.index(row["id"]))


def _exchange_view(
    exchange: Exchange, findings: Sequence[SettledFact], order: Sequence[str], groups: Sequence[AlarmGroup]
) -> dict[str, Any]:
    """A turn with its texts, in which words are marked, and one stripe per fact: always in the same place, so that a
    fact can be followed down the page."""
    reply, summary = exchange.reply.text[:_TEXT_LIMIT], exchange.summary.text[:_TEXT_LIMIT]
    in_reply, in_summary = _alarm_marks(exchange.turn, reply, summary, groups)
    for finding in findings:
        cell = _cell(finding)
        in_summary += [
            Mark(quote.start, quote.end, cell["style"], f"{cell['title']}: {finding.text}", finding.fact_id)
            for quote in finding.quotes
            if not any(quote.start < m.end and m.start < quote.end for m in in_summary if not m.fact)
        ]
    return {
        "exchange": exchange,
        "reply": marked(reply, in_reply),
        "summary": marked(summary, in_summary),
        "margin": _cells(findings, order),
        "alarms": [group for group in groups if exchange.turn in group.turns],
    }


def _alarm_marks(turn: int, reply: str, summary: str, groups: Sequence[AlarmGroup]) -> tuple[list[Mark], list[Mark]]:
    """The words of alarms in a reply, and in the summary after it."""
    in_reply: list[Mark] = []
    in_summary: list[Mark] = []
    for alarm in (alarm for group in groups for alarm in group.alarms):
        style = f"state-{alarm.state}"
        if alarm.turn == turn:
            quotes = [alarm.quote, *(opinion.quote for opinion in alarm.answers)]
            marks, text = (in_summary, summary) if _is_in_summary(alarm) else (in_reply, reply)
            marks += quote_marks(text, quotes, style, alarm_title(alarm))
        elif alarm.earlier_turn == turn:
            quotes = [alarm.earlier_quote, *(opinion.earlier_quote for opinion in alarm.answers)]
            in_reply += quote_marks(reply, quotes, style, f"contradicted on turn {alarm.turn}")
    return in_reply, in_summary


def _is_in_summary(alarm: Alarm) -> bool:
    if alarm.kind in (AlarmKind.LEAK, AlarmKind.TO_JUDGE):  # the alarm says in which text
        return alarm.what == "summary"
    return alarm.kind in _IN_SUMMARIES and not alarm.source
