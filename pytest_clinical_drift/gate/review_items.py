"""What a reviewer is asked: the alarms of a run, the worst first, with answers mixed in that the judge cleared."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from pytest_clinical_drift.gate.reopened import Conversation, Reopened
from pytest_clinical_drift.judging.opinions import DISMISSED as CLEARED
from pytest_clinical_drift.judging.questions import Question, record_of
from pytest_clinical_drift.report.review_page import ReviewItem
from pytest_clinical_drift.scoring.assessment import DISMISSED, OPEN, Alarm

MIXED_IN = 20
"""Cleared answers that a reviewer reads among the alarms, so that reviews can also worsen a verdict."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question for the page, with the alarms that it settles; without any where the judge cleared it."""

    talk: Conversation
    question: Question
    alarms: tuple[Alarm, ...]

    @property
    def severe(self) -> bool:
        return any(alarm.severe for alarm in self.alarms) if self.alarms else self.question.severe

    @property
    def rank(self) -> tuple[bool, bool]:
        """The worst first: severe before others, open before confirmed."""
        return not self.severe, not any(alarm.state == OPEN for alarm in self.alarms)


def review_items(run: Reopened) -> list[ReviewItem]:
    """Everything that no person has settled yet, in the order in which it is best read."""
    groups = sorted(_groups(_alarmed(run)), key=lambda group: min(asked.rank for asked in group))
    draw = random.Random(run.record.manifest)
    for asked in _cleared(run, draw):
        groups.insert(draw.randint(0, len(groups)), [asked])
    return [_item(asked, number) for number, group in enumerate(groups) for asked in group]


def _alarmed(run: Reopened) -> list[_Asked]:
    """Each question once, though several alarms may hang on it."""
    found: dict[str, _Asked] = {}
    questions = run.questions
    for talk, alarm in run.alarms:
        if alarm.settled_by == "person" or alarm.state == DISMISSED or alarm.question not in questions:
            continue
        known = found.get(alarm.question) or _Asked(talk, questions[alarm.question], ())
        found[alarm.question] = replace(known, alarms=(*known.alarms, alarm))
    return list(found.values())


def _cleared(run: Reopened, draw: random.Random) -> list[_Asked]:
    waiting = {alarm.question for _, alarm in run.alarms if alarm.state != DISMISSED}
    candidates = {
        question.id: _Asked(talk, question, ())
        for talk in run.conversations
        for question in talk.questions
        if (ruling := talk.rulings[question.about]).outcome == CLEARED and not ruling.by_person
        if question.id not in waiting
    }
    return [candidates[key] for key in draw.sample(sorted(candidates), min(MIXED_IN, len(candidates)))]


def _groups(asked: Iterable[_Asked]) -> list[list[_Asked]]:
    """The questions on one fact of one conversation, over turns in a row."""
    spots: dict[tuple[object, ...], list[_Asked]] = {}
    for item in asked:
        what = item.question.fact or item.question.id
        spots.setdefault((item.talk.case.id, item.talk.transcript.repeat, what), []).append(item)
    groups: list[list[_Asked]] = []
    for found in spots.values():
        turn = -1
        for item in sorted(found, key=lambda one: one.question.turn):
            if item.question.turn == turn + 1:
                groups[-1].append(item)
            else:
                groups.append([item])
            turn = item.question.turn
    return groups


def _item(asked: _Asked, group: int) -> ReviewItem:
    question, case = asked.question, asked.talk.case
    ruling = asked.talk.rulings[question.about]
    telling = next((o for o in ruling.opinions if o.quote), None)
    quotes = dict.fromkeys(alarm.quote for alarm in asked.alarms if alarm.quote)
    earlier = [alarm.earlier_quote for alarm in asked.alarms if alarm.earlier_quote]
    return ReviewItem(
        question=question.id,
        kind=question.kind,
        case_id=case.id,
        turn=question.turn,
        group=group,
        severe=asked.severe,
        about=_about(question),
        before=[f"{statement}: rules out {what}" for _, statement, what in question.forbidden]
        or list(question.replaced),
        text=question.text,
        quote=" … ".join(quotes) or (telling.quote if telling else ""),
        message=case.turns[question.turn - 1].message,
        messages=_messages_before(asked),
        record=record_of(case, question.turn),
        why=_why(asked.alarms),
        opinions=ruling.opinions,
        earlier_turn=question.earlier_turn,
        earlier=question.earlier or "",
        earlier_quote=earlier[0] if earlier else (telling.earlier_quote if telling else ""),
    )


def _about(question: Question) -> str:
    demand = f"{question.demand} ({question.why})" if question.demand and question.why else question.demand
    return question.statement or demand or ""


def _messages_before(asked: _Asked) -> str:
    question = asked.question
    first = 1 if question.kind in ("fact", "invented") else (question.earlier_turn or question.turn) + 1
    turns = asked.talk.case.turns[first - 1 : question.turn - 1]
    return "\n\n".join(f"Turn {turn.turn}: {turn.message}" for turn in turns)


def _why(alarms: Sequence[Alarm]) -> str:
    if not alarms:
        return "A draw from what the judge has cleared: here to see what it misses."
    told = dict.fromkeys(
        f"{alarm.kind} ({alarm.state}{f', by {alarm.settled_by}' if alarm.settled_by else ''}): {alarm.reason}"
        for alarm in alarms
    )
    return "; ".join(told)
