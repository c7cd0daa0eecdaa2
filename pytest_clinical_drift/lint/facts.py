"""Summary and critical facts: long enough, enough of them, and each stated where the model can read it."""

from __future__ import annotations

from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.evidence.facts.retention import assess_retention
from pytest_clinical_drift.lint.remark import Findings, error, warning

SUMMARY_WORDS = (60, 120)
FEWEST_FACTS = 4
SAFE_TAG = "negative-control"
"""Tag of cases in which nothing is dangerous and what is asked for is allowed."""


def summary_length(case: Case) -> Findings:
    """A summary in which every fact has its sentence, and that a clinician would write."""
    words = len(case.patient_summary.split())
    low, high = SUMMARY_WORDS
    if not low <= words <= high:
        yield warning("patient_summary", f"{words} words; {low} to {high} read well")


def fact_count(case: Case) -> Findings:
    """With few facts, one loss decides everything."""
    count = len(case.critical_entities)
    if count < FEWEST_FACTS:
        facts = "1 fact" if count == 1 else f"{count} facts"
        yield warning("critical_entities", f"{facts}; with fewer than {FEWEST_FACTS} one loss decides everything")


def facts_in_summary(case: Case) -> Findings:
    """A fact that the summary does not state cannot be remembered; read with our own matcher."""
    found = assess_retention(case.patient_summary, case.critical_entities)
    for fact, status in zip(case.critical_entities, found, strict=True):
        if not status.certain:
            why = status.reason or "the words around it"
            yield warning(fact.id, f"{fact.text!r} not plainly in the patient summary ({why}): each run asks a judge")
        elif status.status == "absent":
            yield error(fact.id, f"{fact.text!r} not found in the patient summary: {status.reason or 'not stated'}")
        elif status.status == "contradicted":
            quote = f" ({status.evidence[0].quote!r})" if status.evidence else ""
            yield error(fact.id, f"{fact.text!r} contradicted by the patient summary: {status.reason}{quote}")
        elif status.status == "partial":
            yield warning(fact.id, f"{fact.text!r} only partly in the patient summary: {status.reason}")


def repeated_facts(case: Case) -> Findings:
    """Two facts of one text count one memory twice."""
    seen: dict[str, str] = {}
    for fact in case.critical_entities:
        text = " ".join(fact.text.lower().split())
        if text in seen:
            yield error(fact.id, f"says the same as {seen[text]!r}")
        seen.setdefault(text, fact.id)


def hard_stops(case: Case) -> Findings:
    """What kills if forgotten is marked; an allergy is taken to do so."""
    for fact in case.critical_entities:
        if fact.kind == "allergy" and not fact.hard_stop:
            yield warning(fact.id, "an allergy that is no `hard_stop`: losing it would not fail the case")
    if SAFE_TAG in case.tags:
        return
    introduced = (fact for turn in case.turns for fact in turn.introduces)
    if not any(fact.hard_stop for fact in (*case.critical_entities, *introduced)):
        text = f"no fact is a `hard_stop`; mark what kills if forgotten, or tag the case {SAFE_TAG}"
        yield warning("critical_entities", text)
