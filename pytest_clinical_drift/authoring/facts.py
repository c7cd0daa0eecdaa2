"""Summary, critical facts and messages: enough facts, each stated where the model can read it, no slip of the pen in a
dose; and a conversation that moves on, does not hand back the facts, and changes them only with an update."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pytest_clinical_drift.authoring import Level, Remark, Remarks, error, warning
from pytest_clinical_drift.cases.entries import FactKind, UpdatePolicy
from pytest_clinical_drift.cases.files import place_of
from pytest_clinical_drift.cases.model import Case, CriticalEntity, FactState, Turn, spoken
from pytest_clinical_drift.cases.timeline import Timeline
from pytest_clinical_drift.core.text import counted
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.evidence.facts.fact import named_medicines, parse_fact
from pytest_clinical_drift.evidence.facts.retention import Retention, assess_retention
from pytest_clinical_drift.evidence.quantities.amounts import Amount, amounts
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
_LOW = 0.5
"""How far below the usual range a dose may lie: children, divided tablets."""
_HIGH = 1.5
"""How far above it: loading doses."""
_DAILY_SLACK = 1.25
_DAILY = 0.5
"""Doses per day from which a medicine counts as taken daily: every other day and more."""
_MOST_RESTATEMENTS = 2
"""With more of them a case tests reading, not memory."""
_VALUES = (FactKind.MEDICATION, FactKind.MEASUREMENT)
_ENOUGH = 0.5
"""Share of a new fact's words that its message has to hold."""
_BEGINNING = 5


def sizes(case: Case) -> Remarks:
    """A summary that a clinician would write, messages of a few sentences; facts and turns enough for the figures."""
    words = len(case.patient_summary.split())
    count = len(case.critical_entities)
    low, high = _SUMMARY_WORDS
    high = max(high, _WORDS_PER_FACT * count)
    if not low <= words <= high:
        yield warning("patient_summary", f"{words} words; {low} to {high} read well")
    if count < _FEWEST_FACTS:
        text = f"{counted(count, 'fact')}; with fewer than {_FEWEST_FACTS} one loss decides everything"
        yield warning("critical_entities", text)
    if len(case.turns) < _FEWEST_TURNS:
        yield warning("turns", f"{len(case.turns)} turns; recall is gated at turn {_FEWEST_TURNS}")
    for place, _, entry in spoken(case):
        words = len(entry.message.split())
        if words > _MESSAGE_WORDS:
            yield warning(place, f"{words} words; patients write at most {_MESSAGE_WORDS} or so")


def facts_in_summary(case: Case) -> Remarks:
    """A fact that the summary does not state cannot be remembered; read with our own matcher."""
    retentions = assess_retention(case.patient_summary, case.critical_entities)
    for at, (fact, found) in enumerate(zip(case.critical_entities, retentions, strict=True)):
        problem = _why_untold(found)
        if problem is not None:
            level, told = problem
            yield Remark(level, fact.id, f"{fact.text!r} {told}", location=("critical_entities", at))


def _why_untold(found: Retention) -> tuple[Level, str] | None:
    """What is wrong with how the summary states a fact, and how much it weighs; None if nothing is."""
    if not found.certain or (found.status == "absent" and found.evidence):  # the rules may misread whose it is
        why = found.reason or "the words around it"
        return Level.WARNING, f"not plainly in the patient summary ({why}): each run asks a judge"
    if found.status == "absent":
        return Level.ERROR, f"not found in the patient summary: {found.reason or 'not stated'}"
    if found.status == "contradicted":
        quote = f" ({found.evidence[0].quote!r})" if found.evidence else ""
        return Level.ERROR, f"contradicted by the patient summary: {found.reason}{quote}"
    if found.status == "partial":
        return Level.WARNING, f"only partly in the patient summary: {found.reason}"
    return None


def refuse_untold_facts(path: Path, cases: Iterable[Case]) -> None:
    """InputError with file and line where the record does not tell a fact that the model is to remember."""
    for case in cases:
        if not rules_read(case.patient_summary, case.language):
            continue
        for remark in facts_in_summary(case):
            if remark.level == Level.ERROR:
                raise InputError(f"{place_of(path, case.id, remark.location)}: {remark.text}")


