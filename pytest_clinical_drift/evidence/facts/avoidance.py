"""Medicines that the patient no longer takes, or must not take."""

from __future__ import annotations

from pytest_clinical_drift.evidence.contexts.mentions import reading
from pytest_clinical_drift.evidence.facts.condition import FULL, find_condition
from pytest_clinical_drift.evidence.facts.fact import Fact, fillers
from pytest_clinical_drift.evidence.facts.intake import Taking, taking
from pytest_clinical_drift.evidence.facts.kinds import word_lists
from pytest_clinical_drift.evidence.facts.medication import mentions_of
from pytest_clinical_drift.evidence.facts.outcome import ABSENT, CONTRADICTED, NOTHING, PARTIAL, RETAINED, Outcome
from pytest_clinical_drift.evidence.facts.permission import Stance, is_asked_about, stance
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
    if _avoids_with(fact):
        return _avoided_with(fact, document)
    medicine = fact.medicines[0]
    kept: list[Outcome] = []
    against: list[Outcome] = []
    for mention in mentions_of(document, medicine):
        context = reading(document, mention.first, mention.last)
        if context.other_person or is_asked_about(document, mention.first):
            continue
        place = ((mention.first, mention.last),)
        said = stance(document, mention.first, mention.last)
        now = taking(document, mention) is Taking.NOW
        if said is Stance.TAKEN and now:
            return Outcome(CONTRADICTED, place, f"{mention.concept.name} is taken")
        if said is Stance.ALLOWED or (said is Stance.ACCEPTED and now):
            against.append(Outcome(CONTRADICTED, place, "stated as allowed"))
        elif said in (Stance.FORBIDDEN, Stance.REFUSED) or context.negated or _near_avoidance(document, mention):
            kept.append(Outcome(RETAINED, place))
        elif now and mention.concept is not medicine:
            against.append(Outcome(CONTRADICTED, place, f"{mention.concept.name} is taken"))
    if kept or against:
        return (kept or against)[0]
    for above in sorted(medicine.ancestors):
        for mention in index.exact.get(above, ()):
            said = stance(document, mention.first, mention.last)
            if said is Stance.FORBIDDEN or (said is None and _near_avoidance(document, mention)):
                return Outcome(PARTIAL, ((mention.first, mention.last),), "only in general terms")
    return NOTHING


_ALONGSIDE = frozenset(("with", "while", "when", "on", "during", "after"))


def _avoids_with(fact: Fact) -> bool:
    """ "avoid alcohol with metronidazole": what is avoided is not the medicine."""
    words = fact.document.words
    named = min((m.first for m in term_index(fact.document).medicines), default=0)
    return (
        named > 1 and words[named - 1] in (*_ALONGSIDE, "taking", "taken") and words[named - 2 : named - 1] != ["avoid"]
    )


def _avoided_with(fact: Fact, document: Document) -> Outcome:
    """Status of avoiding something beside a medicine, by what is said of the something."""
    named = min(m.first for m in term_index(fact.document).medicines)
    objects = [
        w for w in fact.document.words[:named] if w not in _AVOIDED and w not in _ALONGSIDE and w not in fillers()
    ]
    against: Outcome = NOTHING
    for token in [token for word in objects for token in term_index(document).places(word)]:
        said = stance(document, token, token)
        place = ((token, token),)
        if said in (Stance.FORBIDDEN, Stance.REFUSED) or (said is None and reading(document, token, token).denied):
            return Outcome(RETAINED, place)
        if said in (Stance.ALLOWED, Stance.ACCEPTED, Stance.TAKEN):
            against = Outcome(CONTRADICTED, place, "stated as allowed")
    return against


def _near_avoidance(document: Document, mention: Term) -> bool:
    """Words of caution around a mention, in its clause."""
    first, stop = document.clause_span(mention.first)
    words = document.words[max(first, mention.first - 12) : min(stop, mention.last + 12)]
    return not _AVOIDED.isdisjoint(words)


def is_refusal(fact: Fact) -> bool:
    """Whether the fact is that the patient does not want a medicine ("declines benzodiazepines")."""
    refused = fact.kind in ("medication", "avoid", "social") and bool(fact.medicines) and not fact.conditions
    return refused and any("word:refuse" in part.ids for part in fact.words)


def assess_refusal(fact: Fact, document: Document, outcome: Outcome) -> Outcome:
    """Status of a refusal: by what is said of taking the medicine, else as the words of the fact were found."""
    against: Outcome | None = None
    for mention in mentions_of(document, fact.medicines[0]):
        said = stance(document, mention.first, mention.last)
        state = taking(document, mention)
        place = ((mention.first, mention.last),)
        if state is Taking.OTHER_PERSON or state is Taking.OPEN:
            continue
        if said is Stance.REFUSED or (said is None and state is Taking.DENIED):
            return Outcome(RETAINED, place)
        if said in (Stance.TAKEN, Stance.ACCEPTED) or (state is Taking.NOW and said is not Stance.FORBIDDEN):
            against = against or Outcome(CONTRADICTED, place, f"{mention.concept.name} is taken")
    if against is not None:
        return against
    missing = outcome.status == PARTIAL and any(part.text in outcome.reason for part in fact.words)
    return Outcome(ABSENT, outcome.evidence, "named in another connection") if missing else outcome
