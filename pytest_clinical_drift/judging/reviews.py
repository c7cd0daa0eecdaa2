"""Reviews by people: append-only records, each with its hash and that of the one before; how far two people agree."""

from __future__ import annotations

import datetime
import hashlib
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError, ValidationInfo, field_validator

from pytest_clinical_drift.cases.faults import first_fault
from pytest_clinical_drift.core.files import read_text
from pytest_clinical_drift.core.findings import Opinion
from pytest_clinical_drift.core.parsing import JSONFault, parse_json
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.judging.answers import UNSURE, against, answers_of
from pytest_clinical_drift.judging.opinions import person
from pytest_clinical_drift.judging.questions import Question
from pytest_clinical_drift.metrics.agreement import (
    cohen_kappa,
    krippendorff_alpha,
    paired_label_limits,
    percent_agreement,
)

FILE_NAME = "reviews.jsonl"
_LONGEST_NAME = 200
NO_REASON = "dismissed without a reason, which a severe alarm needs"


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

    @property
    def says_nothing(self) -> bool:
        """Whether it dismisses without a reason, which a severe alarm needs."""
        return self.dismisses and not self.reason.strip()


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
        unsure = {"answer": UNSURE, "reason": NO_REASON}
        return self._changed(lambda review: review.question in severe and review.says_nothing, unsure)

    def with_two_people(self, severe: Collection[str] = ()) -> tuple[Reviews, int]:
        """Where a severe alarm needs two people to dismiss it: what one dismissed is unsure; and how many those are.

        `severe` are questions that are severe whatever a record says of itself.
        """
        dismissing: dict[str, set[str]] = {}
        for review in self.records:
            people = dismissing.setdefault(review.question, set())
            (people.add if review.dismisses else people.discard)(person(review.reviewer))
        graver = {review.question for review in self.records if review.severe}.union(severe)
        lone = {question for question, people in dismissing.items() if question in graver and len(people) == 1}
        return self._changed(lambda r: r.question in lone and r.dismisses, {"answer": UNSURE}), len(lone)

    def _changed(self, which: Callable[[Review], bool], update: Mapping[str, str]) -> Reviews:
        return replace(self, records=tuple(r.model_copy(update=update) if which(r) else r for r in self.records))

    def people_on(self, questions: Collection[str]) -> tuple[str, ...]:
        """Who answered any of these questions, with the role declared."""
        heard = (review for review in self.records if review.question in questions)
        return tuple(dict.fromkeys(f"{review.reviewer} ({review.role})" for review in heard))


def read_reviews(path: Path, *, known: Reviews | None = None) -> Reviews:
    """Read a reviews file, after those already `known`; InputError in one sentence where it is none or was changed."""
    records: list[Review] = []
    places: list[str] = []
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        if line.strip():
            places.append(f"{path}, line {number}")
            records.append(_read(places[-1], line, records[-1].hash if records else ""))
    if not records:
        raise InputError(f"{path}: holds no review")
    known = known or Reviews()
    return Reviews((*known.records, *records), (*known.places, *places))


def _read(where: str, line: str, previous: str) -> Review:
    try:
        raw = parse_json(line)
        review = Review.model_validate(raw)
    except (ValueError, RecursionError) as error:
        fault = error.msg if isinstance(error, JSONFault) else "not JSON"
        fault = first_fault(error) if isinstance(error, ValidationError) else fault
        raise InputError(f"{where}: not a review ({fault})") from None
    if review.hash != content_hash({key: value for key, value in raw.items() if key != "hash"}):
        raise InputError(f"{where}: was changed after it was written, its hash does not fit")
    if review.previous != previous:
        raise InputError(f"{where}: does not follow the record before it; a line was added, moved or taken out")
    if review.answer not in answers_of(review.kind):
        raise InputError(f"{where}: {review.answer!r} is not an answer to a question of kind {review.kind!r}")
    if review.severe and review.says_nothing:
        raise InputError(f"{where}: dismisses a severe alarm without a reason")
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
        elif question.id in severe and review.says_nothing:
            fault = "dismisses a severe alarm without a reason"
        if fault:
            raise InputError(f"{where}: the review by {review.reviewer}, case {review.case_id or 'unknown'}, {fault}")


# ---- how far two people agree

ALL = "all"
Figure = tuple[float | None, tuple[float, float] | None]
"""A value with its limits; None where it is undefined: both gave one and the same answer throughout."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far two reviewers agree on one kind of question: does the alarm count against the model?"""

    kind: str
    questions: int
    percent: Figure
    kappa: Figure
    alpha: Figure


@dataclass(frozen=True, slots=True)
class Difference:
    """A question on which two reviewers differ."""

    question: str
    kind: str
    case_id: str
    first: str
    second: str
    third: str = ""
    """What a third reviewer says, who decides; empty where nobody or unsure."""


def compare_reviews(
    one: Reviews, two: Reviews, three: Reviews | None = None
) -> tuple[list[Agreement], list[Difference]]:
    """Agreement per kind and over all, and the questions that differ; of one reviewer the last answer counts.

    `three` are the reviews of somebody else, who decides where the two differ.
    """
    _see_one_person_each([reviews for reviews in (one, two, three) if reviews is not None])
    third = {review.question: review.answer for review in (three.records if three else ())}
    pairs = _answered_by_both(one, two)
    if not pairs:
        raise InputError("agreement: the two files answer no question in common")
    sides = [(a.kind, against(a.kind, a.answer), against(b.kind, b.answer)) for a, b in pairs]
    kinds = [ALL, *dict.fromkeys(kind for kind, _, _ in sides)]
    table = [_agreement(kind, [(x, y) for of, x, y in sides if kind in (ALL, of)]) for kind in kinds]
    differ = [
        Difference(a.question, a.kind, a.case_id, a.answer, b.answer, third.get(a.question, "").replace(UNSURE, ""))
        for (a, b), (_, one_side, other_side) in zip(pairs, sides, strict=True)
        if one_side != other_side
    ]
    return table, differ


def _see_one_person_each(given: Sequence[Reviews]) -> None:
    """Refuse files of several people, and two files of one."""
    seen: set[str] = set()
    for reviews in given:
        people = {review.reviewer for review in reviews.records}
        if len(people) > 1:
            raise InputError(f"agreement: one file holds reviews of several people ({', '.join(sorted(people))})")
        if people & seen:
            raise InputError(f"agreement: two files hold reviews of the same person ({people.pop()})")
        seen |= people


def _answered_by_both(one: Reviews, two: Reviews) -> list[tuple[Review, Review]]:
    """The last answers of two reviewers to the same question, where neither is unsure."""
    first = {review.question: review for review in one.records}
    second = {review.question: review for review in two.records}
    pairs = [(review, second[name]) for name, review in first.items() if name in second]
    return [(a, b) for a, b in pairs if UNSURE not in (a.answer, b.answer)]


def _agreement(kind: str, sides: Sequence[tuple[bool, bool]]) -> Agreement:
    one = [side for side, _ in sides]
    two = [side for _, side in sides]
    percent, kappa, alpha = (
        (figure(one, two), paired_label_limits(one, two, figure))
        for figure in (percent_agreement, cohen_kappa, krippendorff_alpha)
    )
    return Agreement(kind, len(sides), percent, kappa, alpha)
