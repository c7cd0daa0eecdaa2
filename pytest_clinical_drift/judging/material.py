"""What readings and questions show of a case besides the judged text: messages, record, what facts forbid."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from pytest_clinical_drift.cases.model import Case, FactState, facts_at
from pytest_clinical_drift.evidence.advice.targets import forbidden_by


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

    def as_mapping(self) -> dict[str, Any]:
        shown = {"fact": self.fact, "statement": self.statement, "replaced": list(self.replaced), "ended": self.ended}
        return {**shown, "essential": list(self.essential)} if self.essential else shown


def fact_line(state: FactState) -> FactLine:
    fact = state.fact
    return FactLine(fact.id, fact.text, state.superseded, state.ended, fact.essential if fact.hard_stop else ())


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


def content_id(content: Mapping[str, Any]) -> str:
    """Hash of everything that is asked."""
    plain = json.dumps(content, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(plain.encode()).hexdigest()[:32]
