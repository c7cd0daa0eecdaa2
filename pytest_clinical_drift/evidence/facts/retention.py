"""Does a summary still state a fact? One status per fact, with the words that show it.

assess_retention("On Zoloft 50 mg o.d.", ["sertraline 50 mg once daily"])[0].status    'retained'
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_clinical_drift.evidence.facts import measured, reacts, stated, taken
from pytest_clinical_drift.evidence.facts.fact import MEASURED, REACTS, STATED, TAKEN, Fact
from pytest_clinical_drift.evidence.facts.naming import is_unnamed
from pytest_clinical_drift.evidence.facts.slots import parse_fact
from pytest_clinical_drift.evidence.facts.statement import ABSENT, RETAINED, Outcome, Statement, decide
from pytest_clinical_drift.evidence.reading.text import Document, read

if TYPE_CHECKING:
    from pytest_clinical_drift.cases.model import CriticalEntity

_FRAMES: dict[str, Callable[[Fact, Document], list[Statement]]] = {
    TAKEN: taken.statements,
    MEASURED: measured.statements,
    REACTS: reacts.statements,
    STATED: stated.statements,
}


@dataclass(frozen=True, slots=True)
class Span:
    """A quotation from the summary."""

    quote: str
    start: int
    """Offset of its first character in the raw summary."""
    end: int


@dataclass(frozen=True, slots=True)
class Retention:
    """What a summary says about one fact."""

    entity: str
    """The fact as it was given."""
    status: str
    """retained, partial, contradicted or absent."""
    evidence: tuple[Span, ...]
    """The words that decided; empty when nothing in the summary speaks of the fact."""
    reason: str
    """Why it is not plainly retained; empty when it is."""
    certain: bool = True
    """False where the rules found it unclear; the status is then the likelier one."""
    rule: str = ""
    """The rule that decided."""


def assess_retention(summary: str, entities: Sequence[str | CriticalEntity]) -> list[Retention]:
    """The status of every fact in a summary, in the order given."""
    document = read(summary)
    assessed = assess_document(document, entities)
    document.cache.clear()
    return assessed


def assess_document(document: Document, entities: Sequence[str | CriticalEntity]) -> list[Retention]:
    """As `assess_retention`, on a summary that has been read already.

    A second value beside a plain statement leaves it plain where that value is another fact: "hydrocortisone 20 mg
    daily" and "hydrocortisone 100 mg as an emergency injection".
    """
    outcomes = [_assess(document, entity) for entity in entities]
    plain = {
        span
        for outcome in outcomes
        if outcome.status == RETAINED
        for span in outcome.spans
        if span not in outcome.rival
    }
    return [
        _retention(
            document,
            entity,
            Outcome(RETAINED, outcome.spans, "", "plain")
            if plain.issuperset(outcome.rival) and outcome.rival
            else outcome,
        )
        for entity, outcome in zip(entities, outcomes, strict=True)
    ]


def _assess(document: Document, entity: str | CriticalEntity) -> Outcome:
    """The outcome of a fact by its text, or by one of its aliases where that says more."""
    text = entity if isinstance(entity, str) else entity.text
    kind = None if isinstance(entity, str) else entity.kind
    outcome = _outcome(parse_fact(text, kind), document)
    for alias in () if isinstance(entity, str) else entity.aliases:
        if outcome.status == RETAINED:
            break
        other = _outcome(parse_fact(alias, kind), document)
        if outcome.status == ABSENT or other.status == RETAINED:
            outcome = other
    return outcome


def _retention(document: Document, entity: str | CriticalEntity, outcome: Outcome) -> Retention:
    text = entity if isinstance(entity, str) else entity.text
    evidence = tuple(_span(document, first, last) for first, last in sorted(set(outcome.spans)))
    return Retention(text, outcome.status, evidence, outcome.reason, outcome.certain, outcome.rule)


def _outcome(fact: Fact, document: Document) -> Outcome:
    found = _FRAMES[fact.frame](fact, document)
    return decide(found, unnamed=not found and is_unnamed(fact, document))


def _span(document: Document, first: int, last: int) -> Span:
    start, end = document.starts[first], document.ends[last]
    return Span(document.raw[start:end], start, end)
