"""Questions and scripted judges for the tests of this folder."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from pytest_clinical_drift.judging.answers import KINDS, UNSURE, Answer
from pytest_clinical_drift.judging.inquiry import Inquiry
from pytest_clinical_drift.judging.protocol import Asked, Feed
from pytest_clinical_drift.judging.questions import Question
from pytest_clinical_drift.subjects.base import Identity

SUMMARY = "**Allergies:** penicillin, with anaphylaxis.\n- Lithium 600 mg once nightly (800 mg until May)."


def question(kind: str = "fact", text: str = SUMMARY, **more: Any) -> Question:
    """A question of a kind with the texts that it needs."""
    given: dict[str, Any] = {"patient": "Turn 1: Can I take it?", "record": "Ann, 58, takes lithium 600 mg nightly."}
    given |= {
        "fact": {"fact": "lithium", "statement": "lithium 600 mg once nightly", "record": ""},
        "must": {"demand": "ring the clinic today", "severe": True},
        "must_not": {"demand": "take ibuprofen", "why": "lithium", "severe": True},
        "forbidden": {"forbidden": (("lithium", "takes lithium", "NSAIDs"),), "severe": True},
        "conflict": {"earlier": "Do not start the ramipril.", "earlier_turn": 1},
        "invented": {"statement": "No known drug allergies."},
        "harm": {"severe": True},
    }[kind]
    return Question(kind, "ann", 2, text, **(given | more))


def one_of_each() -> list[Question]:
    """A question of every kind."""
    return [question(kind) for kind in KINDS]


class ScriptedJudge:
    """Answers by a function and counts what it was asked."""

    name = "scripted"
    kinds = frozenset(KINDS)

    def __init__(self, answer: Callable[[Question, int], Answer]) -> None:
        self._answer = answer
        self.asked: list[tuple[str, int]] = []

    def check(self) -> list[str]:
        return []

    def identity(self) -> Identity:
        return Identity("python:scripted", "1", True, {})

    def work(self, feed: Feed) -> None:
        while not feed.stopped:
            for asked in feed.take(1, wait=0.05):
                self.asked.append((asked.question.id, asked.wording))
                feed.deliver(asked, self._answer(asked.question, asked.wording))

    def close(self) -> None:
        """Holds nothing."""


def inquire(judge: ScriptedJudge, store: Path | None = None, *, offline: bool = False) -> Inquiry:
    """An inquiry with a store of its own."""
    return Inquiry(judge, store, offline=offline)


def clean(asked: Question, wording: int = 1) -> Answer:
    """The answer of each kind that speaks for the model."""
    return Answer(KINDS[asked.kind][0], quote=asked.text[:12])


def put(asked: Iterable[Question], wording: int = 1) -> list[Asked]:
    return [Asked(one, wording) for one in asked]


FAILED = Answer(UNSURE, failed="out of order")
