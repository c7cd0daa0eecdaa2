"""Facts that someone keeps away from something ("avoids driving"): not doing it states them, doing it denies them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from pytest_clinical_drift.evidence.contexts.mentions import reading
from pytest_clinical_drift.evidence.facts.endings import is_over
from pytest_clinical_drift.evidence.facts.fact import Fact
from pytest_clinical_drift.evidence.facts.outcome import CONTRADICTED, RETAINED, Outcome
from pytest_clinical_drift.evidence.facts.permission import Stance, stance
from pytest_clinical_drift.evidence.terms.vocabulary import word_set
from pytest_clinical_drift.evidence.text import Document

_AVOIDS = word_set("abstention", "avoids")
_HABITS = word_set("abstention", "habits")
_OPENING = word_set("permission", "opening")
_MOST, _NEAR = 3, 4  # words of what is avoided, and tokens between them


def is_abstention(fact: Fact) -> bool:
    """Whether the fact opens with a word for keeping away from something ("avoids driving", "must avoid gluten")."""
    opening = next((word for word in fact.document.words if word not in _OPENING), "")
    return opening in _AVOIDS and not fact.conditions


def assess_abstention(fact: Fact, document: Document) -> Outcome | None:
    """ "no longer drives" states "avoids driving", "drives to work every day" denies it; None: neither."""
    acts = [part for part in fact.words if part.text.lower() not in _AVOIDS]
    if not acts or len(acts) > _MOST:
        return None
    places = [part.places(document) for part in acts]
    against: tuple[int, int] | None = None
    anchor = places[-1] or places[0]
    for token in anchor:
        close = [_close(others, token) for others in places if others is not anchor]
        said_too = sum(map(bool, close))
        if said_too < min(len(acts) - 1, 1 if len(acts) == _MOST else _MOST):
            continue
        context = reading(document, token, token)
        if context.other_person or context.open:
            continue
        first = min((p for others in close for p in others), default=token)
        said = stance(document, min(first, token), token)
        if said in (Stance.FORBIDDEN, Stance.REFUSED):
            return Outcome(RETAINED, ((token, token),))
        start, stop = document.clause_span(token)
        around = document.words[max(start, token - 5) : min(stop, token + 7)]
        if context.hypothetical or not _AVOIDS.isdisjoint(around):
            continue  # "does not avoid driving": what is said of the avoiding is read elsewhere
        if context.negated or is_over(document, token, token):
            return Outcome(RETAINED, ((token, token),))
        if said in (Stance.ALLOWED, Stance.TAKEN) or not _HABITS.isdisjoint(around):
            against = against or (token, token)
    return Outcome(CONTRADICTED, (against,), "stated as done") if against else None


def _close(places: list[int], token: int) -> list[int]:
    """The places within a few tokens of one."""
    return places[bisect_left(places, token - _NEAR) : bisect_right(places, token + _NEAR)]
