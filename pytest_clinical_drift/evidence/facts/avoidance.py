"""Medicines that the patient no longer takes, or must not take."""

from __future__ import annotations

from pytest_clinical_drift.evidence.contexts.mentions import reading
from pytest_clinical_drift.evidence.facts.condition import FULL, find_condition
from pytest_clinical_drift.evidence.facts.fact import Fact
from pytest_clinical_drift.evidence.facts.intake import Taking, taking
from pytest_clinical_drift.evidence.facts.kinds import word_lists
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
    trial = is_trial(fact)
    if trial and _never_tried(document, mention):
        return Outcome(CONTRADICTED, (place,), "stated as not tried")
    if not ended and not (trial and words & _TRIED):
        return Outcome(CONTRADICTED, (place,), "stated as taken")
    missing = []
    if trial and any("word:unhelpful" in part.ids for part in fact.words) and not _failed(document, first, stop):
        if words & _HELPED:
            return Outcome(CONTRADICTED, (place,), "stated as helpful")
        missing.append("without benefit")
    for concept in fact.conditions:
        if concept.id not in {t.concept.id for t in reason_terms} and not any(
            concept.id in t.concept.ancestors or concept.id in t.concept.implies for t in reason_terms
        ):
            missing.append(concept.name)
    if missing:
        return Outcome(PARTIAL, (place,), "missing: " + ", ".join(missing))
    evidence = (place, *((t.first, t.last) for t in reason_terms[:1]))
    return Outcome(RETAINED, evidence)


_TRIED = word_set("avoidance", "tried")
_HELPED = word_set("avoidance", "helped")


def is_trial(fact: Fact) -> bool:
    """Whether the fact is that a medicine was tried."""
    return not word_lists()["tried"].isdisjoint(fact.document.words)


def _never_tried(document: Document, mention: Term) -> bool:
    before = document.words[max(document.clause_span(mention.first)[0], mention.first - 5) : mention.first]
    return not _TRIED.isdisjoint(before) and not {"not", "never"}.isdisjoint(before)


def _failed(document: Document, first: int, stop: int) -> bool:
    """Whether the sentence, or what goes on from it, says that it did not help."""
    unhelpful = term_index(document).exact.get("word:unhelpful", ())
    if any(first <= t.first < stop + 12 for t in unhelpful):
        return True
    return "failed" in document.words[first:stop] or "failure" in document.words[first:stop]


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
    for concept in (c for c in fact.conditions if "intoleran" in c.name or "allerg" in c.name):
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
    for above in sorted(medicine.ancestors):
        for mention in index.exact.get(above, ()):
            first, stop = document.clause_span(mention.first)
            words = set(document.words[max(first, mention.first - 12) : min(stop, mention.last + 12)])
            if words & _AVOIDED:
                return Outcome(PARTIAL, ((mention.first, mention.last),), "only in general terms")
    return NOTHING
