"""Allergies and intolerances: the substance, that it is not tolerated, and the reaction."""

from __future__ import annotations

from pytest_clinical_drift.evidence.contexts.mentions import reading
from pytest_clinical_drift.evidence.facts.allergens import ALLERGY_WORDS, UNSPECIFIC, Substance, substance_of
from pytest_clinical_drift.evidence.facts.allergy_denials import blanket_denials
from pytest_clinical_drift.evidence.facts.dose_roles import STATUS_FILE
from pytest_clinical_drift.evidence.facts.fact import Fact
from pytest_clinical_drift.evidence.facts.outcome import ABSENT, CONTRADICTED, NOTHING, PARTIAL, RETAINED, Outcome
from pytest_clinical_drift.evidence.lexicon import Term
from pytest_clinical_drift.evidence.reading.phrases import cues_of
from pytest_clinical_drift.evidence.reading.wording import loose_stems
from pytest_clinical_drift.evidence.terms.index import places_in, term_index
from pytest_clinical_drift.evidence.terms.vocabulary import CONDITION, DRUG, DRUG_CLASS, Concept, word_set
from pytest_clinical_drift.evidence.text import CELL, LABEL, Document

_AVOID = word_set("allergy", "avoid")
_CAUSES = word_set("allergy", "causes")
_AFTER = frozenset(("with", "to", "from", "after", "on"))
_TAKE = word_set("allergy", "take")
_TOLERATED = word_set("allergy", "tolerated")
_REACH = 22


def _reactions(fact: Fact) -> list[Concept]:
    return [
        c
        for c in fact.conditions
        if not ("allergy" in c.name or "sensitivity" in c.name or c.group == "injury") and c.id not in UNSPECIFIC
    ]


def assess_allergy(fact: Fact, document: Document) -> Outcome:
    """Status of "this substance is not tolerated, with this reaction"."""
    substance = substance_of(fact)
    reactions = _reactions(fact)
    named = _allergy_mentions(document, substance)
    inside = {token for term in named for token in range(term.first, term.last + 1)}
    outcomes = [_named_allergy(document, term, reactions) for term in named]
    outcomes += [
        _beside_substance(document, term, reactions, substance)
        for term in _substance_mentions(document, substance)
        if term.first not in inside
    ]
    for status in (CONTRADICTED, RETAINED, PARTIAL):
        chosen = [o for o in outcomes if o.status == status]
        if chosen:
            if (
                status == CONTRADICTED
                and any(o.status == RETAINED for o in outcomes)
                and chosen[0].reason == "tolerated"
            ):
                continue
            return chosen[0]
    general = _no_allergies(document, substance)
    if general is not None:
        return general
    return outcomes[0] if outcomes else NOTHING


def _allergy_mentions(document: Document, substance: Substance) -> list[Term]:
    index = term_index(document)
    return [
        t
        for c in substance.allergies
        for t in (*index.exact.get(c.id, ()), *index.within.get(c.id, ()))
        if c.id not in UNSPECIFIC
    ]


def _substance_mentions(document: Document, substance: Substance) -> list[Term]:
    index = term_index(document)
    found: list[Term] = []
    for concept in substance.concepts:
        found += index.exact.get(concept.id, ())
        found += index.within.get(concept.id, ())
        for above in sorted(concept.ancestors):
            found += [t for t in index.exact.get(above, ()) if t.concept.kind in (DRUG, DRUG_CLASS)]
    if not substance.concepts:
        named = substance.allergies[0] if substance.allergies else None
        for key in sorted(substance.stems):
            for token in places_in(loose_stems(document), key):
                concept = named or Concept(
                    f"word:{key}", "word", key, "", frozenset(), frozenset(), frozenset(), (), {}
                )
                found.append(Term(concept, token, token))
    return found


def _window(document: Document, mention: Term) -> tuple[int, int]:
    first, stop = document.sentence_span(mention.first)
    if document.segment_kinds[document.segments[mention.first]] == CELL:
        line = document.lines[mention.first]
        while stop < len(document) and document.lines[stop] == line:
            stop += 1
        while first > 0 and document.lines[first - 1] == line:
            first -= 1
    return max(first, mention.first - _REACH), min(stop, mention.last + 1 + _REACH)


