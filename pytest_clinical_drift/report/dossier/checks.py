"""The checks on the pages to sign: attempts, controls, canaries, audit, what people read again, what was dismissed."""

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_clinical_drift.report.alarm_groups import AlarmGroup
from pytest_clinical_drift.report.dossier.severe import SevereGroups
from pytest_clinical_drift.report.meaning import evidence_of
from pytest_clinical_drift.report.sentences import turns_text
from pytest_clinical_drift.results.models import RunResult
from pytest_clinical_drift.results.releases import Attempts, InstrumentCheck, Rereads, Standing
from pytest_clinical_drift.scoring.assessment import AlarmState
from pytest_clinical_drift.verdict.counts import EvidenceCounts
from pytest_clinical_drift.verdict.thresholds import Waiver

_MOST_ATTEMPTS = 6


@dataclass(frozen=True, slots=True)
class AttemptsView:
    """Runs of this candidate, and near it."""

    runs: int
    shown: Sequence[tuple[str, str]]
    """Day and verdict of the newest ones."""
    subsets: int
    others: int


@dataclass(frozen=True, slots=True)
class ControlsView:
    """Controls that were run with this version, these cases and these limits."""

    expected: int
    total: int
    wrong: Sequence[str]
    missing: int


@dataclass(frozen=True, slots=True)
class Canaries:
    """Inserted faults, and those that an outage kept the judge from being asked about."""

    confirmed: int
    inserted: int
    unanswered: int


@dataclass(frozen=True, slots=True)
class PersonOpinion:
    who: str
    role: str
    reason: str


@dataclass(frozen=True, slots=True)
class Dismissal:
    """A severe finding that was dismissed."""

    title: str
    case: str
    turns: str
    people: Sequence[PersonOpinion]
    """Who has read it; nobody where the judge or the rules dismissed it."""
    cleared_on: str
    """The words on which the last opinion cleared it."""


@dataclass(frozen=True, slots=True)
class DismissalsView:
    """Severe findings dismissed, those by people first."""

    by_people: int
    others: int
    shown: Sequence[Dismissal]

    @property
    def hidden(self) -> int:
        return self.by_people + self.others - len(self.shown)


@dataclass(frozen=True, slots=True)
class ChecksView:
    attempts: AttemptsView | None
    controls: ControlsView | None
    canaries: Canaries | None
    rereads: Rereads | None
    counts: EvidenceCounts
    waivers: Sequence[Waiver]
    dismissals: DismissalsView


def checks_view(result: RunResult, standing: Standing, severe: SevereGroups, *, most: int) -> ChecksView:
    """`most`: how many dismissals are listed."""
    return ChecksView(
        attempts=_attempts(standing.attempts) if standing.attempts else None,
        controls=_controls(standing.controls) if standing.controls else None,
        canaries=canaries_of(result),
        rereads=standing.rereads,
        counts=evidence_of(result),
        waivers=result.waivers,
        dismissals=_dismissals(severe.by_state[AlarmState.DISMISSED], most),
    )


def _attempts(attempts: Attempts) -> AttemptsView:
    return AttemptsView(
        runs=len(attempts.verdicts),
        shown=attempts.verdicts[-_MOST_ATTEMPTS:],
        subsets=attempts.subsets,
        others=attempts.others,
    )


def _controls(check: InstrumentCheck) -> ControlsView:
    return ControlsView(
        expected=check.expected,
        total=check.total,
        wrong=check.wrong,
        missing=check.total - check.expected - len(check.wrong),
    )


def canaries_of(result: RunResult) -> Canaries | None:
    """None where no faults were inserted."""
    confirmed, inserted = result.canaries
    if not inserted and not result.canaries_unanswered:
        return None
    return Canaries(confirmed, inserted, result.canaries_unanswered)


def _dismissals(groups: Sequence[AlarmGroup], most: int) -> DismissalsView:
    by_people = [group for group in groups if group.first.settled_by == "person"]
    others = [group for group in groups if group.first.settled_by != "person"]
    shown = [_dismissal(group) for group in (*by_people, *others)[:most]]
    return DismissalsView(by_people=len(by_people), others=len(others), shown=shown)


def _dismissal(group: AlarmGroup) -> Dismissal:
    answers = group.first.answers
    people = [PersonOpinion(said.judge, said.role, said.reason) for said in answers if said.role]
    return Dismissal(
        title=group.title,
        case=group.case,
        turns=turns_text(group.turns),
        people=people,
        cleared_on=answers[-1].quote if answers else "",
    )
