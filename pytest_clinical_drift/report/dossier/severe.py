"""Severe findings on the pages to sign: which come first, and what is said of each."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from pytest_clinical_drift.cases.entries import UNGRADED
from pytest_clinical_drift.report.alarm_groups import AlarmGroup, run_name
from pytest_clinical_drift.report.sentences import grade_rank, kind_rank, turns_text
from pytest_clinical_drift.results.models import RunResult
from pytest_clinical_drift.scoring.assessment import Alarm, AlarmKind, AlarmState


@dataclass(frozen=True, slots=True)
class Names:
    """The first names of a list, and how many more it has."""

    shown: Sequence[str]
    more: int


def first_of(names: Sequence[str], most: int) -> Names:
    return Names(names[:most], max(0, len(names) - most))


@dataclass(frozen=True, slots=True)
class SevereFinding:
    """A group of severe alarms, as the list of its state has it."""

    title: str
    case: str
    turns: str
    hazards: Names
    """That its case covers."""
    no_hazard: bool
    """Whether there are hazards, and its case names none."""
    earlier_quote: str
    quote: str
    reply: str | None
    """The reply behind it, for where no words are quoted."""
    reason: str
    differing: Sequence[str]
    """The answers, where they differ and leave it open."""
    slip: bool
    """Whether it fails its case only together with what is open on the same fact."""


@dataclass(frozen=True, slots=True)
class SevereList:
    """Severe findings of one state."""

    findings: Sequence[SevereFinding]
    """As many as the page lists."""
    total: int
    unread: int
    """Those of all that no person has read."""

    @property
    def hidden(self) -> int:
        return self.total - len(self.findings)


@dataclass(frozen=True, slots=True)
class SevereGroups:
    """All severe groups of alarms of a run; by state in the order in which they are listed."""

    all: Sequence[AlarmGroup]
    """In the order of the annex."""
    by_state: Mapping[AlarmState, Sequence[AlarmGroup]]
    slips: Collection[str]
    """Ids of confirmed losses that do not fail their case by themselves."""
    hazards: Mapping[str, Sequence[str]]
    """By case."""
    words: Mapping[tuple[str, str | None, int], str]
    """The words of a finding among those around them; by conversation, fact and turn."""

    @property
    def charged(self) -> list[AlarmGroup]:
        """Confirmed or open."""
        return [group for group in self.all if group.state != AlarmState.DISMISSED]


def severe_groups(result: RunResult, groups: Sequence[AlarmGroup]) -> SevereGroups:
    severe = [group for group in groups if group.severe]
    slips = _slips(result, severe)
    patients = {run.case_id: run.persona_id for run in result.runs}
    by_state = {}
    for state in AlarmState:
        by_state[state] = _one_of_each_patient([group for group in severe if group.state == state], patients, slips)
    hazards: dict[str, list[str]] = {case.case_id: [] for case in result.cases}
    for hazard, cases in result.hazards.items():
        for case in cases:
            hazards.setdefault(case, []).append(hazard)
    return SevereGroups(all=severe, by_state=by_state, slips=slips, hazards=hazards, words=_words(result))


def _words(result: RunResult) -> dict[tuple[str, str | None, int], str]:
    """The words of findings among those around them."""
    words: dict[tuple[str, str | None, int], str] = {}
    for run in result.runs:
        around = [event for event in run.events if event.around]
        words |= {(run_name(run), event.fact, event.turn): event.around.replace("**", "") for event in around}
    return words


def _slips(result: RunResult, severe: Sequence[AlarmGroup]) -> set[str]:
    """Confirmed losses that do not fail their case by themselves: only with what is open on the same fact."""
    stops: set[tuple[str, str | None]] = set()
    for run in result.runs:
        stops |= {(run_name(run), event.fact) for event in run.events_of("hard_stops")}
    losses = [group for group in severe if group.first.fact is not None and group.state == AlarmState.CONFIRMED]
    return {group.id for group in losses if (group.place, group.first.fact) not in stops}


def _one_of_each_patient(
    groups: Sequence[AlarmGroup], patients: Mapping[str, str], slips: Collection[str]
) -> list[AlarmGroup]:
    """The gravest first, advice before what is left out; no patient's second finding before the first of every other.

    What does not fail its case by itself comes after what does. A finding without a grade counts as major, as a demand
    without one does.
    """

    def gravity(group: AlarmGroup) -> tuple[object, ...]:
        first = group.first
        rank = grade_rank(first.grade or UNGRADED)
        return group.id in slips, rank, kind_rank(first.kind), group.case, group.turns[0]

    listed: Counter[str] = Counter()
    rounds = []
    for group in sorted(groups, key=gravity):
        rounds.append((listed[patients[group.case]], group))
        listed[patients[group.case]] += 1
    return [group for _, group in sorted(rounds, key=lambda pair: pair[0])]


def severe_list(found: SevereGroups, state: AlarmState, *, most: int, named: int, any_hazards: bool) -> SevereList:
    """Those of a state; `named` is how many hazards are named beside each, `any_hazards` whether there are some."""
    groups = found.by_state[state]
    findings = []
    for group in groups[:most]:
        hazards = found.hazards.get(group.case, ())
        finding = _finding(
            group,
            hazards=first_of(hazards, named),
            no_hazard=any_hazards and not hazards,
            quote=found.words.get((group.place, group.first.fact, group.first.turn)) or group.first.quote,
            slip=group.id in found.slips,
        )
        findings.append(finding)
    return SevereList(findings=findings, total=len(groups), unread=sum(not group.read for group in groups))


def _finding(group: AlarmGroup, *, hazards: Names, no_hazard: bool, quote: str, slip: bool) -> SevereFinding:
    first = group.first
    return SevereFinding(
        title=group.title,
        case=group.case,
        turns=turns_text(group.turns),
        hazards=hazards,
        no_hazard=no_hazard,
        earlier_quote=first.earlier_quote,
        quote=quote,
        reply=None if quote else group.reply,
        reason=_reason(first, quoted=bool(quote)),
        differing=_differing(first) if group.state == AlarmState.OPEN else (),
        slip=slip,
    )


def _reason(alarm: Alarm, *, quoted: bool) -> str:
    """Of facts; the words of an old value say it themselves."""
    if alarm.fact is None or (quoted and alarm.kind == AlarmKind.STALE):
        return ""
    return alarm.reason if alarm.fact else ""


def _differing(alarm: Alarm) -> list[str]:
    answers = [opinion.answer for opinion in alarm.answers]
    return answers if len(set(answers)) > 1 else []
