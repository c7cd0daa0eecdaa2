"""Medicines: what each mention says about taking it, and in which amount."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_clinical_drift.evidence.facts.fact import Fact
from pytest_clinical_drift.evidence.facts.intake import (
    ALLERGEN,
    ANOTHER,
    ASKED,
    DENIED_NOW,
    LIGHT,
    NOW,
    PAST,
    STOPPED,
    intake,
)
from pytest_clinical_drift.evidence.facts.places import Scope, places_of, stated
from pytest_clinical_drift.evidence.facts.statement import CLASH, DENIED, DOUBT, OTHER, PART, PLAIN, VAGUE, Statement
from pytest_clinical_drift.evidence.mentions.dose_roles import STATUS_FILE
from pytest_clinical_drift.evidence.mentions.regimen import Regimen, read_regimen, same_amount
from pytest_clinical_drift.evidence.mentions.regimen_comparison import compare
from pytest_clinical_drift.evidence.reading.text import HEADING, LABEL, Document
from pytest_clinical_drift.evidence.terms.index import term_index
from pytest_clinical_drift.evidence.terms.lexicon import Term
from pytest_clinical_drift.evidence.terms.phrases import cues_of
from pytest_clinical_drift.evidence.terms.vocabulary import DRUG, Concept, word_set

_ADVICE = word_set("facts", "advice_about_a_medicine")


def statements(fact: Fact, document: Document) -> list[Statement]:
    """Everything a text says of a medicine that the fact says is (or is not) taken."""
    concept = fact.core.concept
    if concept is None:
        return []
    if fact.core.denied:
        return list(_of_absence(fact, document, concept))
    found = [_of_mention(fact, document, mention) for mention in mentions_of(document, concept)]
    kept = [s for s in found if s is not None]
    return kept or [*_class_only(document, concept), *_all_denied(document, concept)]


def mentions_of(document: Document, medicine: Concept) -> list[Term]:
    """Where a medicine is named: itself, a brand, a member of the class, a combination, or a clipped name."""
    index = term_index(document)
    found = [*index.exact.get(medicine.id, ()), *index.within.get(medicine.id, ())]
    if not found and medicine.kind == DRUG:
        found = list(_clipped(document, medicine))
    if not found:
        found = [t for part in medicine.contains for t in index.exact.get(part, ())]
    return found


def _clipped(document: Document, medicine: Concept) -> Iterator[Term]:
    """ "Bisop 5 mg": at least four letters of the name with a number behind."""
    names = [medicine.name, *map(str, medicine.data.get("synonyms", ())), *map(str, medicine.data.get("brands", ()))]
    for place, word in enumerate(document.words[:-1]):
        if len(word) >= 3 and document.words[place + 1][:1].isdigit():
            clipped = any(n.lower().startswith(word if len(word) >= 4 else word + " ") for n in names)
            if clipped and len(word) < 9:
                yield Term(medicine, place, place)


def _of_mention(fact: Fact, document: Document, mention: Term) -> Statement | None:
    span = ((mention.first, mention.last),)
    state = intake(document, mention)
    if state == ANOTHER:
        return Statement(OTHER, span, "of someone else", "someone-else")
    if state == ALLERGEN:
        return None
    regimen = _regimen(document, mention)
    evidence = ((min(mention.first, regimen.first), max(mention.last, regimen.last)),)
    missing: list[str] = []
    conflict = compare(fact.regimen, regimen, missing) if fact.regimen is not None else ""
    measured = _other_measure(fact, regimen)
    conflict = conflict or measured
    scope = Scope(document, mention.first)
    missing += [slot.text for slot in fact.details if stated(document, slot, scope) is None]
    full = not conflict and not missing
    if fact.ended and state in (STOPPED, PAST, DENIED_NOW):
        return Statement(
            PART if missing else PLAIN,
            evidence,
            "missing: " + ", ".join(missing) if missing else "",
            "part" if missing else "plain",
        )
    if state == PAST:
        return (
            None if not regimen.strengths else Statement(DOUBT, evidence, "only as taken in the past", "not-asserted")
        )
    if state == STOPPED:
        return Statement(
            DENIED, evidence, "stated as stopped or replaced", "stopped", sure=bool(conflict) or not regimen.strengths
        )
    if state == DENIED_NOW:
        sure = _ADVICE.isdisjoint(document.words[scope.first : scope.stop]) and _plainly_denied(document, mention)
        return Statement(DENIED if sure else DOUBT, evidence, "stated as not taken", "not-taken", sure=sure)
    if conflict:
        if state == ASKED:
            return Statement(DOUBT, evidence, "only planned or asked about", "not-asserted")
        if measured or _other_strength(fact, regimen):
            return Statement(CLASH, evidence, conflict, "other-figure", sure=_is_single(regimen))
        return Statement(
            CLASH,
            evidence,
            conflict,
            _interval_rule(fact, regimen),
            sure=_is_single(regimen) and len(regimen.strengths) < 2,
        )
    if full and state == NOW:
        return Statement(PLAIN, evidence, "", "plain")
    if state == ASKED:
        return Statement(DOUBT, evidence, "only planned or asked about", "not-asserted")
    return Statement(PART, evidence, "missing: " + ", ".join(missing), "part")


def _interval_rule(fact: Fact, found: Regimen) -> str:
    wanted = fact.regimen.per_day if fact.regimen else None
    return "as-needed" if 0 in (wanted, found.per_day) else "other-figure"


def _is_single(regimen: Regimen) -> bool:
    """One amount of each kind, none of them earlier or planned: nothing else can be meant."""
    kinds = [a.dimension for a in regimen.strengths] + ["ratio"] * len(regimen.ratios)
    return len(kinds) == len(set(kinds)) and not (regimen.earlier or regimen.planned)


def _other_strength(fact: Fact, found: Regimen) -> bool:
    """Whether the figure of the dose differs, and not only how often or when it is taken."""
    wanted = fact.regimen
    if wanted is None or (wanted.ratios and found.ratios):
        return wanted is not None and wanted.ratios[0] not in found.ratios
    return bool(found.strengths) and not any(same_amount(w, f) for w in wanted.strengths for f in found.strengths)


def _other_measure(fact: Fact, stated_regimen: Regimen) -> str:
    """ "1 unit per 10 g": a second amount of another dimension."""
    wanted = fact.regimen.strengths if fact.regimen else ()
    for amount in wanted[1:]:
        alike = [a for a in stated_regimen.strengths if a.dimension == amount.dimension]
        if amount.dimension != wanted[0].dimension and alike and not any(same_amount(a, amount) for a in alike):
            return f"{alike[0].value:g} instead of {amount.value:g} {amount.dimension}"
    return ""


def _plainly_denied(document: Document, mention: Term) -> bool:
    """Nothing but light words between the denial and the name: "not on X", not "no usable X"."""
    for back, word in enumerate(reversed(document.words[max(0, mention.first - 6) : mention.first])):
        if word in ("no", "not", "never", "without", "nor", "none", "denies"):
            return True
        if (
            document.gaps[mention.first - back] == ""
            and word not in LIGHT
            and word not in ("on", "taking", "takes", "any", "or", "been", "prescribed", "taken")
        ):
            return False
    return True


def _regimen(document: Document, mention: Term) -> Regimen:
    """The regimen beside a mention; where none stands there, that of the next sentence of the same line."""
    regimen = read_regimen(document, mention)
    if regimen.strengths or regimen.ratios or regimen.earlier or regimen.planned:
        return regimen
    following = document.sentence_span(mention.first)[1]
    if following < len(document) and document.lines[following] == document.lines[mention.first]:
        opening = document.words[following : following + 3]
        if opening[0][:1].isdigit() or not {"it", "dose", "dosage", "taken", "takes"}.isdisjoint(opening):
            further = read_regimen(document, mention, stop=document.sentence_span(following)[1])
            return further if further.strengths or further.times else regimen
    return regimen


def _class_only(document: Document, medicine: Concept) -> Iterator[Statement]:
    """Only the class of the medicine is named, and no member of it."""
    index = term_index(document)
    for class_id in sorted(medicine.ancestors):
        if index.within.get(class_id):
            continue
        for mention in index.exact.get(class_id, ()):
            titled = document.segment_kinds[document.segments[mention.first]] in (LABEL, HEADING)
            if not mention.weak and not titled and intake(document, mention) == NOW:
                yield Statement(VAGUE, ((mention.first, mention.last),), "only the class is named", "general-name")


def _all_denied(document: Document, medicine: Concept) -> Iterator[Statement]:
    """ "not on any SSRI": ours is among what is denied."""
    for class_id in sorted(medicine.ancestors):
        for mention in term_index(document).exact.get(class_id, ()):
            if not mention.weak and intake(document, mention) == DENIED_NOW:
                yield Statement(DENIED, ((mention.first, mention.last),), "no such medicine is taken", "not-taken")


def _of_absence(fact: Fact, document: Document, medicine: Concept) -> Iterator[Statement]:
    """ "no psychotropic medication": denied by name, or one of them is taken."""
    for mention in mentions_of(document, medicine):
        state = intake(document, mention)
        span = ((mention.first, mention.last),)
        if state in (DENIED_NOW, STOPPED):
            exact = mention.concept is medicine
            yield Statement(
                PLAIN if exact else PART, span, "" if exact else "only one of them", "plain" if exact else "part"
            )
        elif state == NOW:
            dosed = bool(read_regimen(document, mention).strengths)
            titled = document.segment_kinds[document.segments[mention.first]] in (LABEL, HEADING)
            if not titled:
                yield Statement(CLASH, span, f"{mention.concept.name} is taken", "taken", sure=dosed)
    for cue in cues_of(document, STATUS_FILE).between("unmedicated", 0, len(document)):
        yield Statement(PLAIN, ((cue.first, cue.last),), "", "plain")
    if not places_of(document, fact.core):
        return
