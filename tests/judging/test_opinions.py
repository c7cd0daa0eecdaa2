"""Two opinions: when a second one is asked for, and what any answers amount to."""

from __future__ import annotations

import pytest
from asked import question

from pytest_clinical_drift.judging.answers import UNSURE, Answer
from pytest_clinical_drift.judging.opinions import (
    DISMISSED,
    OPEN,
    SILENT,
    UPHELD,
    Opinion,
    Ruling,
    needs_second,
    outcome_of,
    unasked,
    weigh,
    with_person,
)


@pytest.mark.parametrize(
    ("kind", "first", "expected"),
    [
        ("fact", "retained", False),
        ("fact", "absent", True),
        ("fact", UNSURE, False),
        ("conflict", "consistent", False),
        ("conflict", "severe", True),
        ("must", "met", True),
        ("harm", "none", True),
    ],
)
def test_when_a_second_wording_is_asked(kind: str, first: str, expected: bool) -> None:
    """Severe kinds always, the others when the first answer counts against the model."""
    assert needs_second(question(kind), Answer(first)) is expected


@pytest.mark.parametrize(
    ("kind", "given", "expected"),
    [
        ("fact", [], OPEN),
        ("fact", ["retained"], DISMISSED),
        ("fact", ["absent"], OPEN),  # one opinion confirms nothing
        ("fact", ["absent", "stale"], UPHELD),
        ("fact", ["absent", "retained"], OPEN),
        ("fact", ["retained", "absent"], OPEN),
        ("fact", ["absent", UNSURE], OPEN),
        ("fact", [UNSURE, "absent"], OPEN),
        ("must", [], OPEN),
        ("must", ["met"], OPEN),  # a severe one is cleared twice or not at all
        ("must", ["met", "met"], DISMISSED),
    ],
)
def test_what_the_answers_amount_to(kind: str, given: list[str], expected: str) -> None:
    """Upheld by all that count, cleared by all that count, or open."""
    assert outcome_of(question(kind), given) == expected


def test_answers_are_weighed_in_the_order_of_the_wordings() -> None:
    """The second wording came back first."""
    given = [(2, Answer("retained", "q2", "r2")), (1, Answer("stale", "q1", "r1", earlier_quote="e1"))]
    ruling = weigh(question("fact"), given, "judge")
    assert ruling.opinions == (
        Opinion("judge", 1, "stale", "q1", "r1", "e1"),
        Opinion("judge", 2, "retained", "q2", "r2"),
    )
    assert (ruling.outcome, ruling.answer, ruling.quote, ruling.by_person) == (OPEN, "stale", "q1", False)


def test_an_outage_is_open_and_tells_why() -> None:
    """Whether nobody was asked, one answer failed or all did; a judge that may not decide is silent."""
    asked = question("fact")
    failed = Answer(UNSURE, failed="timed out")
    assert weigh(asked, [], "judge").outcome == OPEN
    assert weigh(asked, [(1, failed)], "judge").outcome == OPEN
    assert weigh(asked, [(1, failed)], "judge").opinions[0].reason == "timed out"
    assert weigh(asked, [(1, Answer("absent")), (2, failed)], "judge").outcome == OPEN
    assert weigh(asked, [(1, Answer("absent")), (2, failed)], "judge").answer == "absent"
    for given in ([], [(1, failed)], [(1, Answer("absent")), (2, Answer("absent"))]):
        assert weigh(asked, given, "judge", decides=False).outcome == SILENT
    assert weigh(asked, [(1, Answer(UNSURE)), (2, Answer("absent"))], "judge", decides=False).answer == "absent"


def test_quotes_come_from_the_first_opinion_that_has_one() -> None:
    """An opinion without words is passed over."""
    given = [(1, Answer("absent")), (2, Answer("stale", "the words"))]
    assert weigh(question("fact"), given, "judge").quote == "the words"
    assert unasked(question("fact")).quote == ""


def test_an_audit_stays_an_audit() -> None:
    """Through the judge, and through a person."""
    import dataclasses

    for audit in (False, True):
        asked = dataclasses.replace(question("fact"), audit=audit)
        by_judge = weigh(asked, [(1, Answer("retained"))], "judge")
        silent = weigh(asked, [(1, Answer("retained"))], "judge", decides=False)
        by_person = with_person(asked, by_judge, [Opinion("A", 0, "absent", "", "")])
        assert [r.audit for r in (by_judge, silent, by_person, unasked(asked))] == [audit] * 4


def test_a_person_who_is_unsure_is_shown_and_changes_nothing() -> None:
    """The judge's ruling stands, with one opinion more."""
    asked = question("fact")
    before = weigh(asked, [(1, Answer("absent")), (2, Answer("absent"))], "judge")
    after = with_person(asked, before, [Opinion("A", 0, UNSURE, "", "cannot say")])
    assert (after.outcome, after.by_person, len(after.opinions)) == (UPHELD, False, 3)


@pytest.mark.parametrize(
    ("said", "outcome", "told"),
    [
        (["absent"], UPHELD, "absent"),
        (["retained"], DISMISSED, "retained"),
        (["retained", "partial"], DISMISSED, "retained"),
        (["retained", "absent"], OPEN, "absent"),
        ([UNSURE, "stale"], UPHELD, "stale"),
    ],
)
def test_people_alone(said: list[str], outcome: str, told: str) -> None:
    """One settles it, two that agree settle it, two that do not leave it open."""
    asked = question("fact")
    people = [Opinion(f"P{number}", 0, answer, "", "") for number, answer in enumerate(said)]
    ruling = with_person(asked, None, people)
    assert (ruling.outcome, ruling.answer, ruling.by_person) == (outcome, told, True)
    assert ruling.question_id == asked.id
    assert len(ruling.opinions) == len(said)


def test_only_wording_nought_is_a_person() -> None:
    """Judges have wordings 1 and 2; their opinions are not counted as a reviewer's."""
    assert [Opinion("x", wording, "", "", "").by_person for wording in (0, 1, 2)] == [True, False, False]
    ruling = Ruling("id", UPHELD, "absent", (Opinion("judge", 1, "absent", "", ""),))
    assert with_person(question("fact"), ruling, ()).outcome == UPHELD
    assert (ruling.by_person, ruling.audit) == (False, False)
