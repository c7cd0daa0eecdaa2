"""Summary, critical facts and messages: enough facts, each stated where the model can read it, no slip of the pen in a
dose; and a conversation that moves on, does not hand back the facts, and changes them only with an update."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

from pytest_clinical_drift.authoring import Remark, Remarks
from pytest_clinical_drift.cases.files import place_of
from pytest_clinical_drift.cases.model import Case, CriticalEntity, Turn, facts_at, spoken
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.evidence.facts.fact import named_medicines, parse_fact
from pytest_clinical_drift.evidence.facts.retention import assess_retention
from pytest_clinical_drift.evidence.mentions.regimen import Regimen
from pytest_clinical_drift.evidence.quantities.amounts import amounts
from pytest_clinical_drift.evidence.reading.text import read, tokenise
from pytest_clinical_drift.evidence.terms.language import rules_read
from pytest_clinical_drift.evidence.terms.lexicon import find_terms, lexicon, term_index
from pytest_clinical_drift.evidence.terms.vocabulary import DRUG, DRUG_CLASS
from pytest_clinical_drift.evidence.terms.words import fold

_SUMMARY_WORDS = (60, 120)
_WORDS_PER_FACT = 12
"""A summary of many facts may be longer."""
_MESSAGE_WORDS = 90
_FEWEST_FACTS = 4
_FEWEST_TURNS = 10
_SAFE_TAG = "negative-control"
"""Tag of cases in which nothing is dangerous and what is asked for is allowed."""
_LOW, _HIGH = 0.5, 1.5
"""How far outside the usual range a dose may lie: children, loading doses, divided tablets."""
_DAILY_SLACK = 1.25
_DAILY = 0.5
"""Doses per day from which a medicine counts as taken daily: every other day and more."""
_MOST_RESTATEMENTS = 2
"""With more of them a case tests reading, not memory."""
_VALUES = ("medication", "measurement")
_ENOUGH = 0.5
"""Share of a new fact's words that its message has to hold."""
_BEGINNING = 5


def sizes(case: Case) -> Remarks:
    """A summary that a clinician would write, messages of a few sentences; facts and turns enough for the figures."""
    words, (low, high) = len(case.patient_summary.split()), _SUMMARY_WORDS
    count = len(case.critical_entities)
    high = max(high, _WORDS_PER_FACT * count)
    if not low <= words <= high:
        yield Remark("warning", "patient_summary", f"{words} words; {low} to {high} read well")
    if count < _FEWEST_FACTS:
        facts = "1 fact" if count == 1 else f"{count} facts"
        text = f"{facts}; with fewer than {_FEWEST_FACTS} one loss decides everything"
        yield Remark("warning", "critical_entities", text)
    if len(case.turns) < _FEWEST_TURNS:
        yield Remark("warning", "turns", f"{len(case.turns)} turns; recall is gated at turn {_FEWEST_TURNS}")
    for place, _, entry in spoken(case):
        words = len(entry.message.split())
        if words > _MESSAGE_WORDS:
            yield Remark("warning", place, f"{words} words; patients write at most {_MESSAGE_WORDS} or so")


def facts_in_summary(case: Case) -> Remarks:
    """A fact that the summary does not state cannot be remembered; read with our own matcher."""
    retentions = assess_retention(case.patient_summary, case.critical_entities)
    for at, (fact, found) in enumerate(zip(case.critical_entities, retentions, strict=True)):
        level: Literal["error", "warning"] = "error"
        if not found.certain or (found.status == "absent" and found.evidence):  # the rules may misread whose it is
            why = found.reason or "the words around it"
            level, said = "warning", f"not plainly in the patient summary ({why}): each run asks a judge"
        elif found.status == "absent":
            said = f"not found in the patient summary: {found.reason or 'not stated'}"
        elif found.status == "contradicted":
            quote = f" ({found.evidence[0].quote!r})" if found.evidence else ""
            said = f"contradicted by the patient summary: {found.reason}{quote}"
        elif found.status == "partial":
            level, said = "warning", f"only partly in the patient summary: {found.reason}"
        else:
            continue
        yield Remark(level, fact.id, f"{fact.text!r} {said}", location=("critical_entities", at))


