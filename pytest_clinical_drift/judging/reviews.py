"""Reviews by people: append-only records, each with its own hash and the hash of the one before; they beat a judge."""

from __future__ import annotations

import datetime
import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError, ValidationInfo, field_validator

from pytest_clinical_drift.cases.faults import first_fault
from pytest_clinical_drift.cases.files import JSONFault, parse_json, read_text
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.judging.answers import UNSURE, against, answers_of
from pytest_clinical_drift.judging.questions import Question
from pytest_clinical_drift.judging.rulings import Opinion, person

FILE_NAME = "reviews.jsonl"
_LONGEST_NAME = 200
NO_REASON = "dismissed without a reason, which a severe alarm needs"
DECLARED = "names of reviewers are declared, not authenticated"


class Review(BaseModel, frozen=True, extra="forbid"):
    """One record: who answered which question how, and why."""

    reviewer: str
    role: str
    time: datetime.datetime
    question: str
    """Id of the question."""
    kind: str
    case_id: str
    answer: str
    reason: str
    severe: bool
    """The answer was about an alarm that fails its case by itself."""
    manifest: str
    """Hash of the run's manifest."""
    previous: str
    """Hash of the record before; empty in the first."""
    hash: str
    """Hash of all the other fields."""

    @field_validator("reviewer", "role", "question", "kind", "case_id", "answer", "manifest")
    @classmethod
    def _one_plain_line(cls, value: str, about: ValidationInfo) -> str:
        if not value.isprintable() or len(value) > _LONGEST_NAME:
            raise ValueError(f"must be one line of at most {_LONGEST_NAME} printable characters")
        if about.field_name in ("reviewer", "role", "question") and not value.strip():
            raise ValueError("must not be empty")
        return value.strip()

    @field_validator("time")
    @classmethod
    def _in_utc(cls, value: datetime.datetime) -> datetime.datetime:
        if value.utcoffset() != datetime.timedelta(0):
            raise ValueError("must be in UTC")
        return value

    @property
    def dismisses(self) -> bool:
        """Whether it speaks for the model."""
        return self.answer != UNSURE and not against(self.kind, self.answer)


def content_hash(record: Mapping[str, Any]) -> str:
    """Hash of a mapping's content, whatever its order and spacing; the review page computes the same one."""
    plain = json.dumps(record, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(plain.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Reviews:
    records: tuple[Review, ...] = ()
    places: tuple[str, ...] = ()
    """File and line of each record."""

    def on(self, question: str) -> Sequence[Opinion]:
        """What people answered to the question of this id, in the order in which they did."""
        answers = (review for review in self.records if question and review.question == question)
        return tuple(Opinion(r.reviewer, 0, r.answer, "", r.reason, role=r.role) for r in answers)

    def with_reasons(self, severe: Collection[str]) -> Reviews:
        """A `severe` alarm is not dismissed without a reason: such an answer is unsure."""
        records = (
            review.model_copy(update={"answer": UNSURE, "reason": NO_REASON})
            if review.question in severe and review.dismisses and not review.reason.strip()
            else review
            for review in self.records
        )
        return replace(self, records=tuple(records))

    def with_two_people(self, severe: Collection[str] = ()) -> tuple[Reviews, int]:
        """Where a severe alarm needs two people to dismiss it: what one dismissed is unsure; and how many those are.

        `severe` are questions that are severe whatever a record says of itself.
        """
        dismissing: dict[str, set[str]] = {}
        for review in self.records:
            people = dismissing.setdefault(review.question, set())
            (people.add if review.dismisses else people.discard)(person(review.reviewer))
        lone = {
            review.question
            for review in self.records
            if (review.severe or review.question in severe) and len(dismissing[review.question]) == 1
        }
        records = (
            review.model_copy(update={"answer": UNSURE}) if review.question in lone and review.dismisses else review
            for review in self.records
        )
        return replace(self, records=tuple(records)), len(lone)

    def people_on(self, questions: Collection[str]) -> tuple[str, ...]:
        """Who answered any of these questions, with the role declared."""
        heard = (review for review in self.records if review.question in questions)
        return tuple(dict.fromkeys(f"{review.reviewer} ({review.role})" for review in heard))


def read_reviews(path: Path, *, known: Reviews | None = None) -> Reviews:
    """Read a reviews file, after those already `known`; InputError in one sentence where it is none or was changed."""
    records: dict[str, Review] = {}
    previous = ""
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        if line.strip():
            where = f"{path}, line {number}"
            records[where] = _read(where, line, previous)
            previous = records[where].hash
    if not records:
        raise InputError(f"{path}: holds no review")
    known = known or Reviews()
    return Reviews((*known.records, *records.values()), (*known.places, *records))


def _read(where: str, line: str, previous: str) -> Review:
    try:
        raw = parse_json(line)
        review = Review.model_validate(raw)
    except ValidationError as error:
        raise InputError(f"{where}: not a review ({first_fault(error)})") from None
    except (ValueError, RecursionError) as error:
        fault = error.msg if isinstance(error, JSONFault) else "not JSON"
        raise InputError(f"{where}: not a review ({fault})") from None
    fault = ""
    if review.hash != content_hash({key: value for key, value in raw.items() if key != "hash"}):
        fault = "was changed after it was written, its hash does not fit"
    elif review.previous != previous:
        fault = "does not follow the record before it; a line was added, moved or taken out"
    elif review.answer not in answers_of(review.kind):
        fault = f"{review.answer!r} is not an answer to a question of kind {review.kind!r}"
    elif review.severe and review.dismisses and not review.reason.strip():
        fault = "dismisses a severe alarm without a reason"
    if fault:
        raise InputError(f"{where}: {fault}")
    return review


def check_reviews(reviews: Reviews, manifest: str, questions: Mapping[str, Question], severe: Collection[str]) -> None:
    """Refuse what was not said of this run, and a dismissal without a reason of one of its `severe` questions."""
    for where, review in zip(reviews.places, reviews.records, strict=True):
        question = questions.get(review.question)
        fault = ""
        if review.manifest != manifest:
            fault = f"was made for another run, its manifest hash is {review.manifest[:12]}, not {manifest[:12]}"
        elif question is None or (question.kind, question.case_id) != (review.kind, review.case_id):
            fault = "answers a question that this run does not hold"
        elif question.id in severe and review.dismisses and not review.reason.strip():
            fault = "dismisses a severe alarm without a reason"
        if fault:
            raise InputError(f"{where}: the review by {review.reviewer}, case {review.case_id or 'unknown'}, {fault}")