def _statement(document: Document, term: Term, first: int, stop: int) -> tuple[int, int]:
    """The clause of a mention with what belongs to it: a value, a table row, a clause that goes on with "it"."""
    kind = document.segment_kinds[document.segments[term.first]]
    if kind in (CELL, LABEL):
        return first, stop
    clause_first, clause_stop = document.clause_span(term.first)
    while clause_stop < stop and (
        document.words[clause_stop] in ("it", "which") or document.gaps[clause_stop] in ("–", ":")
    ):
        clause_stop = document.clause_span(clause_stop)[1]
    if clause_first > first and document.gaps[clause_first] in ("–", ":"):
        clause_first = document.clause_span(clause_first - 1)[0]
    return max(clause_first, first), min(clause_stop, stop)


def _named_allergy(document: Document, term: Term, reactions: list[Concept]) -> Outcome:
    """ "penicillin allergy" as such."""
    context = reading(document, term.first, term.last)
    place = (term.first, term.last)
    _, stop = _window(document, term)
    words = document.words
    if context.other_person or context.hypothetical or context.open:
        return Outcome(ABSENT, (place,), "named, but not as a fact about the patient")
    if context.negated:
        return Outcome(CONTRADICTED, (place,), "denied")
    clause = document.clause_span(term.first)
    after = words[term.last + 1 : min(stop, clause[1], term.last + 6)]
    if not _TOLERATED.isdisjoint(after) and "not" not in after:
        return Outcome(CONTRADICTED, (place,), "the allergy label is withdrawn")
    return _with_reaction(document, term, reactions, place)


def _beside_substance(document: Document, term: Term, reactions: list[Concept], substance: Substance) -> Outcome:
    """The substance with an allergy word, a reaction or an allergy heading around it."""
    first, stop = _window(document, term)
    clause_first, clause_stop = _statement(document, term, first, stop)
    place = (term.first, term.last)
    context = reading(document, term.first, term.last)
    if context.other_person:
        return Outcome(ABSENT, (place,), "about another person")
    if context.open:
        return Outcome(ABSENT, (place,), "not asked or not recorded")
    labels = " ".join(document.labels_of(term.first)[:3])
    labelled = any(
        word in labels for word in ("allerg", "sensitiv", "intoleran", "adverse", "reaction", "hypersens", "adr")
    )
    own = _reaction_terms(document, first, stop, reactions)
    worded = not ALLERGY_WORDS.isdisjoint(document.words[clause_first:clause_stop])
    clause = set(document.words[clause_first:clause_stop])
    avoided = not _AVOID.isdisjoint(clause) or ("not" in clause and bool(_TAKE & clause))
    matching = [t for t in own if t.concept.group == "reaction" or any(_same_reaction(t.concept, r) for r in reactions)]
    in_statement = [t for t in matching if clause_first <= t.first < clause_stop]
    caused = bool(in_statement) or any(_caused_by(document, term, t) for t in own)
    if _excepted(document, term):
        return _with_reaction(document, term, reactions, place)
    tests = document.words[clause_first:clause_stop]
    if "negative" in tests or ("without" in tests and "trouble" in tests):
        return Outcome(CONTRADICTED, (place,), "tested negative or tolerated")
    if not (worded or caused) and _does_no_harm(document, clause_first, clause_stop):
        return Outcome(CONTRADICTED, (place,), "tolerated")
    if not (labelled or worded or avoided or caused or own):
        tolerated = [i for i in range(clause_first, clause_stop) if document.words[i] in _TOLERATED]
        if tolerated and not _UNTOLERATED.isdisjoint(
            document.words[max(clause_first, tolerated[0] - 3) : tolerated[0]]
        ):
            return _with_reaction(document, term, reactions, place)  # "not tolerated"
        if tolerated:
            return Outcome(CONTRADICTED, (place,), "tolerated")
        return Outcome(ABSENT, (place,), "named, but not as a cause of a reaction")
    if context.hypothetical:
        return Outcome(ABSENT, (place,), "only possible or asked about")
    if context.negated and not avoided:
        return Outcome(CONTRADICTED, (place,), "denied")
    if reactions:
        denied = [
            t
            for t in own
            if any(_same_reaction(t.concept, r) for r in reactions) and reading(document, t.first, t.last).negated
        ]
        stated = [
            t for t in own if t not in denied and t.concept in reactions and reading(document, t.first, t.last).affirmed
        ]
        if denied and not stated:
            return Outcome(CONTRADICTED, (place, (denied[0].first, denied[0].last)), "the reaction is denied")
    if worded and _negated_allergy_word(document, clause_first, clause_stop):
        return Outcome(CONTRADICTED, (place,), "denied")
    if (
        not (labelled or worded or avoided)
        and own
        and not any(reading(document, t.first, t.last).affirmed for t in own)
    ):
        return Outcome(ABSENT, (place,), "no reaction stated")
    if not (labelled or worded or avoided) and not caused:
        return Outcome(ABSENT, (place,), "named, but not as a cause of a reaction")
    outcome = _with_reaction(document, term, reactions, place)
    if outcome.status == RETAINED and substance.concepts and term.concept not in substance.concepts:
        narrower = any(c.id in term.concept.ancestors for c in substance.concepts)
        return Outcome(PARTIAL, outcome.evidence, "only one of them" if narrower else "only in general terms")
    return outcome


