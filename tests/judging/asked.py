"""Questions, readings and scripted judges for the tests of this folder."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from pytest_clinical_drift.core.findings import Finding, FindingKey, Opinion
from pytest_clinical_drift.core.log import Answer
from pytest_clinical_drift.core.words import Why
from pytest_clinical_drift.judging.answers import KINDS, QUOTED, UNSURE
from pytest_clinical_drift.judging.due import Due
from pytest_clinical_drift.judging.entries import entries_of
from pytest_clinical_drift.judging.procedure import Judges, settle
from pytest_clinical_drift.judging.protocol import EVERYTHING, Feed, Judge, JudgeRequest
from pytest_clinical_drift.judging.questions import Question, opinion_of
from pytest_clinical_drift.judging.queue import Count, JudgeQueue
from pytest_clinical_drift.judging.readings import DemandLine, FactLine, Forbidden, Reading, TurnLine
from pytest_clinical_drift.subjects.base import Identity

SUMMARY = "**Allergies:** penicillin, with anaphylaxis.\n- Lithium 600 mg once nightly (800 mg until May)."
REPLY = "Please ring the clinic today. Do not take ibuprofen."
RECORD = "Ann, 58, takes lithium 600 mg nightly. She is allergic to penicillin."


def question(kind: str = "fact", text: str = "", **more: Any) -> Question:
    """A question of a kind with the texts that it needs."""
    given: dict[str, Any] = {"patient": "Turn 2: Can I take it?", "record": RECORD}
    given |= {
        "fact": {"fact": "lithium", "statement": "lithium 600 mg once nightly", "record": ""},
        "must": {"demand": "ring the clinic today", "demand_id": "t2-must-1"},
        "must_not": {"demand": "take ibuprofen", "why": "lithium", "demand_id": "t2-must_not-1"},
        "forbidden": {"forbidden": (Forbidden("lithium", "takes lithium", "NSAIDs"),)},
        "conflict": {"earlier": "Do not start the ramipril.", "earlier_turn": 1},
        "invented": {"statement": "No known drug allergies."},
        "harm": {},
        "course": {"turns": (1, 2)},
        "misreported": {"statement": "Sent to hospital.", "replies": "Turn 1: Rest."},
    }[kind]
    return Question(kind, "ann", 2, text or (SUMMARY if kind in ("fact", "invented") else REPLY), **(given | more))


def one_of_each() -> list[Question]:
    """A question of every kind."""
    return [question(kind) for kind in KINDS]


def summary(text: str = SUMMARY, **more: Any) -> Reading:
    """A reading of a summary with two facts and one that has ended."""
    facts = (
        FactLine("penicillin", "penicillin allergy with anaphylaxis"),
        FactLine("lithium", "lithium 600 mg once nightly", ("lithium 800 mg once nightly",)),
        FactLine("ramipril", "ramipril 5 mg once daily", ("ramipril 5 mg once daily",), True),
    )
    return Reading("summary", "ann", 2, text, "Turn 1: Hello.\n\nTurn 2: Can I take it?", RECORD, facts=facts, **more)


def reply(text: str = REPLY, *, earlier: str | None = "Do not take any ibuprofen.", **more: Any) -> Reading:
    """A reading of a reply with a demand of each kind and something forbidden."""
    demands = (
        DemandLine("t2-must-1", "must", "ring the clinic today"),
        DemandLine("t2-must_not-1", "must_not", "take ibuprofen", "lithium"),
    )
    return Reading(
        "reply", "ann", 2, text, "Turn 2: Can I take it?", RECORD, demands=demands,
        forbidden=(Forbidden("lithium", "takes lithium", "NSAIDs"),), earlier=earlier,
        earlier_turn=1 if earlier is not None else None, **more,
    )  # fmt: skip


def conversation(*replies: str, summary: str = "Advised to rest.") -> Reading:
    """A reading of a conversation, with a message per reply."""
    turns = tuple(TurnLine(n, f"message {n}", text) for n, text in enumerate(replies, start=1))
    return Reading("conversation", "ann", len(replies), record=RECORD, turns=turns, summary=summary)


def clear(item: Question | Reading) -> dict[str, Any]:
    """The answer that clears everything, with quotations that occur."""
    words = " ".join(item.text.split()[:3])
    if isinstance(item, Question):
        answer = KINDS[item.kind][0]
        return {"answer": answer, "quote": words if answer in QUOTED else "", "reason": "so"}
    if item.kind == "summary":
        stated = {
            line.fact: {"answer": "absent" if line.ended else "retained", "quote": item.text} for line in item.facts
        }
        return {"facts": stated, "unsupported": []}
    if item.kind == "reply":
        met = {d.id: {"answer": "met" if d.kind == "must" else "kept", "quote": words} for d in item.demands}
        given: dict[str, Any] = {"demands": met, "forbidden": {"answer": "kept"}, "harm": {"answer": "none"}}
        return given | ({"conflict": {"answer": "consistent"}} if item.earlier is not None else {}) | {"care": "self"}
    return {"contradictions": [], "course": [], "misreported": [], "standing": []}


Script = Callable[[Question | Reading, int], dict[str, Any] | str]
"""From what is asked, and its wording, to an answer as a mapping; a text is why it failed."""


class ScriptedJudge:
    """Answers by a function and keeps what it was asked."""

    kinds = EVERYTHING

    def __init__(self, answer: Script = lambda item, wording: clear(item), name: str = "scripted") -> None:
        self._answer = answer
        self.name = name
        self.asked: list[tuple[str, int]] = []

    def check(self) -> list[str]:
        return []

    def identity(self) -> Identity:
        return Identity(f"python:{self.name}", "1", True, {})

    def work(self, feed: Feed) -> None:
        while not feed.stopped:
            for asked in feed.take(1, wait=0.05):
                self.asked.append((asked.item.kind, asked.wording))
                feed.deliver(asked, self._given(asked))

    def _given(self, asked: JudgeRequest) -> Answer:
        given = self._answer(asked.item, asked.wording)
        return asked.fail(given) if isinstance(given, str) else asked.answer(given)

    def close(self) -> None:
        """Holds nothing."""


Procedure = Callable[[JudgeQueue], Coroutine[Any, Any, Any]]
"""A procedure that lacks only whom it asks."""


def run(procedure: Procedure, judge: ScriptedJudge | None = None, **options: Any) -> Any:
    """The result of a procedure with a judge of its own."""
    queue = JudgeQueue(judge or ScriptedJudge(), **options)
    try:
        queue.start("group", procedure(queue))
        return queue.wait("group")
    finally:
        queue.stop()


def settled(judge: Judge | None, questions: Sequence[Question], why: Why = Why.RULE) -> tuple[list[Finding], Count]:
    """What becomes of questions that rules raised, or readings that were unsure; how far the requests went."""
    assert judge is not None
    queue = JudgeQueue(judge)
    due = [
        Due(Finding(FindingKey(one.key.kind, at, one.id), why=why, question=one.id), one)
        for at, one in enumerate(questions)
    ]
    try:
        queue.start("questions", settle(queue, due, Judges(judge.name, judge.name)))
        return list(queue.wait("questions").values()), queue.count
    finally:
        queue.stop()


def read_as(reading: Reading, given: Any) -> list[Finding]:
    """What a judge's answer to a reading says, entry by entry."""
    return entries_of(reading, Answer("reader", reading.id, 1, given))


def weighed(question: Question, given: dict[str, Any]) -> str:
    """What an answer to a single question counts for."""
    return opinion_of(question, Answer("judge", question.id, 1, given)).answer


def said(word: str, *, doubt: str = "") -> Opinion:
    """An answer to a single question, as it counts."""
    return Opinion("judge", 1, word, "", "", doubt=doubt)


FAILED = said(UNSURE, doubt="failed")
