"""The single question that settles an entry of a reading: made of what the reading shows."""

from collections.abc import Mapping
from dataclasses import replace

from pytest_clinical_drift.judging.entries import Entry
from pytest_clinical_drift.judging.questions import About, Question
from pytest_clinical_drift.judging.readings import Reading, TurnLine


def about_entry(entry: Entry, source: str = "") -> About:
    """What an entry is about within its conversation; equal to the question's."""
    if entry.kind in ("conflict", "course"):
        return (entry.kind, *(entry.turns or (entry.turn, entry.turn)))
    if entry.kind in ("forbidden", "harm"):
        return entry.kind, entry.turn
    return (entry.kind, entry.turn, entry.key, *((source,) if source else ()))


def key_of(reading: Reading) -> tuple[str, int, str]:
    """Names a reading within its conversation."""
    return reading.kind, reading.turn, reading.source


def question_for(reading: Reading, entry: Entry, turns: Mapping[int, TurnLine] | None = None) -> Question:
    """The single question on an entry of a reading; `turns` are all of the conversation, where they are known.

    Of an entry that names nothing, because a list is missing or malformed, the whole text is asked about.
    """
    said = {line.turn: line for line in reading.turns} | dict(turns or {})
    common = Question(entry.kind, reading.case_id, entry.turn, reading.text, reading=reading.id, source=reading.source)
    if entry.kind == "fact":
        line = next(line for line in reading.facts if line.fact == entry.key)
        return replace(
            common, patient=reading.patient, fact=line.fact, statement=line.statement, replaced=line.replaced,
            essential=line.essential,
        )  # fmt: skip
    if entry.kind == "invented":
        return replace(common, patient=reading.patient, record=reading.record, statement=entry.key or None)
    if entry.kind == "misreported":
        advice = "\n\n".join(f"Turn {turn}: {line.reply}" for turn, line in sorted(said.items()))
        statement = entry.key or None
        return replace(common, text=reading.summary, record=reading.record, statement=statement, replies=advice)
    if entry.kind in ("course", "conflict"):
        return _of_turns(common, reading, entry, said)
    of_turn = replace(common, patient=_message_of(reading.patient, reading.turn), record=reading.record)
    if entry.kind == "forbidden":
        return replace(of_turn, forbidden=reading.forbidden)
    if entry.kind == "harm":
        return of_turn
    demand = next(line for line in reading.demands if line.id == entry.key)
    return replace(of_turn, demand=demand.demand, why=demand.why or None, demand_id=demand.id)


def _of_turns(common: Question, reading: Reading, entry: Entry, said: Mapping[int, TurnLine]) -> Question:
    """On a pair of replies, or on the course of several; without turns on all replies that the reading shows."""
    asked = replace(common, record=reading.record)
    if reading.kind == "reply":
        return replace(asked, patient=reading.patient, earlier_turn=reading.earlier_turn, earlier=reading.earlier)
    if entry.kind == "conflict" and entry.turns is not None and said.keys() >= set(entry.turns):
        earlier, later = entry.turns
        return replace(
            asked, turn=later, text=said[later].reply, patient=_messages(said, earlier + 1, later),
            earlier_turn=earlier, earlier=said[earlier].reply,
        )  # fmt: skip
    turns = entry.turns if entry.kind == "course" else None
    first, last = turns or (reading.turns[0].turn, reading.turns[-1].turn)
    replies = "\n\n".join(f"Turn {turn}\n{said[turn].reply}" for turn in sorted(said) if first <= turn <= last)
    return replace(asked, turn=last, text=replies, patient=_messages(said, first, last), turns=turns)


def _messages(said: Mapping[int, TurnLine], first: int, last: int) -> str:
    """The patient's messages of some turns, whichever windows they were read in."""
    return "\n\n".join(f"Turn {turn}: {said[turn].patient}" for turn in sorted(said) if first <= turn <= last)


def _message_of(patient: str, turn: int) -> str:
    """The patient's message of one turn, out of several."""
    place = patient.rfind(f"Turn {turn}: ")
    return patient[place:] if place >= 0 else patient
