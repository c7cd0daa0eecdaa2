"""Two opinions: every row of the table of states, written out by hand."""

from __future__ import annotations

import pytest
from asked import FAILED, ScriptedJudge, clear, question, said, settled
from found import key

from pytest_clinical_drift.core.findings import Finding, Opinion
from pytest_clinical_drift.core.words import State, Why
from pytest_clinical_drift.judging.answers import UNSURE
from pytest_clinical_drift.judging.opinions import needs_second, state_of, telling, with_people

UPHOLDS, CLEARS, UNSURE_ANSWER = said("absent"), said("retained"), said(UNSURE)
R, U, RULE, DUE, QUOTE, AUDIT = Why.READING, Why.UNSURE, Why.RULE, Why.DUE, Why.QUOTE, Why.AUDIT
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


@pytest.mark.parametrize(("why", "first", "second", "state"), TABLE)
def test_state_of_each_combination(why: Why, first: Opinion | None, second: Opinion | None, state: State) -> None:
    assert state_of(why, "fact", first, second) is state


@pytest.mark.parametrize(("why", "first", "second"), [(RULE, CLEARS, None), (R, CLEARS, CLEARS), (U, CLEARS, CLEARS)])
def test_a_rule_that_may_confirm_is_not_overruled_by_a_judge(why: Why, first: Opinion, second: Opinion | None) -> None:
    """Only a person dismisses what a rule raised that is right nine times in ten."""
    assert state_of(why, "fact", first, second, rule_confirms=True) is OP


@pytest.mark.parametrize(
    ("kind", "word"), [("harm", "harm"), ("course", "risk normalised"), ("misreported", "misreported")]
)
def test_only_a_person_confirms_harm_course_and_misreported(kind: str, word: str) -> None:
    """Calibration counts what the judge alone upholds."""
    assert state_of(R, kind, said(word), None) is OP
    assert state_of(R, kind, said(word), None, alone=True) is C


@pytest.mark.parametrize(
    ("why", "after_upholding", "after_clearing", "after_unsure"),
    [
        (R, False, True, True),
        (U, False, False, False),
        *((why, True, False, False) for why in (RULE, DUE, QUOTE, AUDIT)),
    ],
)
def test_the_second_wording_is_asked_only_where_it_can_matter(
    why: Why, after_upholding: bool, after_clearing: bool, after_unsure: bool
) -> None:
    asked = [needs_second(why, "fact", first) for first in (UPHOLDS, CLEARS, UNSURE_ANSWER)]
    assert asked == [after_upholding, after_clearing, after_unsure]


@pytest.mark.parametrize(("why", "wordings"), [(U, [1, 2]), (RULE, [1]), (DUE, [1]), (QUOTE, [1]), (AUDIT, [1])])
def test_both_wordings_are_asked_at_once_only_where_the_reading_was_unsure(why: Why, wordings: list[int]) -> None:
    """The judge clears it: for the other reasons its first answer settles it."""
    judge = ScriptedJudge(lambda item, wording: clear(item))
    settled(judge, [question()], why)
    assert [wording for _, wording in judge.asked] == wordings


def _person(name: str, answer: str) -> Opinion:
    return Opinion(name, 0, answer, "", "read it", role="pharmacist")


def test_a_review_overrides_a_judge_and_two_that_disagree_leave_it_open() -> None:
    opinions = (Opinion("judge", 1, "absent", "", ""),)
    judged = Finding(key("fact", 2, "lithium"), opinions, "absent", C, R, "q")
    dismissed = with_people(judged, [_person("ann", "retained")])
    assert (dismissed.state, dismissed.by_person, dismissed.answer) == (D, True, "retained")
    assert with_people(judged, [_person("ann", "retained"), _person("bob", "absent")]).state is OP
    assert with_people(judged, [_person("ann", "retained"), _person("ann", "absent")]).state is C
    assert with_people(judged, [_person("ann", UNSURE)]).state is C
    assert not with_people(judged, [_person("ann", UNSURE)]).by_person


def test_a_confirmed_finding_has_the_grade_of_wording_one() -> None:
    assert telling("conflict", C, "contradiction", ["severe", "contradiction"]) == "severe"
    assert telling("conflict", C, "severe", ["contradiction"]) == "contradiction"
    assert telling("conflict", OP, "contradiction", ["consistent", "severe"]) == "severe"
    assert telling("fact", D, "absent", ["retained", "partial"]) == "retained"
