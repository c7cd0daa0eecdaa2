"""Medicines: is it taken now, and at the amount, frequency and time of day that the fact states?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pytest_clinical_drift.evidence.facts.fact import Fact
from pytest_clinical_drift.evidence.facts.intake import Taking, taking
from pytest_clinical_drift.evidence.facts.kits import carries_none, carries_others, in_kit, is_kit, kit_alone, names_kit
from pytest_clinical_drift.evidence.facts.last_dose import compare_dates, is_last_dose
from pytest_clinical_drift.evidence.facts.measurement import assess_measurement, is_goal, states_goal
from pytest_clinical_drift.evidence.facts.no_medicine import all_medication_denied
from pytest_clinical_drift.evidence.facts.outcome import (
    ABSENT,
    CONTRADICTED,
    NOTHING,
    PARTIAL,
    RETAINED,
    Outcome,
)
from pytest_clinical_drift.evidence.facts.regimen import Regimen, read_regimen, scope_of
from pytest_clinical_drift.evidence.facts.regimen_comparison import compare
from pytest_clinical_drift.evidence.lexicon import Term
from pytest_clinical_drift.evidence.reading.quantities import amounts
from pytest_clinical_drift.evidence.terms.index import term_index
from pytest_clinical_drift.evidence.terms.vocabulary import DRUG, MEASURE, Concept, word_set
from pytest_clinical_drift.evidence.text import HEADING, LABEL, Document

_FOLLOW = 3  # sentences after a mention in which "it" may still be that medicine


def mentions_of(document: Document, medicine: Concept) -> list[Term]:
    """Where a medicine is named: itself, a combination or brand, a member of the class, or a clipped name."""
    index = term_index(document)
    found = [*index.exact.get(medicine.id, ()), *index.within.get(medicine.id, ())]
    found = [t for t in found if not any(m.last > t.last for m in index.between(MEASURE, t.first, t.first + 1))]
    if medicine.kind == DRUG and not found:
        found += _clipped(document, medicine)
    if not found and len(medicine.contains) == 1:
        # A salt or depot form by the name of its substance: "a monthly paliperidone injection".
        found += [t for substance in medicine.contains for t in index.exact.get(substance, ())]
    return found


def _clipped(document: Document, medicine: Concept) -> Iterator[Term]:
    """ "Bisop 5 mg": at least four letters of the name, followed by a number; or an unknown name as written."""
    names = [medicine.name, *map(str, medicine.data.get("synonyms", ())), *map(str, medicine.data.get("brands", ()))]
    openings = {name[:3] for name in names}
    for position, word in enumerate(document.words):
        if word[:3] not in openings:
            continue
        if word == medicine.name:
            yield Term(medicine, position, position)
        elif 3 <= len(word) < 9 and any(_clips(word, name) for name in names):
            following = document.words[position + 1 : position + 2]
            if following and following[0][:1].isdigit():
                yield Term(medicine, position, position)


def _clips(word: str, name: str) -> bool:
    """Four letters or more of a name, or the first word of one ("MST" of "MST Continus")."""
    return (len(word) >= 4 and len(name) > len(word) + 1 and name.startswith(word)) or name.startswith(word + " ")


def assess_medication(fact: Fact, document: Document) -> Outcome:
    """Status of "this medicine is taken like this"."""
    medicine = fact.medicines[0]
    kit = is_kit(fact)
    mentions = [
        m for m in mentions_of(document, medicine) if in_kit(document, m) == kit or (kit and names_kit(document, m))
    ]
    outcomes = [_assess_mention(fact, document, mention) for mention in mentions]
    decided = _combine(_of_own_name(fact, document, mentions, outcomes))
    if decided.status != ABSENT:
        return _with_measures(fact, document, decided)
    if kit:
        return kit_alone(document) or decided
    by_class = _class_only(fact, document, medicine)
    if by_class.status == ABSENT and not mentions:
        denied = _denied_with_all(document, medicine)
        if denied:
            return Outcome(CONTRADICTED, (denied[0],), "no such medicine is taken")
    return by_class if by_class.status != ABSENT else decided


def _denied_with_all(document: Document, medicine: Concept) -> list[tuple[int, int]]:
    """ "not on any SSRI", "Medication: none": ours is among what is denied."""
    index = term_index(document)
    of_class = [
        (mention.first, mention.last)
        for class_id in sorted(medicine.ancestors)
        for mention in index.exact.get(class_id, ())
        if not mention.weak and taking(document, mention) is Taking.DENIED
    ]
    return of_class or ([] if index.medicines else all_medication_denied(document))


def _with_measures(fact: Fact, document: Document, outcome: Outcome) -> Outcome:
    """ "warfarin, target INR 2.5": the figure that goes with the medicine."""
    if outcome.status != RETAINED:
        return outcome
    for measure, amount in fact.measures:
        found = assess_measurement(document, measure, amount, goal=states_goal(fact.document, measure))
        if found.status == CONTRADICTED:
            return found
        if found.status != RETAINED:
            return Outcome(PARTIAL, outcome.evidence, f"missing: {measure.name}")
    return outcome


def _of_own_name(fact: Fact, document: Document, mentions: list[Term], outcomes: list[Outcome]) -> list[Outcome]:
    """Only the mentions by the fact's own brand, where it is stated: another preparation has another dose."""
    brand = fact.document.words[0]
    if brand == fact.medicines[0].name.lower() or fact.medicines[0].kind != DRUG:
        return outcomes
    own = [o for m, o in zip(mentions, outcomes, strict=True) if document.words[m.first] == brand]
    return own if any(o.status in (RETAINED, PARTIAL) for o in own) else outcomes


