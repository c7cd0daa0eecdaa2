"""Hazards on the pages to sign: the verdicts of their cases, and the severe findings in them."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pytest_clinical_drift.report.alarm_groups import AlarmGroup
from pytest_clinical_drift.report.dossier.severe import Names, SevereGroups, first_of
from pytest_clinical_drift.results.releases import HazardRow, Standing
from pytest_clinical_drift.scoring.assessment import AlarmState
from pytest_clinical_drift.verdict.reasons import WORST_FIRST, Verdict

_AT_WORST = 3
"""Cases past a fail line that are named where no severe finding is."""


@dataclass(frozen=True, slots=True)
class Charge:
    """A severe finding in a case that names a hazard."""

    state: AlarmState
    title: str
    case: str
    turn: int
    goes_on: bool
    also: Names
    """Other hazards that its case names."""


@dataclass(frozen=True, slots=True)
class HazardView:
    """A hazard with the verdict of its cases: cases name hazards, findings do not."""

    id: str
    title: str
    cases: Sequence[str]
    verdict: Verdict | None
    """The worst of its cases; None where not all of them were run."""
    at_worst: Sequence[str]
    past_fail: Names
    charges: Sequence[Charge]
    more: int
    """Severe findings besides."""
    findings: int
    """All severe findings in its cases, confirmed or open."""


@dataclass(frozen=True, slots=True)
class HazardsView:
    """All hazards, those first that failed, then those that no case covers or whose cases were not all run."""

    rows: Sequence[HazardView]
    """As many as the page lists."""
    all: Sequence[HazardView]
    """In the order of the log; for the annex."""
    uncovered: Sequence[str]
    """Hazards that no case covers, of those that are not listed."""
    log_given: bool

    @property
    def hidden(self) -> int:
        return len(self.all) - len(self.rows)


@dataclass(frozen=True, slots=True)
class HazardLimits:
    """How much fits the page."""

    hazards: int
    charged: int
    """Findings beside a hazard."""
    named: int
    """Hazards named beside a finding."""


def hazards_view(standing: Standing, severe: SevereGroups, most: HazardLimits) -> HazardsView:
    views = {row.hazard: _hazard(row, severe, most) for row in standing.hazards}
    ordered = sorted(standing.hazards, key=lambda row: WORST_FIRST.index(row.verdict) if row.verdict else 0.5)
    return HazardsView(
        rows=[views[row.hazard] for row in ordered[: most.hazards]],
        all=[views[row.hazard] for row in standing.hazards],
        uncovered=[row.hazard for row in ordered[most.hazards :] if not row.cases],
        log_given=bool(standing.sheet.hazards),
    )


def _hazard(row: HazardRow, severe: SevereGroups, most: HazardLimits) -> HazardView:
    """Of each thing in a case and state the first finding, the worst before others; what only this hazard can own
    first."""
    found = [group for group in severe.charged if group.case in row.cases]
    things: dict[tuple[str, str, str], list[AlarmGroup]] = defaultdict(list)
    for group in found:
        things[group.case, group.state, group.title].append(group)
    also: dict[str, list[str]] = {}
    for case in row.cases:
        also[case] = [name for name in severe.hazards.get(case, ()) if name != row.hazard]
    shown = sorted(things.values(), key=lambda groups: bool(also[groups[0].case]))[: most.charged]
    return HazardView(
        id=row.hazard,
        title=row.title,
        cases=row.cases,
        verdict=row.verdict,
        at_worst=row.at_worst,
        past_fail=first_of(row.at_worst if row.verdict == Verdict.FAIL else (), _AT_WORST),
        charges=[_charge(groups, also, most.named) for groups in shown],
        more=len(found) - sum(map(len, shown)),
        findings=len(found),
    )


def _charge(groups: Sequence[AlarmGroup], also: Mapping[str, Sequence[str]], named: int) -> Charge:
    """The earliest of some findings of one thing."""
    group = min(groups, key=lambda group: group.turns[0])
    return Charge(
        state=group.state,
        title=group.title,
        case=group.case,
        turn=group.turns[0],
        goes_on=len(group.turns) > 1,
        also=first_of(also[group.case], named),
    )
