"""The quality of cases beyond their schema: what a release test must not be guilty of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tabulate import tabulate

from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.lint import doses, facts, rules, turns, unknown
from pytest_clinical_drift.lint.remark import Findings, Level, Remark
from pytest_clinical_drift.lint.schema import read_cases
from pytest_clinical_drift.lint.similarity import Pair, shared_phrases, similarities

__all__ = ["Alike", "Remark", "lint_case", "lint_cases", "lint_path", "render_remarks"]

CHECKS: tuple[Callable[[Case], Findings], ...] = (
    facts.summary_length,
    facts.fact_count,
    facts.facts_in_summary,
    facts.repeated_facts,
    facts.hard_stops,
    doses.medicines_and_doses,
    turns.turn_count,
    turns.message_length,
    turns.restated_facts,
    turns.changed_facts,
    turns.explicit_changes,
    unknown.unknown_terms,
    rules.ruled_turns,
    rules.wanted_wordings,
    rules.harmful_acts,
    rules.plan,
    rules.provenance,
)
ALIKE = {"cases": (0.4, 0.6), "patient summaries": (0.5, 0.7), "messages": (0.5, 0.7)}
"""Similarity from which a pair is warned of, and from which it is an error. Copies with other names and drugs reach
0.9; independent cases stay below 0.25, summaries and single messages ("increased to … once daily") below 0.3."""


@dataclass(frozen=True, slots=True)
class Alike:
    """The most similar pair of one sort."""

    what: str
    """cases, patient summaries or messages."""
    similarity: float
    first: str
    second: str


def lint_case(case: Case) -> list[Remark]:
    """All remarks on one case, in the order of the checks."""
    return [Remark(case.id, *finding) for check in CHECKS for finding in check(case)]


def lint_cases(cases: Sequence[Case]) -> tuple[list[Remark], list[Alike]]:
    """Remarks on every case and on pairs that are too alike, and the most similar pair of each sort."""
    remarks = [remark for case in cases for remark in lint_case(case)]
    remarks += _shared_personas(cases)
    nearest: list[Alike] = []
    for what, pairs, names in _comparisons(cases):
        remarks += _too_alike(what, pairs, names)
        if pairs:
            first, second, similarity = pairs[0]
            nearest.append(Alike(what, similarity, _named(names[first]), _named(names[second])))
    return remarks, nearest


def lint_path(path: Path) -> tuple[list[Case], list[Remark], list[Alike]]:
    """The readable cases below a path with all remarks: files that break the schema, quality, similarity."""
    cases, broken = read_cases(path)
    remarks, nearest = lint_cases(cases)
    return cases, broken + remarks, nearest


def render_remarks(remarks: Sequence[Remark]) -> str:
    """A table, errors first, each case together."""
    ordered = sorted(remarks, key=lambda remark: (remark.level != "error", remark.case_id))
    rows = [(remark.level, remark.case_id, remark.place, remark.text) for remark in ordered]
    return tabulate(rows, headers=("", "case", "where", "what"), tablefmt="simple", disable_numparse=True)


_Name = tuple[str, str]
"""Case id and place."""


def _comparisons(cases: Sequence[Case]) -> Iterator[tuple[str, list[Pair], list[_Name]]]:
    whole = [" ".join((case.patient_summary, *(turn.message for turn in case.turns))) for case in cases]
    yield "cases", similarities(whole), [(case.id, "case") for case in cases]
    summaries = [case.patient_summary for case in cases]
    yield "patient summaries", similarities(summaries), [(case.id, "patient_summary") for case in cases]
    messages = [turn.message for case in cases for turn in case.turns]
    names = [(case.id, f"turn {turn.turn}") for case in cases for turn in case.turns]
    yield "messages", shared_phrases(messages), names


def _too_alike(what: str, pairs: Sequence[Pair], names: Sequence[_Name]) -> Iterator[Remark]:
    least, most = ALIKE[what]
    for first, second, similarity in pairs:
        if similarity < least:
            return
        level: Level = "error" if similarity >= most else "warning"
        text = f"{similarity:.2f} similar to {_named(names[second])}: not independent"
        yield Remark(names[first][0], level, names[first][1], text)


def _shared_personas(cases: Sequence[Case]) -> Iterator[Remark]:
    personas: dict[str, str] = {}
    for case in cases:
        if case.persona_id in personas and case.cluster is None:
            text = f"shares its persona with {personas[case.persona_id]}: the two count as one"
            yield Remark(case.id, "warning", "persona_id", text)
        personas.setdefault(case.persona_id, case.id)


def _named(name: _Name) -> str:
    case_id, place = name
    return f"{case_id} {place}" if place.startswith("turn") else case_id
