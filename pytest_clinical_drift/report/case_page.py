"""The page on which a clinician reads cases before signing them: facts, grades, demands and where each comes from."""

from collections.abc import Sequence
from typing import Any

from pytest_clinical_drift.cases.case_signatures import case_hash, signed, signed_cases, unsigned_hard_stops
from pytest_clinical_drift.cases.mark_checks import demands_in
from pytest_clinical_drift.cases.model import Case, CriticalEntity
from pytest_clinical_drift.report.page import page_source
from pytest_clinical_drift.report.sentences import grade_rank

FILE_NAME = "cases_review.html"


def render_cases(cases: Sequence[Case]) -> str:
    """A self-contained page of all cases; every text is escaped."""
    return page_source(
        "cases_review.html.j2",
        styles=("page.css",),
        sheets=[_sheet(case) for case in cases],
        signed=signed_cases(cases),
        unsigned=unsigned_hard_stops(cases),
        demands_in=demands_in,
    )


def _sheet(case: Case) -> dict[str, Any]:
    """A case with its facts, the worst first, each with its source and what becomes of it."""
    facts = [("intake", fact) for fact in case.critical_entities]
    facts += [(f"turn {turn.turn}", fact) for turn in case.turns for fact in turn.introduces]
    facts.sort(key=lambda pair: (not pair[1].hard_stop, grade_rank(pair[1].severity or "")))
    turns = [(f"turn {turn.turn}", turn) for turn in case.turns]
    return {
        "case": case,
        "hash": case_hash(case),
        "signed": signed(case),
        "facts": [(source, fact, _changes(case, fact)) for source, fact in facts],
        "turns": [*turns, ("late, in stretched runs only", case.late)] if case.late else turns,
    }


def _changes(case: Case, fact: CriticalEntity) -> list[str]:
    default = "annotate" if fact.hard_stop else "supersede"
    return [
        f"turn {turn.turn}: {update.becomes or 'ended'}"
        + (" (a claim: the fact stays)" if (update.policy or default) == "annotate" else "")
        for turn in case.turns
        for update in turn.updates
        if case.fact_named(update.fact) == fact.id
    ]
