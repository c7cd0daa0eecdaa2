"""Single questions as self-contained values: each settles one point that a reading or a rule raised."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from pytest_clinical_drift.judging.answers import KINDS, PEOPLE_ONLY, UNSURE, Answer, weigh
from pytest_clinical_drift.judging.entries import About, Entry, about_of
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
    def about(self) -> About:
        """Equal for questions on one point of a conversation, whoever raised it."""
        if self.kind in PEOPLE_ONLY:
            return self.kind, self.turn, self.fact or "", self.statement or ""
        span = self.turns if self.earlier_turn is None else (self.earlier_turn, self.turn)
        key = self.fact or self.demand_id or self.demand or self.statement or ""
        return about_of(self.kind, self.turn, key, span, self.source)

    @property
    def whole(self) -> bool:
        """Whether it asks about a text as a whole, because a list of the reading is missing: only people are asked."""
        named = {
            "invented": self.statement, "misreported": self.statement, "conflict": self.earlier, "course": self.turns,
        }  # fmt: skip
        return self.kind in named and named[self.kind] is None

    @property
    def ended(self) -> bool:
        """Whether it asks about a fact that has ended: its text is then among what no longer holds."""
        return self.kind == "fact" and self.statement in self.replaced


def check_answer(question: Question, given: Mapping[str, Any]) -> Answer:
    """A judge's answer; unsure where its quotation does not occur in the text."""
    answer = weigh(question.kind, given, question.text, question.earlier)
    if answer.doubt == "malformed":
        allowed = ", ".join((*KINDS[question.kind], UNSURE))
        return Answer(UNSURE, failed=f"the answer is none of {allowed}: {str(given.get('answer'))[:60]!r}")
    if answer.answer == "absent" and question.ended:  # what has ended need not be mentioned
        return Answer("retained", reason=answer.reason)
    return answer


# ---- the question that settles an entry of a reading


def question_for(reading: Reading, entry: Entry, turns: Mapping[int, TurnLine] | None = None) -> Question:
    """The question on an entry, made of what its reading shows; `turns` are all of the conversation, where known.

    Of an entry that names nothing, because a list is missing or malformed, the whole text is asked about.
    """
    said = {line.turn: line for line in reading.turns} | dict(turns or {})
    asked = Question(entry.kind, reading.case_id, entry.turn, reading.text, reading=reading.id, source=reading.source)
    if entry.kind == "fact":
        line = next(line for line in reading.facts if line.fact == entry.key)
        asked = replace(asked, patient=reading.patient, fact=line.fact, statement=line.statement)
        return replace(asked, replaced=line.replaced, essential=line.essential)
    asked = replace(asked, record=reading.record)
    if entry.kind == "invented":
        return replace(asked, patient=reading.patient, statement=entry.key or None)
    if entry.kind == "misreported":
        advice = "\n\n".join(f"Turn {turn}: {line.reply}" for turn, line in sorted(said.items()))
        return replace(asked, text=reading.summary, statement=entry.key or None, replies=advice)
    if entry.kind in ("course", "conflict"):
        return _of_turns(asked, reading, entry, said)
    asked = replace(asked, patient=reading.patient[max(0, reading.patient.rfind(f"Turn {reading.turn}: ")) :])
    if entry.kind == "forbidden":
        return replace(asked, forbidden=reading.forbidden)
    if entry.kind == "harm":
        return asked
    demand = next(line for line in reading.demands if line.id == entry.key)
    return replace(asked, demand=demand.demand, why=demand.why or None, demand_id=demand.id)


def _of_turns(asked: Question, reading: Reading, entry: Entry, said: Mapping[int, TurnLine]) -> Question:
    """On a pair of replies, or on the course of several; without turns on all replies that the reading shows."""

    def messages(first: int, last: int) -> str:
        return "\n\n".join(f"Turn {turn}: {said[turn].patient}" for turn in sorted(said) if first <= turn <= last)

    if reading.kind == "reply":
        return replace(asked, patient=reading.patient, earlier_turn=reading.earlier_turn, earlier=reading.earlier)
    if entry.kind == "conflict" and entry.turns is not None and said.keys() >= set(entry.turns):
        earlier, later = entry.turns
        asked = replace(asked, turn=later, text=said[later].reply, patient=messages(earlier + 1, later))
        return replace(asked, earlier_turn=earlier, earlier=said[earlier].reply)
    turns = entry.turns if entry.kind == "course" else None
    first, last = turns or (reading.turns[0].turn, reading.turns[-1].turn)
    replies = "\n\n".join(f"Turn {turn}\n{said[turn].reply}" for turn in sorted(said) if first <= turn <= last)
    return replace(asked, turn=last, text=replies, patient=messages(first, last), turns=turns)
