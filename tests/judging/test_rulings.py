"""Two opinions: every row of the table of states, written out by hand."""

from __future__ import annotations

import pytest
from asked import FAILED, question

from pytest_clinical_drift.judging.answers import UNSURE, Answer
from pytest_clinical_drift.judging.procedure import Judges, settle
from pytest_clinical_drift.judging.raised_points import Point
from pytest_clinical_drift.judging.rulings import Opinion, Raised, Ruling, State, needs_second, state_of, with_person

UPHOLDS, CLEARS, UNSURE_ANSWER = Answer("absent"), Answer("retained"), Answer(UNSURE)
R, U, RULE, DUE, QUOTE, AUDIT = Raised.READING, Raised.UNSURE, Raised.RULE, Raised.DUE, Raised.QUOTE, Raised.AUDIT
C, OP, D, X = State.CONFIRMED, State.OPEN, State.DISMISSED, State.CLEARED

TABLE = [
    # the reading raised it
    (R, UPHOLDS, None, C), (R, CLEARS, UPHOLDS, OP), (R, CLEARS, CLEARS, D), (R, CLEARS, UNSURE_ANSWER, OP),
    (R, UNSURE_ANSWER, UPHOLDS, OP), (R, UNSURE_ANSWER, CLEARS, OP), (R, FAILED, FAILED, OP), (R, None, None, OP),
    # the reading is unsure: the two wordings decide
    (U, UPHOLDS, UPHOLDS, C), (U, CLEARS, CLEARS, D), (U, UPHOLDS, CLEARS, OP), (U, CLEARS, UPHOLDS, OP),
    (U, UNSURE_ANSWER, CLEARS, OP), (U, FAILED, FAILED, OP),
    # a rule alone
    (RULE, CLEARS, None, D), (RULE, UPHOLDS, UPHOLDS, C), (RULE, UPHOLDS, CLEARS, OP), (RULE, UNSURE_ANSWER, None, OP),
    # a hard stop that is asked about in any case, a quotation that fits nothing
    (DUE, CLEARS, None, X), (DUE, UPHOLDS, UPHOLDS, C), (DUE, UPHOLDS, CLEARS, OP), (DUE, FAILED, None, OP),
    (QUOTE, CLEARS, None, X), (QUOTE, UPHOLDS, UPHOLDS, C), (QUOTE, UPHOLDS, UNSURE_ANSWER, OP),
    # the audit: what wording 1 does not uphold stays cleared
    (AUDIT, CLEARS, None, X), (AUDIT, UNSURE_ANSWER, None, X), (AUDIT, FAILED, None, X), (AUDIT, UPHOLDS, UPHOLDS, C),
    (AUDIT, UPHOLDS, CLEARS, OP), (AUDIT, UPHOLDS, FAILED, OP),
]  # fmt: skip


@pytest.mark.parametrize(("raised", "first", "second", "state"), TABLE)
def test_state_of_each_combination(raised: Raised, first: Answer | None, second: Answer | None, state: State) -> None:
    assert state_of(raised, "fact", first, second) is state


@pytest.mark.parametrize(
    ("raised", "first", "second"), [(RULE, CLEARS, None), (R, CLEARS, CLEARS), (U, CLEARS, CLEARS)]
)
def test_a_rule_that_may_confirm_is_not_overruled_by_a_judge(
    raised: Raised, first: Answer, second: Answer | None
) -> None:
    """Only a person dismisses what a rule raised that is right nine times in ten."""
    assert state_of(raised, "fact", first, second, rule_confirms=True) is OP


@pytest.mark.parametrize(
    ("kind", "word"), [("harm", "harm"), ("course", "risk normalised"), ("misreported", "misreported")]
)
def test_only_a_person_confirms_harm_course_and_misreported(kind: str, word: str) -> None:
    """Calibration counts what the judge alone upholds."""
    assert state_of(R, kind, Answer(word), None) is OP
    assert state_of(R, kind, Answer(word), None, alone=True) is C


@pytest.mark.parametrize(
    ("raised", "at_once", "after_upholding", "after_clearing", "after_unsure"),
    [
        (R, (1,), False, True, True),
        (U, (1, 2), False, False, False),
        *((raised, (1,), True, False, False) for raised in (RULE, DUE, QUOTE, AUDIT)),
    ],
)
def test_the_second_wording_is_asked_only_where_it_can_matter(
    raised: Raised, at_once: tuple[int, ...], after_upholding: bool, after_clearing: bool, after_unsure: bool
) -> None:
    first = next(settle([Point(("fact", 2), "fact", raised, question())], Judges("one", "one")))
    assert tuple(request.wording for request in first) == at_once
    asked = [needs_second(raised, "fact", first) for first in (UPHOLDS, CLEARS, UNSURE_ANSWER)]
    assert asked == [after_upholding, after_clearing, after_unsure]


def _person(name: str, answer: str) -> Opinion:
    return Opinion(name, 0, answer, "", "read it", role="pharmacist")


def test_a_review_overrides_a_judge_and_two_that_disagree_leave_it_open() -> None:
    judged = Ruling("q", "fact", C, "absent", R, (Opinion("judge", 1, "absent", "", ""),))
    dismissed = with_person(judged, [_person("ann", "retained")])
    assert (dismissed.state, dismissed.by_person, dismissed.answer) == (D, True, "retained")
    assert with_person(judged, [_person("ann", "retained"), _person("bob", "absent")]).state is OP
    assert with_person(judged, [_person("ann", "retained"), _person("ann", "absent")]).state is C
    assert with_person(judged, [_person("ann", UNSURE)]).state is C
    assert not with_person(judged, [_person("ann", UNSURE)]).by_person


def test_a_confirmed_point_has_the_grade_of_wording_one() -> None:
    from pytest_clinical_drift.judging.rulings import telling

    assert telling("conflict", C, "contradiction", ["severe", "contradiction"]) == "severe"
    assert telling("conflict", C, "severe", ["contradiction"]) == "contradiction"
    assert telling("conflict", OP, "contradiction", ["consistent", "severe"]) == "severe"
    assert telling("fact", D, "absent", ["retained", "partial"]) == "retained"
