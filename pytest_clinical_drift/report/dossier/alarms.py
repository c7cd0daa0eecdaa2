"""Groups of alarms as the annex shows them: what happened, who said what of it, and where to read it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pytest_clinical_drift.core.findings import Opinion
from pytest_clinical_drift.report.alarm_groups import AlarmGroup, run_name
from pytest_clinical_drift.report.dossier.cells import Cell, cell_of
from pytest_clinical_drift.report.sentences import alarm_title, turns_text, who
from pytest_clinical_drift.report.words import words
from pytest_clinical_drift.results.models import CaseResult
from pytest_clinical_drift.scoring.assessment import Alarm, AlarmState, CaseAssessment


@dataclass(frozen=True, slots=True)
class TurnCell:
    turn: int
    cell: Cell


@dataclass(frozen=True, slots=True)
class OpinionView:
    answer: str
    who: str
    turn: int | None
    """None where the group has one turn, or the opinion says which it was asked of."""
    reason: str
    quote: str


@dataclass(frozen=True, slots=True)
class TurnAlarm:
    """One alarm of a group that goes on over turns."""

    turn: int
    title: str
    reason: str
    quote: str
    reply: str | None
    """The reply behind it where it quotes no words; None where it is on no reply."""


@dataclass(frozen=True, slots=True)
class AlarmView:
    """A group of alarms."""

    id: str
    case: str
    place: str
    """What anchors of the conversation begin with."""
    state: AlarmState
    severe: bool
    grade: str
    title: str
    turns: str
    first_turn: int
    reason: str
    """Why the fact is said to be lost; empty of everything but facts."""
    finder: str
    """The rule that raised it; empty where the judge saw it."""
    settled_by: str
    cells: Sequence[TurnCell]
    """What each summary says of the fact; empty of everything but facts."""
    opinions: Sequence[OpinionView]
    quote: str
    reply: str | None
    """The reply behind an alarm on one turn that quotes no words; None where there is none."""
    each: Sequence[TurnAlarm]
    """Turn by turn, where there are several."""


@dataclass(frozen=True, slots=True)
class AlarmsView:
    """All groups, by state; of a large set as many of each as the page lists."""

    open: Sequence[AlarmView]
    confirmed: Sequence[AlarmView]
    dismissed: Sequence[AlarmView]
    counts: Mapping[AlarmState, int]
    """All groups of a state."""
    complete: int
    """Cases that were run to the end."""


def alarms_view(
    groups: Iterable[AlarmGroup], cases: Sequence[CaseResult], *, complete: int, most: int | None
) -> AlarmsView:
    """`most`: how many groups of a state are listed; None: all."""
    runs = _runs(cases)
    states: dict[AlarmState, list[AlarmGroup]] = {state: [] for state in AlarmState}
    for group in groups:
        states[group.state].append(group)
    shown = {state: [alarm_view(group, runs[group.place]) for group in found[:most]] for state, found in states.items()}
    return AlarmsView(
        open=shown[AlarmState.OPEN],
        confirmed=shown[AlarmState.CONFIRMED],
        dismissed=shown[AlarmState.DISMISSED],
        counts={state: len(found) for state, found in states.items()},
        complete=complete,
    )


def case_alarms(groups: Iterable[AlarmGroup], case: CaseResult) -> list[AlarmView]:
    """The groups of one case."""
    runs = _runs([case])
    return [alarm_view(group, runs[group.place]) for group in groups]


def _runs(cases: Sequence[CaseResult]) -> dict[str, CaseAssessment]:
    """Conversations by what their anchors begin with."""
    runs: dict[str, CaseAssessment] = {}
    for case in cases:
        runs |= {run_name(run): run for run in case.repeats}
    return runs


def alarm_view(group: AlarmGroup, run: CaseAssessment) -> AlarmView:
    first = group.first
    several = len(group.turns) > 1
    return AlarmView(
        id=group.id,
        case=group.case,
        place=group.place,
        state=group.state,
        severe=group.severe,
        grade=first.grade,
        title=group.title,
        turns=turns_text(group.turns),
        first_turn=group.turns[0],
        reason=_reason(first),
        finder=first.finder,
        settled_by=words("settled_by")[first.settled_by] if first.settled_by else "",
        cells=_cells(run, group.alarms[0].fact),
        opinions=[_opinion(opinion, turn, several=several) for turn, opinion in group.opinions],
        quote=first.quote,
        reply=None if several else group.reply,
        each=[_turn(alarm, group) for alarm in group.alarms] if several else (),
    )


def _reason(alarm: Alarm) -> str:
    return alarm.reason if alarm.fact else ""


def _cells(run: CaseAssessment, fact: str | None) -> list[TurnCell]:
    cells = []
    for turn in run.turns:
        if turn.probed and fact:
            finding = next((finding for finding in reversed(turn.findings) if finding.fact_id == fact), None)
            cells.append(TurnCell(turn.turn, cell_of(finding)))
    return cells


def _opinion(opinion: Opinion, turn: int, *, several: bool) -> OpinionView:
    return OpinionView(
        answer=opinion.answer,
        who=who(opinion),
        turn=turn if several and not opinion.asked_at else None,
        reason=opinion.reason,
        quote=opinion.quote,
    )


def _turn(alarm: Alarm, group: AlarmGroup) -> TurnAlarm:
    return TurnAlarm(
        turn=alarm.turn,
        title=alarm_title(alarm),
        reason=_reason(alarm),
        quote=alarm.quote,
        reply=group.replies.get(alarm.turn),
    )
