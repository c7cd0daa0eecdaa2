"""Facts that are themselves negative: "not on anticoagulants", "no known drug allergies", "does not drive"."""

from __future__ import annotations

from dataclasses import replace

from pytest_clinical_drift.evidence.contexts.mentions import reading
from pytest_clinical_drift.evidence.facts.allergy_denials import blanket_denials
from pytest_clinical_drift.evidence.facts.condition import named
from pytest_clinical_drift.evidence.facts.denial import by_signs, with_denial
from pytest_clinical_drift.evidence.facts.fact import Fact
from pytest_clinical_drift.evidence.facts.intact import stated_as_absent
from pytest_clinical_drift.evidence.facts.intake import Taking, taking
from pytest_clinical_drift.evidence.facts.intentions import intention
from pytest_clinical_drift.evidence.facts.medication import mentions_of
from pytest_clinical_drift.evidence.facts.no_medicine import no_medicine
from pytest_clinical_drift.evidence.facts.no_relative import no_relative
from pytest_clinical_drift.evidence.facts.no_words import denied_act, denied_below, denied_head, no_words, none_after
from pytest_clinical_drift.evidence.facts.outcome import ABSENT, CONTRADICTED, NOTHING, PARTIAL, RETAINED, Outcome
from pytest_clinical_drift.evidence.facts.permission import Stance, stance
from pytest_clinical_drift.evidence.lexicon import Term
from pytest_clinical_drift.evidence.terms.index import term_index
from pytest_clinical_drift.evidence.terms.vocabulary import CONDITION, word_set
from pytest_clinical_drift.evidence.text import HEADING, Document

_NORMAL = frozenset(["normal", "normally", "intact", "unremarkable", "fine", "clear"])


def assess_negative(fact: Fact, document: Document) -> Outcome:
    """Status of a fact that states an absence; what it rests on includes the words that deny."""
    outcome = _assess(fact, document)
    if outcome.status == ABSENT or (outcome.status == CONTRADICTED and fact.negative):
        put = stated_as_absent(fact, document)
        if put is not None and (outcome.status == ABSENT or _overlaps(put, outcome)):
            return Outcome(RETAINED, (put,))
    if outcome.status not in (RETAINED, PARTIAL):
        return outcome
    return replace(outcome, evidence=tuple(with_denial(document, *place) for place in outcome.evidence))


def _overlaps(put: tuple[int, int], outcome: Outcome) -> bool:
    """ "does not give commands": what seemed to be there is part of the words that deny it."""
    return all(first <= put[1] and put[0] <= last for first, last in outcome.evidence)


_SUICIDE = "suicid"


def _assess(fact: Fact, document: Document) -> Outcome:
    if any(
        c.id in ("condition:drug allergy", "condition:allergy", "condition:no known drug allergies")
        for c in fact.conditions
    ):
        return _no_allergy(document)
    if any(c.id == "condition:adverse drug reaction" for c in fact.conditions):
        tolerated = [
            (mention.first, mention.last)
            for medicine in fact.medicines
            for mention in mentions_of(document, medicine)
            if stance(document, mention.first, mention.last) is Stance.ALLOWED
        ]
        return Outcome(RETAINED, (tolerated[0],)) if tolerated else _no_condition(fact, document)
    head = denied_head(fact)
    if head is not None:
        return no_words(head, document)
    if fact.any_medication and denied_act(fact):
        return no_words(fact, document)
    if fact.conditions and fact.medicines and _under_medicine(fact):
        return _no_condition(fact, document)
    if fact.any_medication or fact.medicines:
        return no_medicine(fact, document)
    if fact.conditions and any("word:family" in part.ids for part in fact.words):
        return no_relative(fact, document)
    if _SUICIDE in fact.text.lower():
        meant = intention(fact, fact.text, document, lambda _: True)
        if meant is not None:
            return meant
    if fact.conditions and not fact.words_first:
        return _no_condition(fact, document)
    return no_words(fact, document)


def _under_medicine(fact: Fact) -> bool:
    """ "no muscle pain on a statin": what is denied stands before the medicine it might come from."""
    index = term_index(fact.document)
    conditions = [t for t in index.by_kind.get(CONDITION, ()) if t.concept in fact.conditions]
    return bool(conditions and index.medicines) and conditions[0].last < index.medicines[0].first


