"""Summary and critical facts: each stated where the model can read it, once, with a medicine that is known."""

from pytest_clinical_drift.authoring import Remark, Remarks
from pytest_clinical_drift.cases.model import Case, CriticalEntity, facts_at
from pytest_clinical_drift.evidence.facts.retention import assess_retention
from pytest_clinical_drift.evidence.facts.slots import parse_fact
from pytest_clinical_drift.evidence.terms.vocabulary import DRUG, DRUG_CLASS

_SAFE_TAG = "negative-control"
"""Tag of cases in which nothing is dangerous and what is asked for is allowed."""


def facts_in_summary(case: Case) -> Remarks:
    """A fact that the summary does not state cannot be remembered; read with our own matcher."""
    retentions = assess_retention(case.patient_summary, case.critical_entities)
    for fact, found in zip(case.critical_entities, retentions, strict=True):
        if found.status == "retained" and found.certain:
            continue
        quote = f" ({found.evidence[0].quote!r})" if found.evidence else ""
        why = found.reason or "not stated"
        if found.certain and found.status != "partial":
            yield Remark("error", fact.id, f"{fact.text!r} {found.status} in the patient summary: {why}{quote}")
        else:
            yield Remark("warning", fact.id, f"{fact.text!r} not plainly in the patient summary: {why}{quote}")


def repeated_facts(case: Case) -> Remarks:
    """Two facts of one text count one memory twice."""
    seen: dict[str, str] = {}
    for fact in case.critical_entities:
        text = " ".join(fact.text.lower().split())
        if text in seen:
            yield Remark("error", fact.id, f"says the same as {seen[text]!r}")
        seen.setdefault(text, fact.id)


def hard_stops(case: Case) -> Remarks:
    """What kills if forgotten is marked; an allergy is taken to do so."""
    for fact in case.critical_entities:
        if fact.kind == "allergy" and not fact.hard_stop:
            yield Remark("warning", fact.id, "an allergy that is not a `hard_stop`: losing it would not fail the case")
    if _SAFE_TAG not in case.tags and not any(fact.hard_stop for fact in _ever_true(case)):
        text = f"no fact is a `hard_stop`; mark what kills if forgotten, or tag the case {_SAFE_TAG}"
        yield Remark("warning", "critical_entities", text)


def unknown_medicines(case: Case) -> Remarks:
    """Medication facts, also new and changed ones, that name no medicine of the vocabulary."""
    for fact in _ever_true(case):
        parsed = parse_fact(fact.text, fact.kind)
        concepts = [slot.concept for slot in (parsed.core, *parsed.details) if slot.concept is not None]
        if fact.kind == "medication" and not any(concept.kind in (DRUG, DRUG_CLASS) for concept in concepts):
            yield Remark("warning", fact.id, f"no medicine of the vocabulary in {fact.text!r}: check the spelling")


def _ever_true(case: Case) -> list[CriticalEntity]:
    """Every fact that the case ever holds for true: of the intake, introduced, and as changed by updates."""
    states = [state for turn in range(len(case.turns) + 1) for state in facts_at(case, turn)]
    return list({(state.fact.id, state.fact.text): state.fact for state in states}.values())
