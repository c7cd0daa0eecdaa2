"""Facts that are themselves negative: "not on anticoagulants", "no known drug allergies", "does not drive"."""

from __future__ import annotations

from dataclasses import replace

from pytest_clinical_drift.evidence.contexts.mentions import reading
from pytest_clinical_drift.evidence.facts.allergy_denials import blanket_denials
from pytest_clinical_drift.evidence.facts.condition import named
from pytest_clinical_drift.evidence.facts.endings import is_over
from pytest_clinical_drift.evidence.facts.fact import NEUTRAL, Fact
from pytest_clinical_drift.evidence.facts.intake import Taking, taking
from pytest_clinical_drift.evidence.facts.outcome import ABSENT, CONTRADICTED, NOTHING, PARTIAL, RETAINED, Outcome
from pytest_clinical_drift.evidence.lexicon import Term
from pytest_clinical_drift.evidence.terms.index import term_index
from pytest_clinical_drift.evidence.terms.vocabulary import CONDITION, DRUG, WORD, Concept, word_set
from pytest_clinical_drift.evidence.text import Document

_MEDICATION = word_set("negative", "medication")
_UNMEDICATED = frozenset({"unmedicated", "medication-free", "drug-naive", "medication-naive"})
_NORMAL = frozenset(["normal", "normally", "intact", "unremarkable", "fine", "clear"])
_NONE = frozenset({"none", "nil", "no", "never", "0"})


def assess_negative(fact: Fact, document: Document) -> Outcome:
    """Status of a fact that states an absence."""
    if any(
        c.id in ("condition:drug allergy", "condition:allergy", "condition:no known drug allergies")
        for c in fact.conditions
    ):
        return _no_allergy(document)
    if fact.any_medication or fact.medicines:
        return _no_medicine(fact, document)
    if fact.conditions and not fact.words_first:
        return _no_condition(fact, document)
    return _no_words(fact, document)


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


def _no_medicine(fact: Fact, document: Document) -> Outcome:
    index = term_index(document)
    wanted = fact.medicines[0] if fact.medicines else None
    denied: list[tuple[int, int]] = []
    narrower: list[tuple[int, int]] = []
    undecided = [t for t in index.exact.get(wanted.id, ()) if t.weak] if wanted is not None else []
    for mention in (*index.medicines, *undecided):
        if mention.concept.kind != DRUG and _of_other_drug(document, mention):
            continue
        covered = wanted is None or mention.concept.id == wanted.id or wanted.id in mention.concept.ancestors
        wider = wanted is not None and mention.concept.id in wanted.ancestors
        if not covered and not wider:
            continue
        state = taking(document, mention)
        if state is Taking.NOW and covered and not reading(document, mention.first, mention.last).historical:
            return Outcome(CONTRADICTED, ((mention.first, mention.last),), f"{mention.concept.name} is taken")
        if state is Taking.DENIED or (state is Taking.STOPPED and mention.concept.kind != DRUG):
            exact = wider or (wanted is not None and mention.concept.id == wanted.id)
            (denied if exact else narrower).append((mention.first, mention.last))
    if not denied:
        denied = _all_medication_denied(document)
    if denied:
        return Outcome(RETAINED, (denied[0],))
    if narrower:
        return Outcome(PARTIAL, (narrower[0],), "denied only in part")
    return NOTHING


def _of_other_drug(document: Document, mention: Term) -> bool:
    """ "aspirin is the only blood-thinning tablet": the class word is said of a drug that is no member of it."""
    first = max(document.clause_span(mention.first)[0], mention.first - 6)
    before = term_index(document).medicines_between(first, mention.first)
    return (
        bool(before)
        and before[-1].concept.kind == DRUG
        and mention.concept.id not in before[-1].concept.ancestors
        and ("only" in document.words[before[-1].last : mention.first])
    )


_NOT_THE_MEDICINE = word_set("negative", "not_the_medicine")


def _all_medication_denied(document: Document) -> list[tuple[int, int]]:
    """ "takes no medication", "Medications: none", "unmedicated"."""
    found = []
    for position, word in enumerate(document.words):
        if word in _UNMEDICATED:
            found.append((position, position))
        elif word in _MEDICATION:
            after = position + 1
            if after < len(document) and not document.gaps[after] and document.words[after] in _NOT_THE_MEDICINE:
                continue  # "no known drug allergies", "no medication changes"
            none_follows = (
                after < len(document)
                and document.words[after] in _NONE
                and document.lines[after] == document.lines[position]
            )
            before = document.words[max(0, position - 3) : position]
            naive = after < len(document) and document.words[after] in ("naive", "free")
            if {"regular", "other", "further", "additional", "new"} & set(before):
                continue
            if (
                naive
                or reading(document, position, position).denied
                or (none_follows and document.gaps[after] not in ("", ","))
            ):
                found.append((position, position))
    return found