def _no_allergy(document: Document) -> Outcome:
    for term in term_index(document).by_kind.get(CONDITION, ()):
        above = term.concept.ancestors
        specific = "condition:allergy" in above and term.concept.name not in ("drug allergy", "food allergy")
        of_food = "condition:food allergy" in above
        if specific and not of_food and reading(document, term.first, term.last).affirmed:
            return Outcome(CONTRADICTED, ((term.first, term.last),), "an allergy is stated")
    for mention in term_index(document).medicines:
        if taking(document, mention) is Taking.ALLERGY or _allergic_to(document, mention):
            return Outcome(CONTRADICTED, ((mention.first, mention.last),), "an allergy is stated")
    denials = blanket_denials(document)
    if denials:
        return Outcome(RETAINED, ((denials[0].first, denials[0].last),))
    return NOTHING


def _allergic_to(document: Document, mention: Term) -> bool:
    first, stop = document.clause_span(mention.first)
    words = document.words[max(first, mention.first - 6) : min(stop, mention.last + 5)]
    if {"allergy", "allergic", "anaphylaxis"}.isdisjoint(words):
        return False
    context = reading(document, mention.first, mention.last)
    return context.affirmed


def _no_condition(fact: Fact, document: Document) -> Outcome:
    index = term_index(document)
    retained: list[tuple[int, int]] = []
    of_family = any("word:family" in part.ids for part in fact.words)
    of_plan = "planned" in fact.document.words
    for concept in fact.conditions:
        for term in named(document, concept):
            context = reading(document, term.first, term.last)
            if of_plan and context.arranged:
                return Outcome(CONTRADICTED, ((term.first, term.last),), "stated as planned")
            if of_plan and _not_intended(document, term):
                retained.append((term.first, term.last))
                continue
            if _is_heading(document, term):
                continue
            ahead = context.hypothetical and not (of_plan and context.negated)  # "no surgery is planned"
            if context.other_person != of_family or ahead or context.open:
                continue
            if concept.name in _NOT_BY_A_KIND and term.concept is not concept and context.negated:
                continue  # no plan to end his life leaves the thoughts open
            denied = context.negated or none_after(document, term.last) or _counted_zero(document, term)
            if denied or denied_below(document, term.first):
                retained.append((term.first, term.last))
            elif not (context.historical and not fact.past) and not _normal(document, term):
                return Outcome(CONTRADICTED, ((term.first, term.last),), "stated as present")
            elif _normal(document, term):
                retained.append((term.first, term.last))
        for above in sorted(concept.ancestors):
            for term in index.exact.get(above, ()):
                if not term.weak and reading(document, term.first, term.last).denied and not retained and not of_family:
                    retained.append((term.first, term.last))
    retained += [
        (t.first, t.last)
        for concept in fact.conditions
        for t in index.exact.get(f"{concept.id} test", ())
        if reading(document, t.first, t.last).denied
    ]
    shown = by_signs(fact, document)
    if retained and shown.status != CONTRADICTED:
        return Outcome(RETAINED, (retained[0],))
    if shown.status != ABSENT and not of_family:
        return shown
    found = _excluded(fact, document)
    if found.status != ABSENT:
        return found
    drug_use = any("word:drug use" in part.ids for part in fact.plain_words)
    if drug_use or all(c.group in ("social-risk", "procedure") for c in fact.conditions):
        return no_words(replace(fact, words=fact.plain_words), document)
    return no_words(fact, document) if fact.words else NOTHING


_NOT_BY_A_KIND = word_set("negative", "not_by_a_kind")


def _is_heading(document: Document, term: Term) -> bool:
    """ "Substance use" above its own lines: what is written below says whether there is any."""
    return document.segment_kinds[document.segments[term.first]] == HEADING


_INTENDING = word_set("negative", "intending")


def _not_intended(document: Document, term: Term) -> bool:
    """ "is not planning to have surgery", "does not want an operation"."""
    before = document.words[max(document.clause_span(term.first)[0], term.first - 7) : term.first]
    return not _INTENDING.isdisjoint(before) and not {"not", "no", "never"}.isdisjoint(before)


def _excluded(fact: Fact, document: Document) -> Outcome:
    index = term_index(document)
    for concept in fact.conditions:
        for other in sorted(concept.excludes):
            for term in index.exact.get(other, ()):
                if reading(document, term.first, term.last).affirmed:
                    return Outcome(RETAINED, ((term.first, term.last),))
    return NOTHING


def _counted_zero(document: Document, term: Term) -> bool:
    return term.first > 0 and document.words[term.first - 1] in ("0", "zero", "nil") and not document.gaps[term.first]


def _normal(document: Document, term: Term) -> bool:
    stop = document.sentence_span(term.first)[1]
    return (
        not _NORMAL.isdisjoint(document.words[term.last : min(stop, term.last + 10)])
        and not reading(document, term.first, term.last).negated
    )