def _does_no_harm(document: Document, first: int, stop: int) -> bool:
    """ "takes aspirin without problems"; not "cannot be tolerated"."""
    for cue in cues_of(document, STATUS_FILE).between("tolerated", first, stop):
        if _UNTOLERATED.isdisjoint(document.words[max(first, cue.first - 3) : cue.first]):
            return True
    return False


_UNTOLERATED = frozenset(("not", "never", "cannot", "no", "poorly", "badly", "if", "whether", "longer"))


def _caused_by(document: Document, substance: Term, reaction: Term) -> bool:
    """ "X gave her a headache", "vomiting after X"; not "treated with X for a sore throat"."""
    if substance.last < reaction.first:
        return not _CAUSES.isdisjoint(document.words[substance.last + 1 : reaction.first])
    between = document.words[reaction.last + 1 : substance.first]
    return bool(between) and len(between) <= 4 and not _AFTER.isdisjoint(between) and "treated" not in between


def _excepted(document: Document, term: Term) -> bool:
    """ "NKDA except X", "no allergies other than X"."""
    before = document.words[max(document.sentence_span(term.first)[0], term.first - 4) : term.first]
    return bool({"except", "besides", "excepting", "barring"} & set(before)) or before[-2:] in (
        ["other", "than"], ["apart", "from"], ["aside", "from"], ["except", "for"],
    )  # fmt: skip


def _negated_allergy_word(document: Document, first: int, stop: int) -> bool:
    return any(
        document.words[i] in ALLERGY_WORDS
        and reading(document, i, i).negated
        and "other" not in document.words[max(first, i - 3) : i]
        for i in range(first, stop)
    )


_REACTION_GROUPS = frozenset(
    ("reaction", "symptom", "respiratory", "dermatological", "haematological", "gastrointestinal")
)


def _reaction_terms(document: Document, first: int, stop: int, wanted: list[Concept]) -> list[Term]:
    return [
        t
        for t in term_index(document).between(CONDITION, first, stop)
        if (t.concept.group in _REACTION_GROUPS or t.concept in wanted) and t.concept.id not in UNSPECIFIC
    ]


def _same_reaction(stated: Concept, wanted: Concept) -> bool:
    if stated is wanted or wanted.id in stated.ancestors or wanted.id in stated.implies or stated.id in wanted.implies:
        return True
    return stated.id in wanted.ancestors and stated.id not in UNSPECIFIC


def _with_reaction(document: Document, term: Term, reactions: list[Concept], place: tuple[int, int]) -> Outcome:
    if not reactions:
        return Outcome(RETAINED, (place,))
    first, stop = _window(document, term)
    stated = _reaction_terms(document, first, stop, reactions)
    if not stated:
        stated = _reaction_terms(document, stop, min(len(document), stop + 18), reactions)
    for wanted in reactions:
        alike = [t for t in stated if _same_reaction(t.concept, wanted)]
        affirmed = [t for t in alike if not reading(document, t.first, t.last).negated]
        denied = [t for t in alike if reading(document, t.first, t.last).negated]
        if affirmed:
            return Outcome(RETAINED, (place, (affirmed[0].first, affirmed[0].last)))
        if denied:
            return Outcome(CONTRADICTED, (place, (denied[0].first, denied[0].last)), "the reaction is denied")
        others = [t for t in stated if t.concept.group == "reaction" and reading(document, t.first, t.last).affirmed]
        if others:
            return Outcome(
                CONTRADICTED,
                (place, (others[0].first, others[0].last)),
                f"{others[0].concept.name} instead of {wanted.name}",
            )
    return Outcome(PARTIAL, (place,), "missing: the reaction")


def _no_allergies(document: Document, substance: Substance) -> Outcome | None:
    """A blanket denial ("NKDA", "Allergies: none") speaks against every drug allergy."""
    for term in blanket_denials(document):
        drug_like = bool(substance.concepts) or term.concept.id == "condition:allergy"
        if drug_like:
            return Outcome(CONTRADICTED, ((term.first, term.last),), "no allergies are stated")
    return None
