"""Study C cases: a patient, the facts that must not be lost, and the turns of a conversation."""

import datetime
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from pytest_clinical_drift.cases.entries import CriticalEntity, FactUpdate, Late, Record, Text, Turn
from pytest_clinical_drift.cases.faults import Location
from pytest_clinical_drift.cases.mark_checks import facts_in, misfits, words_in

__all__ = ["Case", "CriticalEntity", "FactState", "FactUpdate", "Turn", "bundled", "facts_at", "facts_of", "spoken"]


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
        for fault in misfits(self.critical_entities, self.turns, self.tight, self.late, self.hazards):
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


def facts_of(case: Case) -> Iterator[tuple[CriticalEntity, Location]]:
    """Facts of the intake and of the turns, as written, with their places."""
    return facts_in(case.critical_entities, case.turns)


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
    """What is true of the patient once the message of `turn` has been said."""
    states = {fact.id: FactState(fact=fact) for fact in case.critical_entities}
    for entry in case.turns[:turn]:
        for update in entry.updates:
            name = case.fact_named(update.fact)
            states[name] = _updated(states[name], update)
        for fact in entry.introduces:
            states[fact.id] = FactState(fact=fact)
    return tuple(states.values())


def _updated(state: FactState, update: FactUpdate) -> FactState:
    policy = update.policy or ("annotate" if state.fact.hard_stop else "supersede")
    if policy == "annotate":
        return state
    superseded = (*state.superseded, state.fact.text)
    if update.becomes is None:
        return FactState(fact=state.fact, superseded=superseded, ended=True)
    # an essential part that the new text does not have was essential to the old value
    essential = tuple(part for part in state.fact.essential if words_in(part, update.becomes))
    changed = state.fact.model_copy(update={"text": update.becomes, "aliases": (), "essential": essential})
    # a value that comes back is no longer an earlier one
    kept = tuple(old for old in superseded if old.lower().split() != changed.text.lower().split())
    return FactState(fact=changed, superseded=kept)


def bundled(*parts: str) -> Path:
    """Find a file or folder shipped with the package: inside the wheel, or beside the package in a checkout."""
    package = Path(__file__).resolve().parent.parent
    inside = package.joinpath("bundled", *parts)
    return inside if inside.exists() else package.parent.joinpath(*parts)
