"""The two pages to sign: what a person who accepts or rejects a release has to know, and nothing else."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from pytest_clinical_drift.cases.entries import UNGRADED
from pytest_clinical_drift.report.dossier_view import AlarmGroup, run_name
from pytest_clinical_drift.report.headlines import headline_rest
from pytest_clinical_drift.report.judge_text import external_rows, external_tables
from pytest_clinical_drift.report.memory import horizon_lines, memory_chart, recall_band, scheduled_turns
from pytest_clinical_drift.report.reasons import reason_texts
from pytest_clinical_drift.report.sentences import grade_rank, kind_rank
from pytest_clinical_drift.report.svg import Line, curve_chart, limit_levels
from pytest_clinical_drift.results.models import RunResult
from pytest_clinical_drift.results.releases import HazardRow, Standing, made_of
from pytest_clinical_drift.scoring.assessment import AlarmState
from pytest_clinical_drift.verdict.metric_table import SEVERE
from pytest_clinical_drift.verdict.states import WORST_FIRST

_MOST = {"findings": 6, "hazards": 12, "charged": 2, "named": 3, "title": 90, "dismissals": 3, "reasons": 4}
"""Entries of each list that fit on the two pages, and characters of a finding beside a hazard; all are in the annex."""
_CROWDED = {**_MOST, "findings": 4, "hazards": 8, "charged": 1, "named": 1, "title": 70, "dismissals": 2}
"""The same where hazards and long lists of findings come together."""
_LINES = {"findings": 4, "hazards": 3, "dismissals": 3}
"""Printed lines of an entry, at most."""
_ROOM, _JUDGE = 62, 12
"""Printed lines that these lists share, and those that the judge's figures take of them."""


def sign_values(result: RunResult, standing: Standing, groups: Sequence[AlarmGroup]) -> dict[str, Any]:
    """The values of the page's template."""
    severe = [group for group in groups if group.severe]
    stops = {(run_name(run), event.fact) for run in result.runs for event in run.events_of("hard_stops")}
    hazards_of: dict[str, list[str]] = {case.case_id: [] for case in result.cases}
    for hazard, cases in result.hazards.items():
        for case in cases:
            hazards_of.setdefault(case, []).append(hazard)
    slips = {group.id for group in severe if _is_slip(group, stops)}
    patients = {run.case_id: run.persona_id for run in result.runs}
    states = {
        state: _one_of_each_patient([group for group in severe if group.state == state], patients, slips)
        for state in AlarmState
    }
    fits = _fits(states, len(standing.hazards), judged=result.manifest.judged is not None)
    return {
        "standing": standing,
        "fits": fits,
        "headline_rest": headline_rest(result),
        "reasons": reason_texts(result.reasons, result.judgements),
        "severe_groups": states,
        "slips": slips,
        "severe_read": sum(group.read for group in severe),
        "severe_found": len(severe),
        "hazards_of": hazards_of,
        "hazard_rows": [
            _hazard(row, severe, hazards_of, fits["charged"]) for row in sorted(standing.hazards, key=_urgency)
        ],
        "shown_words": _words(result),
        "severe_figures": [item for item in result.judgements if item.metric in SEVERE],
        "tested": made_of(result.manifest),
        "external": [(table, external_rows(table)) for table in external_tables(result.manifest.judged)],
        "recall_chart": recall_chart(result),
        "memory_chart": memory_chart(result),
        "horizons": horizon_lines(result),
    }


def _fits(states: Mapping[AlarmState, Sequence[AlarmGroup]], hazards: int, *, judged: bool) -> Mapping[str, int]:
    """How many entries of each list the two pages hold."""
    lists = [("findings", len(states[state])) for state in (AlarmState.CONFIRMED, AlarmState.OPEN)]
    lists += [("hazards", hazards), ("dismissals", len(states[AlarmState.DISMISSED]))]
    lines = sum(_LINES[name] * min(_MOST[name], count) for name, count in lists)
    return _CROWDED if hazards and lines > _ROOM - _JUDGE * judged else _MOST


def _is_slip(group: AlarmGroup, stops: Collection[tuple[str, str | None]]) -> bool:
    """Whether a confirmed loss does not fail its case by itself: only with what is open on the same fact."""
    fact = group.first.fact
    return fact is not None and group.state == AlarmState.CONFIRMED and (group.place, fact) not in stops


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

    ordered = sorted(groups, key=gravity)
    listed: Counter[str] = Counter()
    rounds: list[int] = []
    for group in ordered:
        patient = patients[group.case]
        rounds.append(listed[patient])
        listed[patient] += 1
    return [group for _, group in sorted(zip(rounds, ordered, strict=True), key=lambda pair: pair[0])]


@dataclass(frozen=True, slots=True)
class Charge:
    """A severe finding in a case of a hazard."""

    group: AlarmGroup
    also: Sequence[str]
    """Other hazards that its case covers: the finding may belong to one of them."""


@dataclass(frozen=True, slots=True)
class Hazard:
    """A row of the hazards. Cases name hazards, findings do not: it has every severe finding in its cases."""

    row: HazardRow
    findings: Sequence[Charge]
    """Of each thing in a case and state the first, the worst before others; what only this hazard can own first."""
    more: int
    """Findings beyond those that fit."""


def _hazard(row: HazardRow, severe: Sequence[AlarmGroup], hazards_of: Mapping[str, Sequence[str]], most: int) -> Hazard:
    found = [group for group in severe if group.case in row.cases and group.state != AlarmState.DISMISSED]
    things: dict[tuple[str, str, str], list[AlarmGroup]] = {}
    for group in found:
        things.setdefault((group.case, group.state, group.title), []).append(group)
    also = {case: [name for name in hazards_of.get(case, ()) if name != row.hazard] for case in row.cases}
    shown = sorted(things.values(), key=lambda groups: bool(also[groups[0].case]))[:most]
    first = [min(groups, key=lambda group: group.turns[0]) for groups in shown]
    charges = [Charge(group, also[group.case]) for group in first]
    return Hazard(row, charges, len(found) - sum(map(len, shown)))


def _urgency(row: HazardRow) -> float:
    """Failed first, then what no case covers or was not run, then the other verdicts."""
    return 0.5 if row.verdict is None else WORST_FIRST.index(row.verdict)


def _words(result: RunResult) -> dict[tuple[str, str | None, int], str]:
    """The words of a finding among those around them, by conversation, fact and turn."""
    return {
        (run_name(run), event.fact, event.turn): event.around.replace("**", "")
        for run in result.runs
        for event in run.events
        if event.around
    }


def recall_chart(result: RunResult) -> Markup:
    lines = [
        Line("recall", result.average_recall_curve_critical, "line-main"),
        Line("strict recall", result.average_strict_recall_curve_critical, "line-second"),
    ]
    if result.average_worst_recall_curve_critical != result.average_recall_curve_critical:
        lines.append(Line("recall with open findings", result.average_worst_recall_curve_critical, "line-fourth"))
    levels = limit_levels(result.limits.get("recall_at_t10"))
    band = recall_band(result.memory)
    title = f"Mean recall of critical facts by turn, to turn {len(result.average_recall_curve_critical)}"
    return curve_chart(title, lines, levels=levels, band=band, probed=scheduled_turns(result))