def _combine(outcomes: list[Outcome]) -> Outcome:
    """One conflict decides, unless it only says that the medicine was not taken at some other time."""
    conflicts = [o for o in outcomes if o.status == CONTRADICTED]
    stated = [o for o in outcomes if o.status in (RETAINED, PARTIAL)]
    full = [o for o in stated if o.status == RETAINED]
    if conflicts:
        return conflicts[0]
    if full:
        return full[0]
    if stated:
        # A dose in one place and the frequency in another make a whole only within one mention; the first stands.
        return stated[0]
    return outcomes[0] if outcomes else NOTHING


def _assess_mention(fact: Fact, document: Document, mention: Term) -> Outcome:
    state = taking(document, mention)
    place = ((mention.first, mention.last),)
    if state is Taking.DENIED and _not_needed(fact, document, mention):
        state = Taking.NOW
    if state in (Taking.OTHER_PERSON, Taking.POSSIBLE, Taking.ALLERGY, Taking.OPEN):
        return Outcome(ABSENT, place, f"named, but {state.value}")
    if state in (Taking.STOPPED, Taking.DENIED):
        # That it is stopped agrees with when its last dose was; another mention must say when.
        return Outcome(ABSENT if is_last_dose(fact) else CONTRADICTED, place, f"stated as {state.value}")
    regimen = _regimen(document, mention)
    evidence = ((min(mention.first, regimen.first), max(mention.last, regimen.last)),)
    wanted = fact.regimen
    missing: list[str] = []
    if wanted is not None:
        conflict = compare(wanted, regimen, missing)
        if conflict:
            return Outcome(CONTRADICTED, evidence, conflict)
    if is_last_dose(fact):
        dated = compare_dates(fact, document, mention)
        if dated is None:
            missing.append("date")
        elif not dated:
            return Outcome(CONTRADICTED, evidence, "another date")
    medicine = fact.medicines[0]
    if (
        mention.concept is not medicine
        and mention.concept.kind == DRUG
        and medicine.kind == DRUG
        and medicine.id not in mention.concept.contains
        and not (mention.concept.id in medicine.contains and _is_injected(document, mention))
    ):
        missing.append("the medicine itself")
    for part in fact.words:
        if fact.measures and is_goal([part.text.lower()]):
            continue
        if "word:autoinjector" in part.ids and names_kit(document, mention):
            continue
        if "word:carry" in part.ids and carries_none(document, mention):
            return Outcome(CONTRADICTED, evidence, "not carried")
        if "word:carry" in part.ids and carries_others(fact, document, mention):
            return Outcome(CONTRADICTED, evidence, "another number is carried")
        if part.ids or part.stems:
            near = [
                p for p in part.places(document) if abs(document.sentences[p] - document.sentences[mention.first]) <= 1
            ]
            if not near:
                missing.append(part.text)
    if missing:
        return Outcome(PARTIAL, evidence, "missing: " + ", ".join(missing))
    return Outcome(RETAINED, evidence)


