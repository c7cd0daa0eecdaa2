"""Questions as self-contained values: made from the case, the transcript and what the rules found."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

from pydantic import TypeAdapter

from pytest_clinical_drift.cases.model import Case, facts_at
from pytest_clinical_drift.conversation.hygiene import strip_reasoning
from pytest_clinical_drift.evidence.advice.targets import forbidden_by
from pytest_clinical_drift.evidence.findings import adjacent_pairs, visible
from pytest_clinical_drift.evidence.found import FactFinding, Findings
from pytest_clinical_drift.judging.answers import KINDS
from pytest_clinical_drift.metrics import SEED
from pytest_clinical_drift.transcript import Transcript

About = tuple[str | int, ...]
"""What a question is about within its conversation, such as ("fact", 3, "metformin")."""
_ALWAYS_TWICE = frozenset(("must", "must_not", "forbidden", "harm"))
_NOT_ASKED = ("severe", "audit", "id")
_LEFT_OUT_EMPTY = ("replaced", "forbidden", "patient", "record")


class Forbidden(NamedTuple):
    fact: str
    """Its id."""
    statement: str
    forbids: str


@dataclass(frozen=True, slots=True)
class Question:
    """One question, complete in itself: whoever answers it needs nothing else."""

    kind: str
    case_id: str
    turn: int
    text: str
    """The summary or the reply that is judged."""
    patient: str = ""
    """The patient's messages: of this turn (replies), since the earlier reply (conflict), so far (fact, invented)."""
    record: str = ""
    """The intake and the facts that hold by now."""
    earlier_turn: int | None = None
    earlier: str | None = None
    fact: str | None = None
    statement: str | None = None
    replaced: tuple[str, ...] = ()
    demand: str | None = None
    why: str | None = None
    forbidden: tuple[Forbidden, ...] = ()
    severe: bool = False
    """Asked in both wordings whatever the first answer is; not part of the question."""
    audit: bool = False
    """Drawn to see what the rules waved through; not part of the question."""
    id: str = field(init=False, default="")
    """Hash of everything that is asked."""

    @property
    def about(self) -> About:
        if self.kind == "conflict":
            return self.kind, self.earlier_turn or 0, self.turn
        if self.kind in ("forbidden", "harm"):
            return self.kind, self.turn
        return self.kind, self.turn, self.fact or self.demand or self.statement or ""

    @property
    def ended(self) -> bool:
        """Whether it asks about a fact that has ended: its text is then among what no longer holds."""
        return self.kind == "fact" and self.statement in self.replaced

    def __post_init__(self) -> None:
        plain = json.dumps(self._content(), sort_keys=True, ensure_ascii=True)
        object.__setattr__(self, "id", hashlib.sha256(plain.encode()).hexdigest()[:32])

    def _content(self) -> dict[str, Any]:
        given = {name: getattr(self, name) for name in self.__slots__ if name not in _NOT_ASKED}
        given["replaced"] = list(self.replaced)
        given["forbidden"] = [dict(zip(Forbidden._fields, item, strict=True)) for item in self.forbidden]
        return {k: v for k, v in given.items() if v is not None and (v or k not in _LEFT_OUT_EMPTY)}

    def as_mapping(self, wording: int = 1) -> dict[str, Any]:
        return {"id": self.id, "wording": wording, **self._content()}


@cache
def _adapter() -> TypeAdapter[Question]:
    """Made once: a labelled set has thousands of questions, and making it costs a millisecond."""
    return TypeAdapter(Question)


def from_mapping(given: Mapping[str, Any]) -> Question:
    """A question as files keep it; ValueError where it is none."""
    question = _adapter().validate_python({k: v for k, v in given.items() if k not in _NOT_ASKED})
    if question.kind not in KINDS:
        raise ValueError(f"its kind is none of {', '.join(KINDS)}")
    return replace(question, severe=question.kind in _ALWAYS_TWICE)


# ---- the questions of one conversation


def questions_of(case: Case, transcript: Transcript, findings: Findings) -> list[Question]:
    """All questions of a conversation but the audit."""
    return [
        *_of_facts(case, transcript, findings),
        *_of_inventions(case, transcript, findings),
        *_of_replies(case, transcript),
        *_of_pairs(case, transcript, _adjacent(transcript, findings)),
    ]


def _of_facts(case: Case, transcript: Transcript, findings: Findings) -> Iterator[Question]:
    fixed = {case.horizon, len(case.turns)}
    updated = {(turn.turn, case.fact_named(update.fact)) for turn in case.turns for update in turn.updates}
    for turn in findings.turns:
        for finding in turn.facts:
            due = finding.hard_stop and (turn.turn in fixed or (turn.turn, finding.fact_id) in updated)
            if not finding.plain or due:
                yield fact_question(case, transcript, turn.turn, finding)


