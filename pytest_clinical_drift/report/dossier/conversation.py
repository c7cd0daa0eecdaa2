"""A case as the dossier shows it: facts by turn, its figures, and each conversation with its words marked."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from pytest_clinical_drift.report.alarm_groups import AlarmGroup, is_in_summary, run_name
from pytest_clinical_drift.report.clean import Mark, marked, quote_marks
from pytest_clinical_drift.report.dossier.cells import Cell, cell_of, cells_of
from pytest_clinical_drift.report.figures import FigureRow, figure_rows
from pytest_clinical_drift.report.headlines import case_headline
from pytest_clinical_drift.report.reasons import reason_text, shared_lines
from pytest_clinical_drift.report.sentences import alarm_title, turns_text
from pytest_clinical_drift.report.words import sparkline
from pytest_clinical_drift.results.models import CaseResult
from pytest_clinical_drift.scoring.assessment import Alarm, AlarmState, CaseAssessment, SettledFact
from pytest_clinical_drift.transcript import Exchange, Transcript
from pytest_clinical_drift.verdict.reasons import Verdict
from pytest_clinical_drift.verdict.thresholds import Waiver

_TEXT_LIMIT = 12_000
"""Longest reply or summary shown whole; the transcript file always has all of it."""


@dataclass(frozen=True, slots=True)
class FactRow:
    """One wording of a fact over the turns."""

    id: str
    text: str
    hard_stop: bool
    held: str
    """When this wording was true; empty where it is the only one."""
    cells: Sequence[tuple[int, Cell | None]]
    """Turns and what their summaries say; None where this wording did not hold."""


@dataclass(frozen=True, slots=True)
class Chip:
    """An alarm on a turn, beside its texts."""

    state: AlarmState
    alarm: str
    """Id of its group."""
    title: str


@dataclass(frozen=True, slots=True)
class TextView:
    """A reply or a summary, its words marked."""

    text: Markup
    present: bool
    """Whether it was recorded, or requested at all."""
    truncated: bool


@dataclass(frozen=True, slots=True)
class TurnView:
    """A turn with its texts, and one stripe per fact: always in the same place, so that a fact can be followed down the
    page."""

    turn: int
    message: str
    reply: TextView
    summary: TextView
    error: str
    margin: Sequence[Cell]
    chips: Sequence[Chip]


@dataclass(frozen=True, slots=True)
class RunView:
    """One conversation."""

    name: str
    """What its anchors begin with."""
    repeat: int
    """Beginning with 1; 0 where there is only one."""
    incomplete: str
    turns: Sequence[int]
    """Those after which a summary was requested."""
    last_turn: int
    facts: Sequence[FactRow]
    notes: Sequence[str]
    exchanges: Sequence[TurnView]


@dataclass(frozen=True, slots=True)
class CaseView:
    """A case; without conversations where its texts are elsewhere."""

    id: str
    verdict: Verdict
    headline: str
    """Empty where it says no more than the verdict."""
    curves: Sequence[str]
    confirmed: int
    open: int
    """Groups of alarms."""
    diagnosis: str
    waiver: Waiver | None
    figures: Sequence[FigureRow]
    shared: Sequence[str]
    """Why many figures have no value, told once."""
    runs: Sequence[RunView]


def case_view(
    case: CaseResult, groups: Sequence[AlarmGroup], transcripts: Sequence[Transcript] | None = None
) -> CaseView:
    """A case with its alarms by state and its conversations; without `transcripts`, without facts and texts."""
    by_repeat = {talk.repeat: talk for talk in transcripts or ()}
    runs = case.repeats if transcripts is not None else ()
    several = len(runs) > 1
    states = Counter(group.state for group in groups)
    headline = case_headline(case)
    return CaseView(
        id=case.case_id,
        verdict=case.verdict,
        headline="" if headline == case.verdict else headline,
        curves=[sparkline(run.recall_curve) for run in case.repeats],
        confirmed=states[AlarmState.CONFIRMED],
        open=states[AlarmState.OPEN],
        diagnosis=reason_text(case.diagnosed),
        waiver=case.waiver,
        figures=figure_rows(case.judgements) if runs else (),
        shared=shared_lines(case.judgements) if runs else (),
        runs=[_run_view(run, by_repeat.get(run.repeat), groups, several=several) for run in runs],
    )


def _run_view(
    run: CaseAssessment, transcript: Transcript | None, groups: Sequence[AlarmGroup], *, several: bool
) -> RunView:
    """One conversation: facts by turn, and the turns with their texts, where its transcript is there."""
    facts = _facts(run)
    standing = [group for group in groups if group.place == run_name(run) and group.state != AlarmState.DISMISSED]
    findings = {turn.turn: turn.findings for turn in run.turns}
    exchanges = transcript.exchanges if transcript else ()
    turns = [turn.turn for turn in run.turns if turn.probed]
    return RunView(
        name=run_name(run),
        repeat=run.repeat + 1 if several else 0,
        incomplete=run.incomplete or "",
        turns=turns,
        last_turn=turns[-1] if turns else 0,
        facts=_fact_table(run, facts, turns),
        notes=run.notes,
        exchanges=[_turn_view(said, findings.get(said.turn, ()), facts, standing) for said in exchanges],
    )


def _facts(run: CaseAssessment) -> list[str]:
    """Ids of its facts, in the order in which the summaries were asked for them."""
    order: dict[str, None] = {}
    for turn in run.turns:
        order |= dict.fromkeys(finding.fact_id for finding in turn.findings)
    return list(order)


def _fact_table(run: CaseAssessment, order: Sequence[str], turns: Sequence[int]) -> list[FactRow]:
    """Facts by turns: one row per wording that held, so that each turn shows the fact as it was true then."""
    found: dict[tuple[str, str], dict[int, SettledFact]] = {}
    for turn in run.turns:
        for finding in turn.findings:
            found.setdefault((finding.fact_id, finding.text), {})[turn.turn] = finding
    wordings = Counter(fact for fact, _ in found)
    rows = []
    for (fact, text), held in found.items():
        first = next(iter(held.values()))
        row = FactRow(
            id=fact,
            text=text,
            hard_stop=first.hard_stop,
            held=turns_text(list(held)) if wordings[fact] > 1 else "",
            cells=[(turn, cell_of(held[turn]) if turn in held else None) for turn in turns],
        )
        rows.append(row)
    return sorted(rows, key=lambda row: order.index(row.id))


def _turn_view(
    exchange: Exchange, findings: Sequence[SettledFact], order: Sequence[str], groups: Sequence[AlarmGroup]
) -> TurnView:
    reply = exchange.reply.text[:_TEXT_LIMIT]
    summary = exchange.summary.text[:_TEXT_LIMIT]
    marks = _alarm_marks(exchange.turn, reply, summary, groups)
    for finding in findings:
        marks.summary += _fact_marks(finding, marks.summary)
    error = exchange.reply.error or exchange.summary.error
    return TurnView(
        turn=exchange.turn,
        message=exchange.message,
        reply=TextView(marked(reply, marks.reply), exchange.reply.recorded, bool(exchange.reply.truncated)),
        summary=TextView(marked(summary, marks.summary), exchange.summary.asked, bool(exchange.summary.truncated)),
        error=str(error) if error else "",
        margin=cells_of(findings, order),
        chips=[_chip(group, exchange.turn) for group in groups if exchange.turn in group.turns],
    )


def _chip(group: AlarmGroup, turn: int) -> Chip:
    alarm = next(alarm for alarm in group.alarms if alarm.turn == turn)
    return Chip(state=group.state, alarm=group.id, title=alarm_title(alarm))


def _fact_marks(finding: SettledFact, taken: Iterable[Mark]) -> list[Mark]:
    """The words of a fact in a summary, as far as no alarm has marked them."""
    cell = cell_of(finding)
    alarms = [mark for mark in taken if not mark.fact]
    return [
        Mark(quote.start, quote.end, cell.style, f"{cell.title}: {finding.text}", finding.fact_id)
        for quote in finding.quotes
        if not any(quote.start < mark.end and mark.start < quote.end for mark in alarms)
    ]


@dataclass(slots=True)
class _Marks:
    """Marked words of a turn."""

    reply: list[Mark]
    summary: list[Mark]


def _alarm_marks(turn: int, reply: str, summary: str, groups: Sequence[AlarmGroup]) -> _Marks:
    """The words of alarms in a reply, and in the summary after it."""
    marks = _Marks([], [])
    for group in groups:
        for alarm in group.alarms:
            if alarm.turn == turn and is_in_summary(alarm):
                marks.summary += _words_of(alarm, summary)
            elif alarm.turn == turn:
                marks.reply += _words_of(alarm, reply)
            elif alarm.earlier_turn == turn:
                quotes = [alarm.earlier_quote, *(opinion.earlier_quote for opinion in alarm.answers)]
                title = f"contradicted on turn {alarm.turn}"
                marks.reply += quote_marks(reply, quotes, f"state-{alarm.state}", title)
    return marks


def _words_of(alarm: Alarm, text: str) -> list[Mark]:
    quotes = [alarm.quote, *(opinion.quote for opinion in alarm.answers)]
    return quote_marks(text, quotes, f"state-{alarm.state}", alarm_title(alarm))
