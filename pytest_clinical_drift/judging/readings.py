"""What a judge is shown, as self-contained values: every summary, reply and conversation whole, one request each.

The id of a value is a hash of all that is shown.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from functools import cache
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple, Self

from pydantic import TypeAdapter

from pytest_clinical_drift.cases.model import Case, facts_at
from pytest_clinical_drift.cases.timeline import demands_at
from pytest_clinical_drift.conversation.hygiene import strip_reasoning
from pytest_clinical_drift.core.words import TextKind
from pytest_clinical_drift.evidence.advice.breach import forbidden_by
from pytest_clinical_drift.evidence.findings import visible
from pytest_clinical_drift.transcript import Transcript

READINGS = (TextKind.SUMMARY, TextKind.REPLY, TextKind.CONVERSATION)
PDSQI = TextKind.PDSQI
SINGLE = "single"
"""Source of the summary of a transcript that was given in one message."""
WINDOW_TOKENS = 32_000
"""Tokens of a conversation that one request holds unless a judge setting says otherwise."""
_CHARACTERS_PER_TOKEN = 3.5
"""Fewer than English prose has, so that other languages and lists fit too."""
_OVERLAP = 2
"""Turns that a window shares with the one before."""


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
    if isinstance(value, StrEnum):
        return str(value)  # a member of an enumeration would show in somebody's own judge
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


@dataclass(frozen=True, slots=True)
class Reading(JudgeItem):
    """One text to be read whole, with all that is asked of it."""

    text: str = ""
    patient: str = ""
    """The patient's messages: so far (summary), since the earlier reply (reply)."""
    record: str = ""
    """The intake and the facts that hold by now."""
    facts: tuple[FactLine, ...] = ()
    demands: tuple[DemandLine, ...] = ()
    forbidden: tuple[Forbidden, ...] = ()
    earlier: str | None = None
    """The reply of the case's previous own turn."""
    earlier_turn: int | None = None
    turns: tuple[TurnLine, ...] = ()
    summary: str = ""
    """The last summary, with the last window of a conversation."""
    standing: tuple[StandingAdvice, ...] = ()
    uncompared: tuple[int, ...] = ()
    """Turns of a conversation whose reply no other reading compares with the one before it: around interludes."""
    source: str = ""
    """`reply` where a handover in a reply is read as a summary, `single` of the transcript in one message; of a rating
    the version of its prompts."""
    kinds = READINGS

    @property
    def key(self) -> tuple[str, int, str]:
        """Names it within its conversation."""
        return self.kind, self.turn, self.source

    def reply_of(self, turn: int) -> str:
        """The reply of a turn of this conversation; empty for another turn."""
        return next((line.reply for line in self.turns if line.turn == turn), "")


# ---- the readings of one conversation


def readings_of(case: Case, transcript: Transcript) -> list[Reading]:
    """Every probed summary, every visible reply and every handover; the conversation itself is read in windows."""
    readings = [
        summary_reading(case, exchange.turn, strip_reasoning(exchange.summary.text))
        for exchange in transcript.exchanges
        if exchange.has_summary
    ]
    before: tuple[int, str] | None = None
    for exchange in transcript.exchanges:
        reply = visible(exchange.reply)
        if reply is None:
            continue
        own = case.is_own(exchange.turn)
        readings.append(reply_reading(case, exchange.turn, reply, before if own else None))
        if case.turns[exchange.turn - 1].handover:
            readings.append(summary_reading(case, exchange.turn, reply, source="reply"))
        if own:
            before = exchange.turn, reply
    return readings


def single_reading(case: Case, transcript: Transcript) -> Reading | None:
    """The summary of the transcript in one message; apart from the others, because it enters no figure but its own."""
    single = transcript.single
    if single is None or single.error is not None or not transcript.exchanges:
        return None
    return summary_reading(case, transcript.exchanges[-1].turn, strip_reasoning(single.text), source=SINGLE)


def summary_reading(case: Case, turn: int, text: str, *, source: str = "") -> Reading:
    """A summary with all facts that hold by its turn or have ended."""
    facts = tuple(
        FactLine(of.fact.id, of.fact.text, of.superseded, of.ended, of.fact.essential if of.fact.hard_stop else ())
        for of in facts_at(case, turn)
    )
    patient = messages_of(case, 1, turn)
    record = record_of(case, turn)
    return Reading("summary", case.id, turn, text, patient, record, facts=facts, source=source)


def reply_reading(case: Case, turn: int, text: str, earlier: tuple[int, str] | None) -> Reading:
    """A reply with its demands, what is forbidden, and the reply of the case's previous own turn."""
    demands = demands_at(case, turn) if case.is_own(turn) else ()
    before, said = earlier or (None, None)
    return Reading(
        "reply",
        case.id,
        turn,
        text,
        messages_of(case, before + 1 if before else turn, turn),
        record_of(case, turn),
        demands=tuple(DemandLine(d.id, d.kind, d.text, d.expectation.why) for d in demands),
        forbidden=forbidden_at(case, turn),
        earlier=said,
        earlier_turn=before,
    )


def windows_of(case: Case, transcript: Transcript, *, tokens: int = WINDOW_TOKENS) -> list[Reading]:
    """The conversation in one reading, or in overlapping ones where it is too long for one request.

    `standing` of a later window is filled in with what the earlier ones left standing.
    """
    lines = []
    for exchange in transcript.exchanges:
        reply = visible(exchange.reply)
        if reply is not None:
            lines.append(TurnLine(exchange.turn, case.turns[exchange.turn - 1].message, reply))
    if len(lines) < 2:
        return []
    last = next((e for e in reversed(transcript.exchanges) if e.has_summary), None)
    summary = strip_reasoning(last.summary.text) if last is not None else ""
    room = tokens * _CHARACTERS_PER_TOKEN - len(summary)
    windows: list[Reading] = []
    start = stop = 0
    while stop < len(lines):
        stop = start
        used = 0
        while stop < len(lines):
            used += len(lines[stop].patient) + len(lines[stop].reply)
            if used > room and stop > start + _OVERLAP:  # at least a turn beyond the overlap, however long
                break
            stop += 1
        shown = lines[start:stop]
        turn = lines[stop - 1].turn
        own = {line.turn for line in shown if case.is_own(line.turn)}
        windows.append(
            Reading(
                "conversation",
                case.id,
                turn,
                record=record_of(case, turn),
                turns=tuple(shown),
                summary=summary if stop == len(lines) else "",
                uncompared=tuple(line.turn for before, line in pairwise(shown) if not own >= {before.turn, line.turn}),
            )
        )
        start = stop - _OVERLAP
    return windows


# ---- how a case is shown


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
    facts = (state.fact for state in facts_at(case, turn) if not state.ended)
    found = ((fact, forbidden_by(fact.text, fact.kind, tuple(fact.forbids))) for fact in facts)
    listed = ((fact, ", ".join(dict.fromkeys(target.text for target in targets))) for fact, targets in found if targets)
    return tuple(Forbidden(fact.id, fact.text, what) for fact, what in listed)
