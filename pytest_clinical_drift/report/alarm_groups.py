"""Alarms as a reader settles them: those on one thing, in one state, on turns in a row."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pytest_clinical_drift.core.findings import Opinion
from pytest_clinical_drift.evidence.findings import visible
from pytest_clinical_drift.report.sentences import alarm_title, grade_rank, kind_rank
from pytest_clinical_drift.results.models import CaseResult
from pytest_clinical_drift.scoring.assessment import Alarm, AlarmKind, AlarmState, CaseAssessment
from pytest_clinical_drift.transcript import Exchange, Transcript
from pytest_clinical_drift.verdict.case import findings_of

Transcripts = Mapping[str, Sequence[Transcript]]
"""Conversations by case."""

_IN_SUMMARIES = {"lost", "contradicted", "stale", "invented", "misreported"}


@dataclass(frozen=True, slots=True)
class AlarmGroup:
    """Alarms on one thing, in one state, on turns in a row: what a reader settles at a time."""

    id: str
    case: str
    place: str
    """What anchors of the conversation begin with."""
    alarms: Sequence[Alarm]
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
        told = self.first
        parts = [alarm_title(told)]
        for alarm in self.alarms:
            if told.fact is not None and alarm.turn > told.turn and alarm.what != told.what:
                parts.append(f"from turn {alarm.turn}: {alarm_title(alarm)}")
                told = alarm
        return "; ".join(parts)

    @property
    def opinions(self) -> list[tuple[int, Opinion]]:
        found: list[tuple[int, Opinion]] = []
        for alarm in self.alarms:
            found += [(alarm.turn, opinion) for opinion in alarm.answers]
        return found


def alarm_groups(cases: Iterable[CaseResult], transcripts: Transcripts | None = None) -> list[AlarmGroup]:
    """Every group of alarms; the severe first, then by state, grade of harm, what was said before what was not, case
    and turn."""
    groups: list[AlarmGroup] = []
    for case in cases:
        for run in case.repeats:
            groups += _groups_of(run, (transcripts or {}).get(run.case_id, ()))
    return sorted(groups, key=_gravity)


def _groups_of(run: CaseAssessment, talks: Iterable[Transcript]) -> Iterator[AlarmGroup]:
    """The groups of one conversation, with the replies behind them where its transcript is there."""
    place = run_name(run)
    exchanges: list[Exchange] = []
    for talk in talks:
        if talk.repeat == run.repeat:
            exchanges += talk.exchanges
    for number, alarms in enumerate(findings_of(run), start=1):
        yield AlarmGroup(
            id=f"alarm-{place}-{number}",
            case=run.case_id,
            place=place,
            alarms=alarms,
            replies=_replies_behind(alarms, exchanges),
        )


def _replies_behind(alarms: Sequence[Alarm], exchanges: Iterable[Exchange]) -> dict[int, str]:
    """The replies that findings on them quote no words of: the words of an omission are those that stand there."""
    turns = {alarm.turn for alarm in alarms if not alarm.quote and not is_in_summary(alarm)}
    said = {exchange.turn: visible(exchange.reply) for exchange in exchanges if exchange.turn in turns}
    return {turn: text for turn, text in said.items() if text is not None}


def _gravity(group: AlarmGroup) -> tuple[object, ...]:
    rank = [*AlarmState].index(group.state), grade_rank(group.first.grade), kind_rank(group.first.kind)
    return not group.severe, *rank, group.case, group.turns[0]


def run_name(run: CaseAssessment) -> str:
    """What anchors of one conversation begin with."""
    return f"{run.case_id}-r{run.repeat + 1}"


def is_in_summary(alarm: Alarm) -> bool:
    if alarm.kind in (AlarmKind.LEAK, AlarmKind.TO_JUDGE):  # the alarm says in which text
        return alarm.what == "summary"
    return alarm.kind in _IN_SUMMARIES and not alarm.source