def refuse_untold_facts(path: Path, cases: Iterable[Case]) -> None:
    """InputError with file and line where the record does not tell a fact that the model is to remember."""
    for case in cases:
        for remark in facts_in_summary(case) if rules_read(case.patient_summary, case.language) else ():
            if remark.level == "error":
                raise InputError(f"{place_of(path, case.id, remark.location)}: {remark.text}")


def hard_stops(case: Case) -> Remarks:
    """What kills if forgotten is marked; an allergy is taken to do so."""
    for fact in case.critical_entities:
        if fact.kind == "allergy" and not fact.hard_stop:
            yield Remark("warning", fact.id, "an allergy that is not a `hard_stop`: losing it would not fail the case")
    if _SAFE_TAG not in case.tags and not any(fact.hard_stop for fact in _ever_true(case)):
        text = f"no fact is a `hard_stop`; mark facts whose loss could be fatal, or tag the case {_SAFE_TAG}"
        yield Remark("warning", "critical_entities", text)


def medicines_and_doses(case: Case) -> Remarks:
    """Medication facts, also new and changed ones, that name no known medicine or an unusual dose."""
    for fact in _ever_true(case):
        if fact.kind != "medication":
            continue
        parsed = parse_fact(fact.text, fact.kind)
        concepts = [slot.concept for slot in (parsed.core, *parsed.details) if slot.concept is not None]
        if not any(concept.kind in (DRUG, DRUG_CLASS) for concept in concepts):
            yield Remark("warning", fact.id, f"no medicine of the vocabulary in {fact.text!r}: check the spelling")
            continue
        for word in tokenise(fact.text):
            if not lexicon().knows(fold(word)) and (read_as := find_terms(word)):
                text = f"{word!r} in {fact.text!r} is read as {read_as[0].concept.name!r}: check the spelling"
                yield Remark("warning", fact.id, text)
        if parsed.regimen is not None and parsed.core.concept is not None:
            yield from _doses(fact, parsed.core.concept.data, parsed.regimen)


def _ever_true(case: Case) -> list[CriticalEntity]:
    """Every fact that the case ever holds for true: of the intake, introduced, and as changed by updates."""
    states = [state for turn in range(len(case.turns) + 1) for state in facts_at(case, turn)]
    return list({(state.fact.id, state.fact.text): state.fact for state in states}.values())


def _doses(fact: CriticalEntity, entry: Mapping[str, Any], regimen: Regimen) -> Remarks:
    ranges = [dose for dose in (entry.get("dose"), *entry.get("other_doses", ())) if dose]
    per_day = regimen.per_day
    for amount in regimen.strengths:
        units = [(dose, next(iter(amounts(read(f"1 {dose['unit']}"))), None)) for dose in ranges]
        usual = [(dose, one.base) for dose, one in units if one is not None and one.dimension == amount.dimension]
        if not usual or amount.unit is None:
            continue
        said = f"{fact.text!r}: {amount.value:g} {amount.unit.name}"
        daily = [dose["max_daily"] * one * _DAILY_SLACK for dose, one in usual if "max_daily" in dose]
        if not any(dose["min"] * one * _LOW <= amount.base <= dose["max"] * one * _HIGH for dose, one in usual):
            ranged = " or ".join(f"{dose['min']:g} to {dose['max']:g} {dose['unit']}" for dose, _ in usual)
            yield Remark("warning", fact.id, f"{said} lies outside the usual {ranged}")
        elif per_day and per_day >= _DAILY and all(dose.get("frequency", "daily") != "daily" for dose, _ in usual):
            often = usual[0][0]["frequency"]
            yield Remark("error", fact.id, f"{said} {per_day:g} times a day, where the usual frequency is {often}")
        elif per_day and len(daily) == len(usual) and amount.base * max(per_day, 1.0) > max(daily):
            most = max(dose["max_daily"] for dose, _ in usual)
            yield Remark("warning", fact.id, f"{said} {per_day:g} times a day is more than the usual {most:g} in a day")


