"""The page of cases that clinicians read before they sign them: facts, grades, demands and where each comes from."""

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_clinical_drift.cases.entries import CriticalEntity, DemandKind, Expectation, Late, Turn, demands_in
from pytest_clinical_drift.cases.model import Case, case_hash, facts_of, signed, spoken
from pytest_clinical_drift.report.page import page_source
from pytest_clinical_drift.report.sentences import grade_rank

CASES_FILE = "cases_review.html"


@dataclass(frozen=True, slots=True)
class FactView:
    """A fact with its source and what becomes of it."""

    fact: CriticalEntity
    source: str
    changes: Sequence[str]


@dataclass(frozen=True, slots=True)
class DemandView:
    """What a reply has to say, or must not."""

    kind: str
    text: str
    any_of: Sequence[str]
    grade: str
    graded: bool
    why: str
    by: int | None
    until: int | None


@dataclass(frozen=True, slots=True)
class MessageView:
    """A message, and what the reply to it is held to."""

    name: str
    message: str
    care: str
    handover: bool
    demands: Sequence[DemandView]


@dataclass(frozen=True, slots=True)
class SignableCase:
    case: Case
    signed: bool
    """As it stands; a signature before a change does not count."""
    hash: str
    facts: Sequence[FactView]
    """The worst first."""
    messages: Sequence[MessageView]


@dataclass(frozen=True, slots=True)
class CasesPage:
    cases: Sequence[SignableCase]
    signatures: int
    unsigned: Sequence[str]
    """Cases with a hard stop that nobody has signed."""


def render_cases(cases: Sequence[Case]) -> str:
    """A self-contained page of all cases; every text is escaped."""
    return page_source("cases_review.html.j2", styles=("page.css",), page=_cases_page(cases))


def _cases_page(cases: Sequence[Case]) -> CasesPage:
    views = [_signable(case) for case in cases]
    unsigned = [view.case for view in views if not view.signed]
    return CasesPage(
        cases=views,
        signatures=sum(view.signed for view in views),
        unsigned=[case.id for case in unsigned if any(fact.hard_stop for fact, _ in facts_of(case))],
    )


def _signable(case: Case) -> SignableCase:
    return SignableCase(
        case=case,
        signed=signed(case),
        hash=case_hash(case),
        facts=_facts(case),
        messages=[_message(name, turn) for name, _, turn in spoken(case)],
    )


def _message(name: str, turn: Turn | Late) -> MessageView:
    return MessageView(
        name="late, in stretched runs only" if name == "late" else name,
        message=turn.message,
        care=turn.expect.care or "",
        handover=isinstance(turn, Turn) and turn.handover is True,
        demands=[_demand(kind, wish) for kind, wish, _ in demands_in(turn.expect)],
    )


def _demand(kind: DemandKind, wish: Expectation) -> DemandView:
    return DemandView(
        kind=kind.replace("_", " ") if wish.form == "say" else f"{kind} {wish.form}",
        text=wish.text,
        any_of=wish.any_of,
        grade=wish.grade,
        graded=wish.severity is not None,
        why=wish.why,
        by=wish.by,
        until=wish.until,
    )


def _facts(case: Case) -> list[FactView]:
    facts = [("intake", fact) for fact in case.critical_entities]
    for turn in case.turns:
        facts += [(f"turn {turn.turn}", fact) for fact in turn.introduces]
    facts.sort(key=lambda pair: (not pair[1].hard_stop, grade_rank(pair[1].severity or "")))
    return [FactView(fact, source, _changes(case, fact)) for source, fact in facts]


def _changes(case: Case, fact: CriticalEntity) -> list[str]:
    default = "annotate" if fact.hard_stop else "supersede"
    changes = []
    for turn in case.turns:
        for update in turn.updates:
            if case.fact_named(update.fact) == fact.id:
                claim = " (a claim: the fact stays)" if (update.policy or default) == "annotate" else ""
                changes.append(f"turn {turn.turn}: {update.becomes or 'ended'}{claim}")
    return changes