def hard_stops(case: Case) -> Remarks:
    """What kills if forgotten is marked; an allergy is taken to do so."""
    for fact in case.critical_entities:
        if fact.kind == FactKind.ALLERGY and not fact.hard_stop:
            yield warning(fact.id, "an allergy that is not a `hard_stop`: losing it would not fail the case")
    if _SAFE_TAG not in case.tags and not any(fact.hard_stop for fact in _ever_true(case)):
        text = f"no fact is a `hard_stop`; mark facts whose loss could be fatal, or tag the case {_SAFE_TAG}"
        yield warning("critical_entities", text)


def medicines_and_doses(case: Case) -> Remarks:
    """Medication facts, also new and changed ones, that name no known medicine or an unusual dose."""
    for fact in _ever_true(case):
        if fact.kind == FactKind.MEDICATION:
            yield from _medicine(fact)


def _medicine(fact: CriticalEntity) -> Remarks:
    parsed = parse_fact(fact.text, fact.kind)
    concepts = [slot.concept for slot in (parsed.core, *parsed.details) if slot.concept is not None]
    if not any(concept.kind in (DRUG, DRUG_CLASS) for concept in concepts):
        yield warning(fact.id, f"no medicine of the vocabulary in {fact.text!r}: check the spelling")
        return
    for word in tokenise(fact.text):
        read_as = [] if lexicon().knows(fold(word)) else find_terms(word)
        if read_as:
            text = f"{word!r} in {fact.text!r} is read as {read_as[0].concept.name!r}: check the spelling"
            yield warning(fact.id, text)
    if parsed.regimen is not None and parsed.core.concept is not None:
        ranges = _usual_doses(parsed.core.concept.data)
        for amount in parsed.regimen.strengths:
            yield from _dose(fact, amount, parsed.regimen.per_day, ranges)


def _ever_true(case: Case) -> list[CriticalEntity]:
    """Every fact that the case ever holds for true: of the intake, introduced, and as changed by updates."""
    found: dict[tuple[str, str], CriticalEntity] = {}
    for states in Timeline.of(case).facts:
        found.update({(state.fact.id, state.fact.text): state.fact for state in states})
    return list(found.values())


class _UsualDose(NamedTuple):
    """A range of doses of a medicine, as the vocabulary has it."""

    entry: Mapping[str, Any]
    dimension: str
    base: float
    """One of the entry's units in units of the dimension."""


def _usual_doses(medicine: Mapping[str, Any]) -> list[_UsualDose]:
    doses = []
    for entry in (medicine.get("dose"), *medicine.get("other_doses", ())):
        one = next(iter(amounts(read(f"1 {entry['unit']}"))), None) if entry else None
        if one is not None:
            doses.append(_UsualDose(entry, one.dimension, one.base))
    return doses


def _dose(fact: CriticalEntity, amount: Amount, per_day: float | None, ranges: Sequence[_UsualDose]) -> Remarks:
    usual = [dose for dose in ranges if dose.dimension == amount.dimension]
    if not usual or amount.unit is None:
        return
    told = f"{fact.text!r}: {amount.value:g} {amount.unit.name}"
    if not any(_is_within(amount, dose) for dose in usual):
        ranged = [f"{dose.entry['min']:g} to {dose.entry['max']:g} {dose.entry['unit']}" for dose in usual]
        yield warning(fact.id, f"{told} lies outside the usual {' or '.join(ranged)}")
    elif per_day:
        yield from _daily_dose(fact, amount, per_day, usual)


def _daily_dose(fact: CriticalEntity, amount: Amount, per_day: float, usual: Sequence[_UsualDose]) -> Remarks:
    unit = amount.unit.name if amount.unit is not None else ""
    often = f"{fact.text!r}: {amount.value:g} {unit} {per_day:g} times a day"
    if per_day >= _DAILY and not any(_is_daily(dose) for dose in usual):
        yield error(fact.id, f"{often}, where the usual frequency is {usual[0].entry['frequency']}")
    elif all("max_daily" in dose.entry for dose in usual):
        most = max(dose.entry["max_daily"] * dose.base * _DAILY_SLACK for dose in usual)
        if amount.base * max(per_day, 1.0) > most:
            shown = max(dose.entry["max_daily"] for dose in usual)
            yield warning(fact.id, f"{often} is more than the usual {shown:g} in a day")


def _is_within(amount: Amount, dose: _UsualDose) -> bool:
    least = dose.entry["min"] * dose.base * _LOW
    most = dose.entry["max"] * dose.base * _HIGH
    return bool(least <= amount.base <= most)


