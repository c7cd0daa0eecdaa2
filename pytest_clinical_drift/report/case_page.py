"""The page on which a clinician reads cases before signing them: facts, grades, demands and where each comes from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pytest_clinical_drift.cases.demands import GRADES, Expect
from pytest_clinical_drift.cases.marks import demands_in
from pytest_clinical_drift.cases.model import Case, CriticalEntity
from pytest_clinical_drift.cases.signing import case_hash, signed, signed_cases, unsigned_hard_stops
from pytest_clinical_drift.report.page import page_source

FILE_NAME = "cases_review.html"
_UNGRADED = len(GRADES)


@dataclass(frozen=True, slots=True)
class FactRow:
    """One fact with its source."""

    fact: CriticalEntity
    source: str
    """intake, or the turn that introduces it."""
    changes: tuple[str, ...]
    """What becomes of it, turn by turn."""


@dataclass(frozen=True, slots=True)
class DemandRow:
    """One demand with the turn that makes it."""

    kind: str
    text: str
    grade: str
    given: bool
    """Whether the file grades it; a demand without a grade counts as major."""
    why: str
    when: str
    wordings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TurnRow:
    """One message with what its reply is held to."""

    name: str
    message: str
    care: str
    handover: bool
    demands: tuple[DemandRow, ...]


@dataclass(frozen=True, slots=True)
class CaseSheet:
    """One case as the page shows it."""

    case: Case
    hash: str
    signed: bool
    facts: tuple[FactRow, ...]
    """The worst first."""
    turns: tuple[TurnRow, ...]


def render_cases(cases: Sequence[Case]) -> str:
    """A self-contained page of all cases; every text is escaped."""
    return page_source(
        "cases_review.html.j2",
        styles=("page.css",),
        sheets=[_sheet(case) for case in cases],
        signed=signed_cases(cases),
        unsigned=unsigned_hard_stops(cases),
    )


def _sheet(case: Case) -> CaseSheet:
    facts = sorted(_facts(case), key=lambda row: (not row.fact.hard_stop, _rank(row.fact.severity)))
    turns = [_turn(f"turn {turn.turn}", turn.message, turn.expect, turn.handover) for turn in case.turns]
    if case.late is not None:
        turns.append(_turn("late, in stretched runs only", case.late.message, case.late.expect, False))
    return CaseSheet(case, case_hash(case), signed(case), tuple(facts), tuple(turns))


def _facts(case: Case) -> Iterator[FactRow]:
    sources = [("intake", fact) for fact in case.critical_entities]
    sources += [(f"turn {turn.turn}", fact) for turn in case.turns for fact in turn.introduces]
    for source, fact in sources:
        changes = [
            f"turn {turn.turn}: {update.becomes or 'ended'}"
            + (" (a claim: the fact stays)" if _is_claim(fact, update.policy) else "")
            for turn in case.turns
            for update in turn.updates
            if case.fact_named(update.fact) == fact.id
        ]
        yield FactRow(fact, source, tuple(changes))


def _is_claim(fact: CriticalEntity, policy: str | None) -> bool:
    return (policy or ("annotate" if fact.hard_stop else "supersede")) == "annotate"


def _turn(name: str, message: str, expect: Expect, handover: bool) -> TurnRow:
    rows = []
    for kind, wish, _ in demands_in(expect):
        when = ", ".join(f"{word} turn {turn}" for word, turn in (("by", wish.by), ("until", wish.until)) if turn)
        given = wish.severity is not None
        form = kind.replace("_", " ") if wish.form == "say" else f"{kind} {wish.form}"
        rows.append(DemandRow(form, wish.text, wish.grade, given, wish.why, when, wish.any_of))
    return TurnRow(name, message, expect.care or "", handover, tuple(rows))


def _rank(grade: str | None) -> int:
    return GRADES.index(grade) if grade else _UNGRADED
