"""Denials behind a negative fact: the words that deny, and the signs by which a denied condition would show."""

from __future__ import annotations

from pytest_clinical_drift.evidence.context import context_at
from pytest_clinical_drift.evidence.contexts.mentions import reading
from pytest_clinical_drift.evidence.facts.fact import Fact
from pytest_clinical_drift.evidence.facts.outcome import CONTRADICTED, NOTHING, PARTIAL, RETAINED, Outcome
from pytest_clinical_drift.evidence.terms.index import term_index
from pytest_clinical_drift.evidence.terms.vocabulary import CONDITION
from pytest_clinical_drift.evidence.text import Document

_QUOTED = 12  # tokens between a denying word and what it denies that are still quoted as one


def with_denial(document: Document, first: int, last: int) -> tuple[int, int]:
    """A mention together with the nearest words of its sentence that deny it."""
    start, stop = document.sentence_span(first)
    for cue in context_at(document, first, last).cues:
        if cue.role != "negated" or cue.end <= cue.start:
            continue
        at, end = document.token_at(cue.start), document.token_at(cue.end - 1)
        if start <= at and end < stop and max(last, end) - min(first, at) <= _QUOTED:
            return min(first, at), max(last, end)
    return first, last


def by_signs(fact: Fact, document: Document) -> Outcome:
    """What a condition shows itself by: one that is there speaks against "no psychotic symptoms", two denied for it."""
    index = term_index(document)
    denied: list[tuple[int, int]] = []
    kinds: set[str] = set()
    for concept in fact.conditions:
        for sign in concept.data.get("signs", ()):
            sign_id = f"{CONDITION}:{sign}"
            for term in (*index.exact.get(sign_id, ()), *index.within.get(sign_id, ())):
                context = reading(document, term.first, term.last)
                if context.affirmed and not context.historical and not term.weak:
                    return Outcome(CONTRADICTED, ((term.first, term.last),), f"{term.concept.name} is stated")
                if context.denied:
                    denied.append((term.first, term.last))
                    kinds.add(sign_id)
    if len(kinds) > 1:
        return Outcome(RETAINED, tuple(denied[:2]))
    return Outcome(PARTIAL, (denied[0],), "denied only in part") if denied else NOTHING
