"""Single questions as self-contained values: each settles one point that a reading or a rule raised."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from pytest_clinical_drift.core.findings import FindingKey, Opinion
from pytest_clinical_drift.core.log import Answer
from pytest_clinical_drift.core.words import Doubt, Kind, TextKind, Word
from pytest_clinical_drift.judging.answers import KINDS, PEOPLE_ONLY, UNSURE, voiced, weigh
from pytest_clinical_drift.judging.readings import Forbidden, JudgeItem, Reading, TurnLine


@dataclass(frozen=True, slots=True)
class Question(JudgeItem):
    """One question on one point."""

    text: str
    """The summary or reply that is judged; for a course the replies of its turns, each headed "Turn N"."""
    patient: str = ""
    """The patient's messages: of this turn (replies), since the earlier reply (conflict), so far (fact, invented)."""
    record: str = ""
    """The intake and the facts that hold by now."""
    earlier_turn: int | None = None
    earlier: str | None = None
    fact: str | None = None
    statement: str | None = None
    """The fact's text, or the quoted words of what seems invented or misreported."""
    replaced: tuple[str, ...] = ()
    essential: tuple[str, ...] = ()
    demand: str | None = None
    why: str | None = None
    forbidden: tuple[Forbidden, ...] = ()
    turns: tuple[int, int] | None = None
    """First and last turn of a course."""
    replies: str | None = None
    """All replies so far, for what seems misreported."""
    source: str = ""
    """`reply` where a handover in a reply is read as a summary."""
    demand_id: str | None = None
    """The demand's id in the reading."""
    reading: str | None = None
    """Id of the reading whose entry it settles."""
    kinds = (*KINDS, *PEOPLE_ONLY)
    beside = ("demand_id", "reading")

    @property
    def key(self) -> FindingKey:
        """The finding that it settles: equal for questions on one thing, whoever raised it."""
        if self.kind in PEOPLE_ONLY:
            return FindingKey.of(self.kind, self.turn, self.statement or "", source=self.fact or "")
        span = self.turns if self.earlier_turn is None else (self.earlier_turn, self.turn)
        subject = self.fact or self.demand_id or self.demand or self.statement or ""
        return FindingKey.of(self.kind, self.turn, subject, span=span, source=self.source)

    @property
    def whole(self) -> bool:
        """Whether it asks about a text as a whole, because a list of the reading is missing: only people are asked."""
        if self.kind in (Kind.INVENTED, Kind.MISREPORTED):
            return self.statement is None
        if self.kind == Kind.CONFLICT:
            return self.earlier is None
        return self.kind == Kind.COURSE and self.turns is None

    @property
    def ended(self) -> bool:
        """Whether it asks about a fact that has ended: its text is then among what no longer holds."""
        return self.kind == "fact" and self.statement in self.replaced


def answered(question: Question, voter: str, wording: int, given: Mapping[str, Any]) -> Answer:
    """A judge's answer as it came; failed where it is none of the answers to the question."""
    opinion = weigh(question.kind, given, question.text, question.earlier)
    failed = ""
    if opinion.doubt == Doubt.MALFORMED:
        allowed = ", ".join((*KINDS[question.kind], UNSURE))
        failed = f"the answer is none of {allowed}: {str(given.get('answer'))[:60]!r}"
    return Answer(voter, question.id, wording, given, failed=failed)


def opinion_of(question: Question, answer: Answer) -> Opinion:
    """What a judge's answer counts for: unsure where it failed or its quotation does not occur in the text."""
    if answer.failed:
        return Opinion(answer.voter, answer.wording, UNSURE, "", answer.failed, doubt=Doubt.FAILED)
    opinion = voiced(weigh(question.kind, answer.given, question.text, question.earlier), answer)
    if opinion.answer == Word.ABSENT and question.ended:  # what has ended need not be mentioned
        return replace(opinion, answer=Word.RETAINED, quote="", earlier_quote="")
    return opinion


# ---- the question that settles an entry of a reading


def question_for(reading: Reading, key: FindingKey, turns: Mapping[int, TurnLine] | None = None) -> Question:
    """The question on an entry, made of what its reading shows; `turns` are all of the conversation, where known.

    Of an entry that names nothing, because a list is missing or malformed, the whole text is asked about.
    """
    lines = {line.turn: line for line in reading.turns} | dict(turns or {})
    asked = Question(key.kind, reading.case_id, key.turn, reading.text, reading=reading.id, source=reading.source)
    if key.kind is Kind.FACT:
        return _of_fact(asked, reading, key)
    asked = replace(asked, record=reading.record)
    if key.kind in (Kind.INVENTED, Kind.MISREPORTED):
        return _of_words(asked, reading, key, lines)
    if key.kind in (Kind.COURSE, Kind.CONFLICT):
        return _of_turns(asked, reading, key, lines)
    return _of_reply(asked, reading, key)


def _of_fact(asked: Question, reading: Reading, key: FindingKey) -> Question:
    fact = next(line for line in reading.facts if line.fact == key.subject)
    asked = replace(asked, patient=reading.patient, fact=fact.fact, statement=fact.statement)
    return replace(asked, replaced=fact.replaced, essential=fact.essential)


def _of_words(asked: Question, reading: Reading, key: FindingKey, lines: Mapping[int, TurnLine]) -> Question:
    """On words of a summary: what the patient or the replies say of them."""
    if key.kind is Kind.INVENTED:
        return replace(asked, patient=reading.patient, statement=key.subject or None)
    advice = "\n\n".join(f"Turn {turn}: {line.reply}" for turn, line in sorted(lines.items()))
    return replace(asked, text=reading.summary, statement=key.subject or None, replies=advice)


def _of_reply(asked: Question, reading: Reading, key: FindingKey) -> Question:
    """On a reply and the message that it answers."""
    asked = replace(asked, patient=reading.patient[max(0, reading.patient.rfind(f"Turn {reading.turn}: ")) :])
    if key.kind is Kind.FORBIDDEN:
        return replace(asked, forbidden=reading.forbidden)
    if key.kind is Kind.HARM:
        return asked
    demand = next(line for line in reading.demands if line.id == key.subject)
    return replace(asked, demand=demand.demand, why=demand.why or None, demand_id=demand.id)


def _of_turns(asked: Question, reading: Reading, key: FindingKey, lines: Mapping[int, TurnLine]) -> Question:
    """On a pair of replies, or on the course of several; without turns on all replies that the reading shows."""
    if reading.kind == TextKind.REPLY:
        return replace(asked, patient=reading.patient, earlier_turn=reading.earlier_turn, earlier=reading.earlier)
    if key.kind is Kind.CONFLICT and key.span is not None and lines.keys() >= set(key.span):
        earlier, later = key.span
        asked = replace(asked, turn=later, text=lines[later].reply, patient=_messages(lines, earlier + 1, later))
        return replace(asked, earlier_turn=earlier, earlier=lines[earlier].reply)
    span = key.span if key.kind is Kind.COURSE else None
    first, last = span or (reading.turns[0].turn, reading.turns[-1].turn)
    replies = "\n\n".join(f"Turn {turn}\n{lines[turn].reply}" for turn in sorted(lines) if first <= turn <= last)
    return replace(asked, turn=last, text=replies, patient=_messages(lines, first, last), turns=span)


def _messages(lines: Mapping[int, TurnLine], first: int, last: int) -> str:
    """The patient's messages of some turns."""
    return "\n\n".join(f"Turn {turn}: {lines[turn].patient}" for turn in sorted(lines) if first <= turn <= last)
