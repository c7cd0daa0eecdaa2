"""What readings and questions are made of: how a case is shown to a judge, under an id that is a hash of it all."""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any, ClassVar, NamedTuple, Self

from pydantic import TypeAdapter

from pytest_clinical_drift.cases.model import Case, facts_at
from pytest_clinical_drift.evidence.advice.breach import forbidden_by


class Forbidden(NamedTuple):
    """What a fact of the patient forbids."""

    fact: str
    """Its id."""
    statement: str
    forbids: str


class FactLine(NamedTuple):
    """A fact as a judge is shown it."""

    fact: str
    """Its id."""
    statement: str
    replaced: tuple[str, ...] = ()
    """Earlier values, which no longer hold."""
    ended: bool = False
    essential: tuple[str, ...] = ()
    """Words without which the fact counts as absent."""


class DemandLine(NamedTuple):
    """A demand as a judge is shown it."""

    id: str
    kind: str
    demand: str
    why: str = ""


class TurnLine(NamedTuple):
    """One turn of a conversation as a judge is shown it."""

    turn: int
    patient: str
    reply: str


class StandingAdvice(NamedTuple):
    """Advice of an earlier window that still stands."""

    turn: int
    quote: str


@dataclass(frozen=True, slots=True)
class JudgeItem:
    """What is put to a judge, complete in itself: whoever answers needs nothing else."""

    id: str = field(init=False, default="")
    """Hash of all that is shown."""
    kind: str
    case_id: str
    turn: int
    """Of the text; of a conversation its last turn."""
    kinds: ClassVar[tuple[str, ...]]
    beside: ClassVar[tuple[str, ...]] = ()
    """Fields that name what it belongs to: no part of what is asked."""

    def __post_init__(self) -> None:
        content = {name: value for name, value in self._shown().items() if name not in self.beside}
        plain = json.dumps(content, sort_keys=True, ensure_ascii=True)
        object.__setattr__(self, "id", hashlib.sha256(plain.encode()).hexdigest()[:32])

    def _shown(self) -> dict[str, Any]:
        """Every field that says something, as JSON has it."""
        given = {each.name: (getattr(self, each.name), each.default) for each in fields(self) if each.init}
        return {name: _plain(value) for name, (value, default) in given.items() if value != default}

    def as_mapping(self, wording: int = 1) -> dict[str, Any]:
        """As a `python:` judge gets it."""
        lists: dict[str, Any] = {name: [] for name in _ALWAYS.get(self.kind, ())}
        return {"id": self.id, "wording": wording, **lists, **self._shown()}

    @classmethod
    def from_mapping(cls, given: Mapping[str, Any]) -> Self:
        """As files keep it; ValueError where it is none."""
        if given.get("kind") not in cls.kinds:
            raise ValueError(f"unknown kind {given.get('kind')!r}; known kinds: {', '.join(cls.kinds)}")
        made: Self = _adapter(cls).validate_python({k: v for k, v in given.items() if k not in ("id", "wording")})
        return made


_ALWAYS = {"summary": ("facts",), "reply": ("demands", "forbidden"), "conversation": ("standing",)}
"""Lists that a kind of reading has even when empty."""


_adapter: Callable[[Any], TypeAdapter[Any]] = cache(TypeAdapter)
"""Made once: a labelled set has thousands of questions, and making it costs a millisecond."""


def _plain(value: Any) -> Any:
    """Tuples as lists, lines as mappings; a fact without essential words says nothing of them."""
    if isinstance(value, Forbidden | FactLine | DemandLine | TurnLine | StandingAdvice):
        return {name: _plain(part) for name, part in value._asdict().items() if part or name != "essential"}
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


def messages_of(case: Case, first: int, last: int) -> str:
    """The patient's messages of some turns, each with its number."""
    return "\n\n".join(f"Turn {turn.turn}: {turn.message}" for turn in case.turns[first - 1 : last])


def record_of(case: Case, turn: int) -> str:
    """The intake, and what has changed since."""
    states = facts_at(case, turn)
    changed = [
        f"- {state.fact.text}" + (f" (before: {'; '.join(state.superseded)})" if state.superseded else "")
        for state in states
        if (state.superseded or state.fact not in case.critical_entities) and not state.ended
    ]
    ended = [f"- no longer: {'; '.join(state.superseded)}" for state in states if state.ended]
    news = "\n".join((*changed, *ended))
    return f"{case.patient_summary}\n\nChanged since then:\n{news}" if news else case.patient_summary


def forbidden_at(case: Case, turn: int) -> tuple[Forbidden, ...]:
    """What the facts that hold by now forbid."""
    forbidden = []
    for state in facts_at(case, turn):
        targets = () if state.ended else forbidden_by(state.fact.text, state.fact.kind, tuple(state.fact.forbids))
        if targets:
            what = ", ".join(dict.fromkeys(target.text for target in targets))
            forbidden.append(Forbidden(state.fact.id, state.fact.text, what))
    return tuple(forbidden)