def _not_needed(fact: Fact, document: Document, mention: Term) -> bool:
    """ "GTN spray, not needed recently": one taken as needed is there all the same."""
    as_needed = fact.regimen is not None and fact.regimen.per_day == 0
    return as_needed and not {"needed", "required", "used"}.isdisjoint(
        document.words[mention.last + 1 : mention.last + 5]
    )


_INJECTED = frozenset(("injection", "injections", "injected", "depot", "lai", "im", "intramuscular", "jab", "jabs"))


def _is_injected(document: Document, mention: Term) -> bool:
    first, stop = document.sentence_span(mention.first)
    return not _INJECTED.isdisjoint(document.words[max(first, mention.first - 8) : min(stop, mention.last + 10)])


def _regimen(document: Document, mention: Term) -> Regimen:
    """The regimen beside a mention; where none stands there, that of the next sentences up to another medicine."""
    regimen = read_regimen(document, mention)
    if not _FORGOTTEN.isdisjoint(document.words[max(0, mention.first - 4) : mention.first]):
        # "sometimes forgets the midday X": one dose of those that are due
        return replace(regimen, times=tuple(rate for rate in regimen.times if rate.first > mention.last))
    if regimen.strengths or regimen.ratios or regimen.earlier or regimen.planned:
        return regimen
    sentence = document.sentences[mention.first]
    starts = document.sentence_starts
    following = sentence + 1
    while following < len(starts) and following <= sentence + _FOLLOW and _goes_on(document, starts[following]):
        following += 1
    if following == sentence + 1:
        return regimen
    stop = starts[following] if following < len(starts) else len(document)
    stop = _same_item(document, mention.last, min(stop, mention.last + 60))
    further = read_regimen(document, mention, stop=stop)
    return further if further.strengths or further.times else regimen


_FORGOTTEN = frozenset(
    ("forgets", "forgot", "forgotten", "forgetting", "misses", "missed", "missing", "skips", "skipped", "skipping")
)
_REGIMEN_LABELS = word_set("medication", "regimen_labels")
_GOES_ON = word_set("medication", "goes_on")


def _goes_on(document: Document, first: int) -> bool:
    """Whether a sentence still speaks of the medicine before it: "It is taken at night", "Dose: 50 mg"."""
    opening = document.words[first : first + 6]
    if opening[0][:1].isdigit() or not _GOES_ON.isdisjoint(opening):
        return True
    if not _REGIMEN_LABELS.isdisjoint(opening[:2]):
        return True
    stop = min(document.sentence_span(first)[1], first + 40)
    return any(
        first <= a.first < stop and a.unit is not None and a.unit.data["kind"] == "dose" and a.dimension in _DOSED
        for a in amounts(document)
    )


_DOSED = ("mass", "unit")


def _same_item(document: Document, last: int, stop: int) -> int:
    """Where the text stops speaking of the medicine: at the next line, unless that is about its dose."""
    line = document.lines[last]
    for token in range(last + 1, stop):
        if document.lines[token] == line:
            continue
        line = document.lines[token]
        opening = document.words[token : token + 3]
        if _REGIMEN_LABELS.isdisjoint(opening) and not document.words[token][:1].isdigit():
            return token
    return stop


def _class_only(fact: Fact, document: Document, medicine: Concept) -> Outcome:
    """Only the class of the medicine is named: a partial statement, if it is taken now."""
    index = term_index(document)
    for class_id in sorted(medicine.ancestors):
        for mention in index.exact.get(class_id, ()):
            if document.segment_kinds[document.segments[mention.first]] in (LABEL, HEADING):
                continue  # "Contraception: …": what stands below says whether any is taken
            named = not mention.weak and document.words[mention.last + 1 : mention.last + 2] != ["technique"]
            if named and taking(document, mention) is Taking.NOW and not _drug_beside(document, mention):
                return Outcome(PARTIAL, ((mention.first, mention.last),), "only the class is named")
    return NOTHING


def _drug_beside(document: Document, mention: Term) -> bool:
    """A class word that goes with another drug of that class ("the SSRI fluoxetine") does not stand for ours."""
    first, stop = scope_of(document, mention)
    others = term_index(document).medicines_between(max(first, mention.first - 12), min(stop, mention.last + 12))
    if any(t.concept.kind == DRUG and mention.concept.id in t.concept.ancestors for t in others):
        return True
    return any(
        t.concept.kind == DRUG and mention.concept.id in t.concept.ancestors and taking(document, t) is Taking.NOW
        for t in term_index(document).medicines
    )
