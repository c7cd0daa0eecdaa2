"""Facts that a treatment, test or vaccine was turned down: "flu vaccine declined"."""

from __future__ import annotations

from pytest_clinical_drift.evidence.contexts.mentions import reading
from pytest_clinical_drift.evidence.facts.condition import named
from pytest_clinical_drift.evidence.facts.fact import Fact
from pytest_clinical_drift.evidence.facts.outcome import CONTRADICTED, RETAINED, Outcome
from pytest_clinical_drift.evidence.facts.permission import Stance, stance
from pytest_clinical_drift.evidence.facts.undone import was_refused
from pytest_clinical_drift.evidence.text import Document

_REFUSABLE = frozenset(("procedure", "device", "test"))


def assess_refused(fact: Fact, document: Document) -> Outcome | None:
    """Status of a refusal of something that can be done; None where the fact is none, or nothing is said of it."""
    refused = any("word:refuse" in part.ids for part in fact.words)
    if not refused or not fact.conditions or fact.conditions[0].group not in _REFUSABLE:
        return None
    done: list[tuple[int, int]] = []
    for term in named(document, fact.conditions[0]):
        place = ((term.first, term.last),)
        said = stance(document, term.first, term.last)
        if said is Stance.REFUSED or was_refused(document, term):
            return Outcome(RETAINED, place)
        context = reading(document, term.first, term.last)
        if said in (Stance.ACCEPTED, Stance.TAKEN) or context.affirmed:
            done.append(place[0])
    return Outcome(CONTRADICTED, tuple(done[:1]), "stated as accepted or done") if done else None
