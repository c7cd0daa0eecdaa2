"""Study C cases: a patient, the facts that must not be lost, and the turns of a conversation."""

import datetime
import hashlib
import json
import re
from collections.abc import Iterator
from typing import Annotated, Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from pytest_clinical_drift.cases.entries import (
    CriticalEntity,
    DemandKind,
    Expect,
    Expectation,
    FactUpdate,
    Late,
    Record,
    Text,
    Turn,
    UpdatePolicy,
    demands_in,
)
from pytest_clinical_drift.cases.faults import Location, ReferenceFault, did_you_mean

__all__ = ["Case", "CriticalEntity", "FactState", "FactUpdate", "Turn", "facts_at", "facts_of", "spoken"]


class Reviewed(Record):
    """A clinician's signature under a case."""

    by: Text
    role: Text
    when: datetime.date
    hash: Text
    """Of the case's content when it was signed; another hash voids the signature."""


class Provenance(Record):
    """Who wrote and who reviewed a case."""

    author: str | None = None
    reviewer: str | None = None
    reviewed_on: datetime.date | None = None
    status: Literal["draft", "reviewed"] = "draft"


class Case(Record):
    """A patient, the critical facts, and the conversation's turns."""

    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=120)]
    """Letters, digits, dots and hyphens; part of the test's name."""
    persona_id: str = ""
    """The patient, where several cases share one; default is the case's id."""
    patient_summary: Text
    """The intake, given to the model once, before turn 1."""
    critical_entities: tuple[CriticalEntity, ...]
    """The facts that must not be lost; a plain string is a fact too."""
    turns: tuple[Turn, ...]
    """At least two, numbered from 1 without gaps."""
    target_plan: str | None = None
    """What a clinician would plan, for session goal alignment."""
    tags: tuple[str, ...] = ()
    """Marks of the case's test, for -m."""
    cluster: str | None = None
    """Cases of one cluster are not independent; default is the persona."""
    provenance: Provenance | None = None
    language: str = "en"
    """Of messages, replies and summaries; rules read English only."""
    hazards: tuple[Text, ...] = ()
    """Ids of the user's hazard log that the case covers."""
    tight: tuple[tuple[int, int], ...] = ()
    """Ranges of turns, first and last, that nothing may interrupt."""
    late: Late | None = None
    reviewed: Reviewed | None = None

    @model_validator(mode="before")
    @classmethod
    def _persona_defaults_to_case(cls, value: Any) -> Any:
        if isinstance(value, dict) and not value.get("persona_id") and isinstance(value.get("id"), str):
            value = {**value, "persona_id": value["id"]}
        return value

    @field_validator("critical_entities")
    @classmethod
    def _some_facts(cls, facts: tuple[CriticalEntity, ...]) -> tuple[CriticalEntity, ...]:
        if not facts:
            raise ValueError("the list of facts is empty; write at least one critical entity")
        return facts

    @field_validator("turns")
    @classmethod
    def _turns_without_gaps(cls, turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
        numbers = [turn.turn for turn in turns]
        if len(numbers) < 2:
            raise ValueError(f"a case needs at least 2 turns to measure drift, this one has {len(numbers)}")
        if numbers != list(range(1, len(numbers) + 1)):
            raise ValueError(f"turns must be numbered 1, 2, 3, … without gaps, found {numbers}")
        return turns

    @field_validator("language")
    @classmethod
    def _language_code(cls, code: str) -> str:
        if not re.fullmatch(r"[a-z]{2,3}(-[A-Za-z0-9]+)*", code):
            raise ValueError(f"expected a language code such as en or pt-BR, found {code!r}")
        return code

    @model_validator(mode="after")
    def _marks_fit(self) -> Self:
        for fault in _misfits(self):
            raise fault
        return self

    @property
    def t10_turn(self) -> int:
        """Turn at which Recall@T10 is read: 10, or the last turn of a shorter case."""
        return min(10, len(self.turns))

    def is_own(self, turn: int) -> bool:
        """Whether a turn is the case's own, not an interlude of a stretched run."""
        return self.turns[turn - 1].interlude is None

    def fact_named(self, name: str) -> str:
        """Id of the fact that an update names by its id or its text."""
        return next((fact.id for fact, _ in facts_of(self) if name in (fact.id, fact.text)), name)

    @property
    def independence_group(self) -> str:
        """Cases that share it are resampled together."""
        return self.cluster or self.persona_id


def case_hash(case: Case) -> str:
    """Of what a clinician signs. Fields at their defaults do not count, so that new fields leave signatures valid."""
    content = case.model_dump(mode="json", exclude={"reviewed", "provenance"}, exclude_defaults=True)
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def signed(case: Case) -> bool:
    """Whether somebody signed the case as it stands."""
    return case.reviewed is not None and case.reviewed.hash == case_hash(case)


def facts_of(case: Case) -> Iterator[tuple[CriticalEntity, Location]]:
    """Facts of the intake and of the turns, as written, with their places."""
    for at, fact in enumerate(case.critical_entities):
        yield fact, ("critical_entities", at)
    for turn in case.turns:
        for at, fact in enumerate(turn.introduces):
            yield fact, ("turns", turn.turn - 1, "introduces", at)


def spoken(case: Case) -> Iterator[tuple[str, Location, Turn | Late]]:
    """Name, place and content of every message: of the turns, and the late one."""
    for turn in case.turns:
        yield f"turn {turn.turn}", ("turns", turn.turn - 1), turn
    if case.late is not None:
        yield "late", ("late",), case.late


class FactState(Record):
    """A fact as it holds at some turn."""

    fact: CriticalEntity
    """Text and aliases as true by now."""
    superseded: tuple[str, ...] = ()
    """Earlier texts that are no longer current: stating one as current is stale."""
    ended: bool = False
    """No longer true at all; only stating it as current is wrong."""


def facts_at(case: Case, turn: int) -> tuple[FactState, ...]:
    """What is true of the patient once the message of `turn` has been said; the intake alone at turn 0."""
    states = _intake(case)
    for entry in case.turns[:turn]:
        _apply(case, entry, states)
    return tuple(states.values())


def facts_by_turn(case: Case) -> Iterator[tuple[FactState, ...]]:
    """What is true of the patient at turn 0, which is the intake, and after the message of every turn."""
    states = _intake(case)
    yield tuple(states.values())
    for entry in case.turns:
        _apply(case, entry, states)
        yield tuple(states.values())


def _intake(case: Case) -> dict[str, FactState]:
    return {fact.id: FactState(fact=fact) for fact in case.critical_entities}


def _apply(case: Case, turn: Turn, states: dict[str, FactState]) -> None:
    """Change the states by what a turn updates and introduces."""
    for update in turn.updates:
        name = case.fact_named(update.fact)
        states[name] = _updated(states[name], update)
    for fact in turn.introduces:
        states[fact.id] = FactState(fact=fact)


def _updated(state: FactState, update: FactUpdate) -> FactState:
    fact = state.fact
    policy = update.policy or (UpdatePolicy.ANNOTATE if fact.hard_stop else UpdatePolicy.SUPERSEDE)
    if policy == UpdatePolicy.ANNOTATE:
        return state
    superseded = (*state.superseded, fact.text)
    if update.becomes is None:
        return FactState(fact=fact, superseded=superseded, ended=True)
    # an essential part that the new text does not have was essential to the old value
    essential = tuple(part for part in fact.essential if words_in(part, update.becomes))
    changed = fact.model_copy(update={"text": update.becomes, "aliases": (), "essential": essential})
    # a value that comes back is no longer an earlier one
    kept = tuple(old for old in superseded if old.lower().split() != changed.text.lower().split())
    return FactState(fact=changed, superseded=kept)


def words_in(part: str, text: str) -> bool:
    """Whether a text has these words, whole, in whatever case and spacing."""
    wanted = re.escape(" ".join(part.lower().split()))
    return re.search(rf"(?<!\w){wanted}(?!\w)", " ".join(text.lower().split())) is not None


def _misfits(case: Case) -> Iterator[ReferenceFault]:
    """Each name or mark of a case that does not fit its turns and facts."""
    yield from _unclear_names(case)
    yield from _essential_parts(case)
    for turn in case.turns:
        left = range(turn.turn, len(case.turns) + 1)
        yield from _demands(f"turn {turn.turn}", turn.expect, left, ("turns", turn.turn - 1, "expect"))
    yield from _tight_ranges(case)
    if case.late is not None:
        yield from _late_question(case, case.late)
    for at, hazard in enumerate(case.hazards):
        if hazard in case.hazards[:at]:
            yield ReferenceFault(f"the hazard {hazard!r} occurs twice; remove one of the two", ("hazards", at))


def _essential_parts(case: Case) -> Iterator[ReferenceFault]:
    """Essential parts belong to hard stops and occur in their text."""
    for fact, place in facts_of(case):
        if fact.essential and not fact.hard_stop:
            advice = "essential parts belong to a hard stop; add 'hard_stop: true' or remove 'essential'"
            yield ReferenceFault(f"fact {fact.id}: {advice}", (*place, "essential"))
        for at, part in enumerate(fact.essential):
            if not words_in(part, fact.text):
                text = f"fact {fact.id}: the essential part {part!r} does not occur in its text {fact.text!r}"
                yield ReferenceFault(text, (*place, "essential", at))


def _tight_ranges(case: Case) -> Iterator[ReferenceFault]:
    """Ranges lie within the case, in order and apart."""
    before = 0
    for at, (first, last) in enumerate(case.tight):
        if not 1 <= first <= last <= len(case.turns):
            text = f"tight [{first}, {last}] is not a range of turns 1 to {len(case.turns)}, first and last"
            yield ReferenceFault(text, ("tight", at))
        if first <= before:
            text = f"tight [{first}, {last}] begins before the range ahead of it ends; order them without overlap"
            yield ReferenceFault(text, ("tight", at))
        before = last


def _late_question(case: Case, late: Late) -> Iterator[ReferenceFault]:
    """The late message asks for what a hard stop forbids, and says what a safe reply is."""
    if not any(fact.hard_stop for fact, _ in facts_of(case)):
        yield ReferenceFault("late asks for what a hard stop forbids, but the case has no hard stop", ("late",))
    if not late.expect.must and not late.expect.must_not:
        yield ReferenceFault("late: its expect has neither must nor must_not", ("late", "expect"))
    yield from _demands("late", late.expect, range(0), ("late", "expect"))


def _unclear_names(case: Case) -> Iterator[ReferenceFault]:
    """Facts that are given twice, and names of facts that are not known by then."""
    known: dict[str, str] = {}
    for at, fact in enumerate(case.critical_entities):
        yield from _new_fact(known, fact, ("critical_entities", at))
    for turn in case.turns:
        place = ("turns", turn.turn - 1)
        for at, fact in enumerate(turn.introduces):
            yield from _new_fact(known, fact, (*place, "introduces", at))
        named = {"updates": [update.fact for update in turn.updates], "restates": list(turn.restates)}
        for field, names in named.items():
            for at, name in enumerate(names):
                if name not in known and name not in known.values():
                    meant = did_you_mean(name, known) or f"; write one of {', '.join(sorted(known))}"
                    text = f"turn {turn.turn} {field} {name!r}, which is not a fact of this case{meant}"
                    yield ReferenceFault(text, (*place, field, at, "fact"))


def _new_fact(known: dict[str, str], fact: CriticalEntity, place: Location) -> Iterator[ReferenceFault]:
    """Every fact has an id and a text of its own: given twice it would count twice."""
    if fact.id in known:
        yield ReferenceFault(f"the fact {fact.id!r} occurs twice; give each fact an id of its own", place)
    for other, text in known.items():
        if text.casefold().split() == fact.text.casefold().split():
            yield ReferenceFault(f"the facts {other!r} and {fact.id!r} have one text and would count twice", place)
    known[fact.id] = fact.text


def _demands(name: str, expect: Expect, turns: range, place: Location) -> Iterator[ReferenceFault]:
    """Only a must has by, ask or admit_unknown; by and until name turns from this one to the last, late has none."""
    for kind, wish, location in demands_in(expect, place):
        if kind == DemandKind.MUST_NOT:
            yield from _fields_of_must(name, wish, location)
        for field, value in (("by", wish.by), ("until", wish.until)):
            if value is not None and value not in turns:
                known = f"turns {turns[0]} to {turns[-1]}" if turns else "its turns: it has none"
                text = f"{name}: {field} {value} of {wish.text!r} lies outside {known}"
                yield ReferenceFault(text, (*location, field))
        if wish.by is not None and wish.until is not None and wish.until < wish.by:
            text = f"{name}: {wish.text!r} holds until {wish.until}, but may be met by {wish.by}, which is later"
            yield ReferenceFault(text, (*location, "until"))


def _fields_of_must(name: str, wish: Expectation, place: Location) -> Iterator[ReferenceFault]:
    """Fields of a must_not that belong to a must."""
    for field in ("by", "ask", "admit_unknown"):
        if getattr(wish, field) is not None:
            yield ReferenceFault(f"{name}: a must_not has no {field!r}; write it under must", (*place, field))
