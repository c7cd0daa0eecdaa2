"""What a medicine is taken for: "warfarin for atrial fibrillation"."""

from __future__ import annotations

from pytest_clinical_drift.evidence.facts.condition import FULL, VAGUE, find_condition
from pytest_clinical_drift.evidence.facts.fact import Fact
from pytest_clinical_drift.evidence.facts.outcome import ABSENT, PARTIAL, RETAINED, Outcome
from pytest_clinical_drift.evidence.text import Document


def with_indication(fact: Fact, document: Document, outcome: Outcome) -> Outcome:
    """The outcome of a medicine once what it is for has been looked for; another medicine may be for the same."""
    if not fact.conditions or outcome.status not in (RETAINED, ABSENT):
        return outcome
    concept = fact.conditions[0]
    finding = find_condition(document, concept, other_person=concept.id in fact.of_others)
    stated = finding.state in (FULL, VAGUE)
    if outcome.status == RETAINED and not stated:
        return Outcome(PARTIAL, outcome.evidence, f"missing: {concept.name}")
    undosed = fact.regimen is None or not (fact.regimen.strengths or fact.regimen.times)
    if outcome.status == ABSENT and undosed and not outcome.evidence and finding.state == FULL:
        place = finding.mentions[0]
        return Outcome(PARTIAL, ((place.first, place.last),), f"missing: {fact.medicines[0].name}")
    return outcome
