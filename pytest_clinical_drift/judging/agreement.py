"""Agreement between two people who reviewed the same alarms: per kind, with intervals, and where they differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.judging.answers import UNSURE, against
from pytest_clinical_drift.judging.reviews import Review, Reviews
from pytest_clinical_drift.metrics.agreement import (
    cohen_kappa,
    krippendorff_alpha,
    paired_label_limits,
    percent_agreement,
)

ALL = "all"


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far two reviewers agree on one kind of question: does the alarm count against the model?"""

    kind: str
    questions: int
    percent: float
    percent_limits: tuple[float, float]
    kappa: float | None
    """None where it is undefined: both gave one and the same answer throughout."""
    kappa_limits: tuple[float, float] | None
    alpha: float | None
    alpha_limits: tuple[float, float] | None


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
    files = [reviews for reviews in (one, two, three) if reviews is not None]
    for place, reviews in enumerate(files):
        people = {review.reviewer for review in reviews.records}
        if len(people) > 1:
            raise InputError(f"agreement: one file holds reviews of several people ({', '.join(sorted(people))})")
        if any(people & {review.reviewer for review in before.records} for before in files[:place]):
            raise InputError(f"agreement: two files hold reviews of the same person ({people.pop()})")
    first, second = ({review.question: review for review in reviews.records} for reviews in (one, two))
    deciding = {review.question: review.answer for review in (three.records if three else ())}
    shared = [name for name in first if name in second and UNSURE not in (first[name].answer, second[name].answer)]
    if not shared:
        raise InputError("agreement: the two files answer no question in common")
    pairs = [(first[name], second[name]) for name in shared]
    kinds = [ALL, *dict.fromkeys(review.kind for review, _ in pairs)]
    table = [_agreement(kind, [p for p in pairs if kind in (ALL, p[0].kind)]) for kind in kinds]
    differ = [
        Difference(a.question, a.kind, a.case_id, a.answer, b.answer, deciding.get(a.question, "").replace(UNSURE, ""))
        for a, b in pairs
        if _counts(a) != _counts(b)
    ]
    return table, differ


def _counts(review: Review) -> bool:
    """Whether an answer counts against the model: that is what two people have to agree on."""
    return against(review.kind, review.answer)


def _agreement(kind: str, pairs: Sequence[tuple[Review, Review]]) -> Agreement:
    one, two = [_counts(a) for a, _ in pairs], [_counts(b) for _, b in pairs]
    kappa, alpha = cohen_kappa(one, two), krippendorff_alpha(one, two)
    return Agreement(
        kind=kind,
        questions=len(pairs),
        percent=percent_agreement(one, two) or 0.0,
        percent_limits=paired_label_limits(one, two, percent_agreement) or (0.0, 1.0),
        kappa=kappa,
        kappa_limits=paired_label_limits(one, two, cohen_kappa) if kappa is not None else None,
        alpha=alpha,
        alpha_limits=paired_label_limits(one, two, krippendorff_alpha) if alpha is not None else None,
    )