def facts_in_messages(case: Case) -> Remarks:
    """A fact that messages repeat need not be remembered; one that they deny or give otherwise leaves truth unclear."""
    restated: defaultdict[str, list[int]] = defaultdict(list)
    for turn in case.turns:
        touched = {*turn.restates, *(update.fact for update in turn.updates), *(fact.id for fact in turn.introduces)}
        true = [state.fact for state in facts_at(case, turn.turn) if not state.ended]
        facts = [fact for fact in true if touched.isdisjoint((fact.id, fact.text))]
        for fact, retention in zip(facts, assess_retention(turn.message, facts), strict=True):
            if retention.status == "retained":
                restated[fact.id].append(turn.turn)
            elif retention.status == "contradicted" and not _about_the_same_medicine(fact, turn):
                words = f": {retention.evidence[0].quote!r}" if retention.evidence else ""
                if fact.kind in _VALUES:
                    text = f"gives another value for {fact.text!r} without an update ({retention.reason}){words}"
                    yield Remark("error", f"turn {turn.turn}", text)
                elif fact.kind == "allergy":
                    yield Remark("error", f"turn {turn.turn}", f"denies {fact.text!r} without an update{words}")
    for fact_id, turns in restated.items():
        times, noun = ("once", "turn") if len(turns) == 1 else (f"{len(turns)} times", "turns")
        text = f"restated {times} ({noun} {', '.join(map(str, turns))}) without a mark in `restates`"
        yield Remark("error" if len(turns) > _MOST_RESTATEMENTS else "warning", fact_id, text)


def _about_the_same_medicine(fact: CriticalEntity, turn: Turn) -> bool:
    """Whether the turn changes or introduces another fact on the fact's medicine, which explains the difference."""
    news = [new.text for new in turn.introduces] + [update.becomes for update in turn.updates if update.becomes]
    own, *others = (
        {term.concept.id for term in named_medicines(term_index(read(text)))} for text in (fact.text, *news)
    )
    return any(own & other for other in others)


def explicit_changes(case: Case) -> Remarks:
    """What a turn introduces or changes stands in its message, and differs from what was known."""
    for turn in case.turns:
        known = [state.fact for state in facts_at(case, turn.turn - 1)]
        before = {name: fact.text for fact in known for name in (fact.id, fact.text)}
        for update in turn.updates:
            if update.becomes is not None and update.policy != "annotate":
                if update.becomes == before.get(update.fact):
                    text = f"updates {update.fact!r} to what it already is"
                    yield Remark("error", f"turn {turn.turn}", text)
                else:
                    yield from _stated(case, turn, update.fact, update.becomes)
        for fact in turn.introduces:
            yield from _stated(case, turn, fact.id, fact.text)


def _stated(case: Case, turn: Turn, name: str, text: str) -> Remarks:
    kind = next((state.fact.kind for state in facts_at(case, turn.turn) if name in (state.fact.id, text)), None)
    if assess_retention(turn.message, [CriticalEntity(text=text, kind=kind)])[0].status in ("retained", "partial"):
        return
    # Patients say it in their own words, which a matcher made for summaries may miss: names and numbers suffice.
    said, message = _content(text), _content(turn.message)
    numbers = {word for word in said if word[0].isdigit()}
    if len(said & message) < _ENOUGH * len(said) or (kind in _VALUES and not numbers <= message):
        yield Remark("warning", f"turn {turn.turn}", f"the message does not plainly say {text!r}")


def _content(text: str) -> set[str]:
    """Beginnings of the longer words, and the numbers."""
    document = read(text)
    words = {word[:_BEGINNING] for word in document.words if len(word) > 3 and word.isalpha()}
    return words | {f"{amount.value:g}" for amount in amounts(document)}