def fact_question(
    case: Case, transcript: Transcript, turn: int, finding: FactFinding, *, audit: bool = False
) -> Question:
    """Does the summary of a turn state a fact?"""
    text = strip_reasoning(transcript.exchanges[turn - 1].summary.text)
    return Question(
        "fact", case.id, turn, text, messages_of(case, 1, turn),
        fact=finding.fact_id, statement=finding.text, replaced=finding.replaced, severe=finding.hard_stop, audit=audit,
    )  # fmt: skip


def _of_inventions(case: Case, transcript: Transcript, findings: Findings) -> Iterator[Question]:
    for found in findings.inventions:
        text = strip_reasoning(transcript.exchanges[found.turn - 1].summary.text)
        said, record = messages_of(case, 1, found.turn), record_of(case, found.turn)
        yield Question("invented", case.id, found.turn, text, said, record, statement=found.statement)


def _of_replies(case: Case, transcript: Transcript) -> Iterator[Question]:
    for exchange in transcript.exchanges:
        reply = visible(exchange.reply)
        if reply is None:
            continue
        turn = exchange.turn
        common = Question(
            "harm", case.id, turn, reply, messages_of(case, turn, turn), record_of(case, turn), severe=True
        )
        expect = case.turns[turn - 1].expect
        for kind, wishes in (("must", expect.must), ("must_not", expect.must_not)):
            for wish in wishes:
                yield replace(common, kind=kind, demand=wish.text, why=wish.why or None)
        if forbidden := forbidden_at(case, turn):
            yield replace(common, kind="forbidden", forbidden=forbidden)
        yield common


def forbidden_at(case: Case, turn: int) -> tuple[Forbidden, ...]:
    """What the facts that hold by now forbid."""
    found = []
    for state in facts_at(case, turn):
        targets = () if state.ended else forbidden_by(state.fact.text, state.fact.kind, tuple(state.fact.forbids))
        if targets:
            what = ", ".join(dict.fromkeys(target.text for target in targets))
            found.append(Forbidden(state.fact.id, state.fact.text, what))
    return tuple(found)


def for_people(case: Case, transcript: Transcript, findings: Findings) -> list[Question]:
    """What only a person settles: replies far apart that rules set against each other, text that speaks to a grader."""
    distant = [pair for c in findings.conflicts if (pair := (c.earlier_turn, c.later_turn)) not in findings.pairs]
    return [*_of_pairs(case, transcript, dict.fromkeys(distant)), *_of_addresses(case, transcript, findings)]


def _of_addresses(case: Case, transcript: Transcript, findings: Findings) -> Iterator[Question]:
    for found in findings.addresses:
        exchange = transcript.exchanges[found.turn - 1]
        text = visible(exchange.summary if found.variant == "summary" else exchange.reply) or ""
        patient = messages_of(case, found.turn, found.turn)
        yield Question(  # reply and summary of a turn are two questions: the variant tells them apart
            "to_judge", case.id, found.turn, text, patient, fact=found.variant, statement=found.quote, severe=True
        )


def _adjacent(transcript: Transcript, findings: Findings) -> list[tuple[int, int]]:
    """The pairs that rules compare, and neighbours of which rules think that one gives no advice: the judge tells."""
    spoken = [e.turn for e in transcript.exchanges if visible(e.reply)]
    advising = {turn for pair in adjacent_pairs(transcript.exchanges) for turn in pair}
    silent = [pair for pair in pairwise(spoken) if not advising.issuperset(pair)]
    return sorted({*findings.pairs, *silent}, key=lambda pair: (pair[1], pair[0]))


def _of_pairs(case: Case, transcript: Transcript, pairs: Iterable[tuple[int, int]]) -> Iterator[Question]:
    said = {e.turn: reply for e in transcript.exchanges if (reply := visible(e.reply))}
    for earlier, later in pairs:
        told, record = messages_of(case, earlier + 1, later), record_of(case, later)
        yield Question("conflict", case.id, later, said[later], told, record, earlier, said[earlier])


def messages_of(case: Case, first: int, last: int) -> str:
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


# ---- the audit


AUDIT_SHARE, AUDIT_LEAST = 0.05, 300


def audit_share(cases: Sequence[Case], repeats: int) -> float:
    """Share of the facts called plainly retained that is asked about all the same: 5 %, at least 300, at most all."""
    facts = sum(len(facts_at(case, turn.turn)) for case in cases for turn in case.turns) * repeats
    return min(1.0, max(AUDIT_SHARE, AUDIT_LEAST / max(1, facts)))


def audit_of(
    case: Case, transcript: Transcript, findings: Findings, asked: Sequence[Question], share: float
) -> list[Question]:
    """The audit of one conversation, drawn by a hash of each fact, so that it does not depend on the other cases."""
    known = {question.about for question in asked}
    prefix = f"{SEED}/{case.id}/{transcript.repeat}"
    return [
        fact_question(case, transcript, turn.turn, finding, audit=True)
        for turn in findings.turns
        for finding in turn.facts
        if finding.plain and random.Random(f"{prefix}/{turn.turn}/{finding.fact_id}").random() < share
        if ("fact", turn.turn, finding.fact_id) not in known
    ]
