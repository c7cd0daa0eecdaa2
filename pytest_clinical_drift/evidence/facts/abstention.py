"""Facts that someone keeps away from something ("avoids driving"): not doing it states them, doing it denies them."""

from __future__ import annotations

from pytest_clinical_drift.evidence.contexts.mentions import reading
from pytest_clinical_drift.evidence.facts.endings import is_over
from pytest_clinical_drift.evidence.facts.fact import Fact
from pytest_clinical_drift.evidence.facts.outcome import CONTRADICTED, RETAINED, Outcome
from pytest_clinical_drift.evidence.terms.vocabulary import word_set
from pytest_clinical_drift.evidence.text import Document

_AVOIDS = word_set("abstention", "avoids")
_HABITS = word_set("abstention", "habits")


def is_abstention(fact: Fact) -> bool:
    """Whether the fact opens with a word for keeping away from something."""
    return bool(fact.document.words) and fact.document.words[0] in _AVOIDS and not fact.conditions


def assess_abstention(fact: Fact, document: Document) -> Outcome | None:
    """ "no longer drives" states "avoids driving", "drives to work every day" denies it; None: neither."""
    acts = [part for part in fact.words if part.text.lower() not in _AVOIDS]
    if len(acts) != 1:
        return None
    against: tuple[int, int] | None = None
    for token in acts[0].places(document):
        context = reading(document, token, token)
        if context.other_person or context.hypothetical or context.open:
            continue
        start, stop = document.clause_span(token)
        around = document.words[max(start, token - 5) : min(stop, token + 7)]
        if not _AVOIDS.isdisjoint(around):
            continue  # "does not avoid driving": what is said of the avoiding is read elsewhere
        if context.negated or is_over(document, token, token):
            return Outcome(RETAINED, ((token, token),))
        if not _HABITS.isdisjoint(around):
            against = against or (token, token)
    return Outcome(CONTRADICTED, (against,), "stated as done") if against else None