def _no_condition(fact: Fact, document: Document) -> Outcome:
    index = term_index(document)
    retained: list[tuple[int, int]] = []
    of_family = any("word:family" in part.ids for part in fact.words)
    for concept in fact.conditions:
        for term in named(document, concept):
            context = reading(document, term.first, term.last)
            if context.other_person != of_family or context.hypothetical or context.open:
                continue
            if context.negated or _none_after(document, term) or _counted_zero(document, term):
                retained.append((term.first, term.last))
            elif not (context.historical and not fact.past) and not _normal(document, term):
                return Outcome(CONTRADICTED, ((term.first, term.last),), "stated as present")
            elif _normal(document, term):
                retained.append((term.first, term.last))
        for above in concept.ancestors:
            for term in index.exact.get(above, ()):
                if not term.weak and reading(document, term.first, term.last).denied and not retained and not of_family:
                    retained.append((term.first, term.last))
    if retained:
        return Outcome(RETAINED, (retained[0],))
    found = _excluded(fact, document)
    if found.status != ABSENT:
        return found
    if all(c.group == "social-risk" for c in fact.conditions):
        return _no_words(replace(fact, words=fact.plain_words), document)
    return _no_words(fact, document) if fact.words else NOTHING


def _excluded(fact: Fact, document: Document) -> Outcome:
    index = term_index(document)
    for concept in fact.conditions:
        for other in concept.excludes:
            for term in index.exact.get(other, ()):
                if reading(document, term.first, term.last).affirmed:
                    return Outcome(RETAINED, ((term.first, term.last),))
    return NOTHING


def _none_after(document: Document, term: Term) -> bool:
    """ "RRT | None", "Falls: nil"."""
    after = term.last + 1
    return (
        after < len(document)
        and document.lines[after] == document.lines[term.last]
        and document.words[after] in _NONE
        and document.gaps[after] not in ("", ",")
    )


def _counted_zero(document: Document, term: Term) -> bool:
    return term.first > 0 and document.words[term.first - 1] in ("0", "zero", "nil") and not document.gaps[term.first]


def _normal(document: Document, term: Term) -> bool:
    stop = document.sentence_span(term.first)[1]
    return (
        not _NORMAL.isdisjoint(document.words[term.last : min(stop, term.last + 10)])
        and not reading(document, term.first, term.last).negated
    )


def _no_words(fact: Fact, document: Document) -> Outcome:
    """The content words in a negated or a positive statement."""
    parts = fact.words
    if not parts:
        return NOTHING
    opposite = _opposite(fact, document)
    if opposite.status == RETAINED:
        return opposite
    places = [part.places(document) for part in parts]
    if not all(places):
        return NOTHING
    for token in places[0]:
        sentence = document.sentences[token]
        if not all(any(document.sentences[p] == sentence for p in other) for other in places[1:]):
            continue
        context = reading(document, token, token)
        if context.other_person or context.hypothetical or context.open or _other_sense(document, token):
            continue
        if context.negated or _none_after(document, Term(_ANY, token, token)) or _lacking(document, fact, token):
            return Outcome(RETAINED, ((token, token),))
        if is_over(document, token, token):
            return Outcome(RETAINED, ((token, token),))
        return Outcome(CONTRADICTED, ((token, token),), "stated as present")
    return NOTHING


_LACK = word_set("negative", "lack")


def _lacking(document: Document, fact: Fact, token: int) -> bool:
    """ "poor appetite" for "no appetite"."""
    neutral = all(part.ids and part.ids <= NEUTRAL for part in fact.words)
    return neutral and not _LACK.isdisjoint(document.words[max(0, token - 3) : token])


def _opposite(fact: Fact, document: Document) -> Outcome:
    """A cluster that excludes what the fact denies ("disease-free" / "no recurrence")."""
    index = term_index(document)
    wanted = {concept_id for part in fact.words for concept_id in part.ids}
    for term in index.by_kind.get(WORD, ()):
        if term.concept.excludes & wanted and reading(document, term.first, term.last).affirmed:
            return Outcome(RETAINED, ((term.first, term.last),))
    return NOTHING


def _other_sense(document: Document, token: int) -> bool:
    """ "driving his symptoms", "psychiatric medication": the word goes with something else."""
    following = document.words[token + 1 : token + 2]
    if document.words[token] == "psychiatric" and following and following[0].startswith(("medic", "drug", "treat")):
        return True
    return document.words[token] in ("driving", "drives", "drive") and document.words[token + 1 : token + 2] in (
        ["his"], ["her"], ["their"], ["this"], ["these"], ["force"], ["factor"], ["up"],
    )  # fmt: skip


_ANY = Concept("word:any", "word", "any", "", frozenset(), frozenset(), frozenset(), (), {})