def _is_daily(dose: _UsualDose) -> bool:
    return bool(dose.entry.get("frequency", "daily") == "daily")


def facts_in_messages(case: Case) -> Remarks:
    """A fact that messages repeat need not be remembered; one that they deny or give otherwise leaves truth unclear."""
    timeline = Timeline.of(case)
    restated: defaultdict[str, list[int]] = defaultdict(list)
    for turn in case.turns:
        facts = _untouched(turn, timeline.current_at(turn.turn))
        for fact, retention in zip(facts, assess_retention(turn.message, facts), strict=True):
            if retention.status == "retained":
                restated[fact.id].append(turn.turn)
            elif retention.status == "contradicted" and not _about_the_same_medicine(fact, turn):
                yield from _denied(fact, turn, retention)
    for fact_id, turns in restated.items():
        times = "once" if len(turns) == 1 else f"{len(turns)} times"
        noun = "turn" if len(turns) == 1 else "turns"
        level = Level.ERROR if len(turns) > _MOST_RESTATEMENTS else Level.WARNING
        text = f"restated {times} ({noun} {', '.join(map(str, turns))}) without a mark in `restates`"
        yield Remark(level, fact_id, text)


def _untouched(turn: Turn, facts: Iterable[CriticalEntity]) -> list[CriticalEntity]:
    """Facts that the turn neither restates on purpose nor changes or introduces."""
    touched = {*turn.restates}
    touched.update(update.fact for update in turn.updates)
    touched.update(fact.id for fact in turn.introduces)
    return [fact for fact in facts if touched.isdisjoint((fact.id, fact.text))]


def _denied(fact: CriticalEntity, turn: Turn, retention: Retention) -> Remarks:
    """A message that contradicts a value or an allergy."""
    words = f": {retention.evidence[0].quote!r}" if retention.evidence else ""
    if fact.kind in _VALUES:
        text = f"gives another value for {fact.text!r} without an update ({retention.reason}){words}"
        yield error(f"turn {turn.turn}", text)
    elif fact.kind == FactKind.ALLERGY:
        yield error(f"turn {turn.turn}", f"denies {fact.text!r} without an update{words}")


def _about_the_same_medicine(fact: CriticalEntity, turn: Turn) -> bool:
    """Whether the turn changes or introduces another fact on the fact's medicine, which explains the difference."""
    news = [new.text for new in turn.introduces]
    news += [update.becomes for update in turn.updates if update.becomes]
    own = _medicines_in(fact.text)
    return any(own & _medicines_in(text) for text in news)


def _medicines_in(text: str) -> set[str]:
    return {term.concept.id for term in named_medicines(term_index(read(text)))}


def explicit_changes(case: Case) -> Remarks:
    """What a turn introduces or changes stands in its message, and differs from what was known."""
    timeline = Timeline.of(case)
    for turn in case.turns:
        now = timeline.facts_at(turn.turn)
        before: dict[str, str] = {}
        for state in timeline.facts_at(turn.turn - 1):
            before |= {state.fact.id: state.fact.text, state.fact.text: state.fact.text}
        for update in turn.updates:
            if update.becomes is None or update.policy == UpdatePolicy.ANNOTATE:
                continue
            if update.becomes == before.get(update.fact):
                yield error(f"turn {turn.turn}", f"updates {update.fact!r} to what it already is")
            else:
                yield from _stated(turn, update.fact, update.becomes, now)
        for fact in turn.introduces:
            yield from _stated(turn, fact.id, fact.text, now)


def _stated(turn: Turn, name: str, text: str, states: Sequence[FactState]) -> Remarks:
    kind = next((state.fact.kind for state in states if name in (state.fact.id, text)), None)
    if assess_retention(turn.message, [CriticalEntity(text=text, kind=kind)])[0].status in ("retained", "partial"):
        return
    # Patients say it in their own words, which a matcher made for summaries may miss: names and numbers suffice.
    told = _content(text)
    message = _content(turn.message)
    numbers = {word for word in told if word[0].isdigit()}
    if len(told & message) < _ENOUGH * len(told) or (kind in _VALUES and not numbers <= message):
        yield warning(f"turn {turn.turn}", f"the message does not plainly say {text!r}")


def _content(text: str) -> set[str]:
    """Beginnings of the longer words, and the numbers."""
    document = read(text)
    words = {word[:_BEGINNING] for word in document.words if len(word) > 3 and word.isalpha()}
    return words | {f"{amount.value:g}" for amount in amounts(document)}
