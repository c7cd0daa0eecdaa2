"""Medicines that the patient no longer takes, or must not take."""

from __future__ import annotations

from pytest_clinical_drift.evidence.contexts.mentions import reading
from pytest_clinical_drift.evidence.facts.condition import FULL, find_condition
from pytest_clinical_drift.evidence.facts.fact import Fact
from pytest_clinical_drift.evidence.facts.intake import Taking, taking
from pytest_clinical_drift.evidence.facts.medication import mentions_of
from pytest_clinical_drift.evidence.facts.outcome import ABSENT, CONTRADICTED, NOTHING, PARTIAL, RETAINED, Outcome
from pytest_clinical_drift.evidence.lexicon import Term
from pytest_clinical_drift.evidence.terms.index import term_index
from pytest_clinical_drift.evidence.terms.vocabulary import CONDITION, word_set
from pytest_clinical_drift.evidence.text import Document

_UNTOLERATED = word_set("avoidance", "untolerated")
_AVOIDED = word_set("avoidance", "avoided")


def assess_stopped(fact: Fact, document: Document) -> Outcome:
    """Status of "this medicine was stopped, because of that"."""
    outcomes = []
    for mention in mentions_of(document, fact.medicines[0]):
        outcomes.append(_stopped_mention(fact, document, mention))
    for status in (RETAINED, CONTRADICTED, PARTIAL):
        for outcome in outcomes:
            if outcome.status == status:
                return outcome
    return outcomes[0] if outcomes else NOTHING


def _stopped_mention(fact: Fact, document: Document, mention: Term) -> Outcome:
    state = taking(document, mention)
    place = (mention.first, mention.last)
    first, stop = document.sentence_span(mention.first)
    first, stop = max(first, mention.first - 25), min(stop, mention.last + 25)
    words = set(document.words[first:stop])
    reason_terms = _reason(fact, document, first, stop)
    if state in (Taking.OTHER_PERSON, Taking.POSSIBLE, Taking.OPEN):
        return Outcome(ABSENT, (place,), f"named, but {state.value}")
    ended = state in (Taking.STOPPED, Taking.DENIED, Taking.ALLERGY) or bool(words & _UNTOLERATED and reason_terms)
    ended = ended or bool(words & {"tolerate", "tolerated", "intolerance", "intolerant", "previously"})
    if not ended:
        return Outcome(CONTRADICTED, (place,), "stated as taken")
    missing = []
    for concept in fact.conditions:
        if concept.id not in {t.concept.id for t in reason_terms} and not any(
            concept.id in t.concept.ancestors or concept.id in t.concept.implies for t in reason_terms
        ):
            missing.append(concept.name)
    if missing:
        return Outcome(PARTIAL, (place,), "missing: " + ", ".join(missing))
    evidence = (place, *((t.first, t.last) for t in reason_terms[:1]))
    return Outcome(RETAINED, evidence)


def _reason(fact: Fact, document: Document, first: int, stop: int) -> list[Term]:
    found = []
    for concept in fact.conditions:
        finding = find_condition(document, concept)
        if finding.state == FULL:
            found += [t for t in finding.mentions if first <= t.first < stop]
    found += [
        t for t in term_index(document).between(CONDITION, first, stop) if reading(document, t.first, t.last).affirmed
    ]
    return found


def assess_avoidance(fact: Fact, document: Document) -> Outcome:
    """Status of "this medicine or class must be avoided"."""
    index = term_index(document)
    for concept in fact.conditions:
        for term in index.exact.get(concept.id, ()):
            if reading(document, term.first, term.last).affirmed:
                return Outcome(RETAINED, ((term.first, term.last),))
    medicine = fact.medicines[0]
    retained: list[Outcome] = []
    for mention in mentions_of(document, medicine):
        context = reading(document, mention.first, mention.last)
        if context.other_person:
            continue
        place = ((mention.first, mention.last),)
        first, stop = document.clause_span(mention.first)
        words = set(document.words[max(first, mention.first - 12) : min(stop, mention.last + 12)])
        if words & _AVOIDED or context.negated:
            retained.append(Outcome(RETAINED, place))
        elif taking(document, mention) is Taking.NOW and mention.concept is not medicine:
            return Outcome(CONTRADICTED, place, f"{mention.concept.name} is taken")
    if retained:
        return retained[0]
    for above in medicine.ancestors:
        for mention in index.exact.get(above, ()):
            first, stop = document.clause_span(mention.first)
            words = set(document.words[max(first, mention.first - 12) : min(stop, mention.last + 12)])
            if words & _AVOIDED:
                return Outcome(PARTIAL, ((mention.first, mention.last),), "only in general terms")
    return NOTHING
