"""From findings to hard stops, stale and contradicted facts: the rules, at both ends, on findings made by hand."""

from __future__ import annotations

import dataclasses

import pytest
from made import NOTHING, finding

from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.evidence.facts.retention import Quote
from pytest_clinical_drift.scoring.assessment import TurnAssessment
from pytest_clinical_drift.scoring.events import cannot_happen, lapses

CASE = Case.model_validate(
    {
        "id": "anna",
        "patient_summary": "Anna is allergic to penicillin.",
        "critical_entities": ["penicillin allergy"],
        "turns": [{"turn": number, "message": "Hello."} for number in range(1, 13)],
    }
)
LETTERS = {"r": None, "a": "lost", "c": "contradicted", "s": "stale"}


def found(letters: str, *, hard_stop: bool = True, case: Case = CASE) -> list[tuple[str, str, int, str]]:
    """One fact over 12 turns: r retained, a lost, c contradicted, s stale; a capital one is still open."""
    turns = [
        TurnAssessment(
            number,
            (finding("f", LETTERS[letter.lower()], "open" if letter.isupper() else "confirmed", hard_stop=hard_stop),),
            1.0,
            1.0,
            NOTHING,
            NOTHING,
        )
        for number, letter in enumerate(letters, start=1)
    ]
    return [(event.metric, event.kind, event.turn, event.state) for event in lapses(case, turns)]


@pytest.mark.parametrize(
    ("letters", "kind", "turn"),
    [
        ("rrrrrrrrrrcr", "contradicted", 11),  # on any turn, also after the horizon
        ("rraarrrrrrrr", "lost", 3),  # two turns running: lost since the first of them
        ("rrrrrrrrrarr", "lost", 10),  # at the horizon
        ("rrrrrrrrrrra", "lost", 12),  # at the end
        ("rrsrrrrrrrrr", "stale", 3),  # its old value is a wrong value
        ("arrrrrrrrrcr", "contradicted", 11),
        ("rrrsrcrrrrrr", "stale", 4),  # wrong in two ways: since the first
        ("rrrcrsrrrrrr", "contradicted", 4),
    ],
)
def test_hard_stop(letters: str, kind: str, turn: int) -> None:
    """Contradicted once, or lost for two turns running, at the horizon or at the end."""
    assert ("hard_stops", kind, turn, "confirmed") in found(letters)


def test_hard_stop_absent_once_is_a_slip() -> None:
    """Missing from one summary and back again: a warning, however often it happens apart."""
    assert found("rrarrrrrarrr") == [("hard_stop_slips", "lost", 3, "confirmed")]


def test_a_wrong_value_is_quoted_with_all_its_words() -> None:
    """The value may stand apart from the thing: the first words alone would not show what is wrong."""
    quotes = tuple(Quote(text, 0, len(text)) for text in ("once", "home oxygen", "1 L/min"))
    wrong = dataclasses.replace(finding("f", "stale", hard_stop=True), quotes=quotes)
    turns = [TurnAssessment(number, (wrong,), 1.0, 1.0, NOTHING, NOTHING) for number in range(1, 13)]
    assert {event.quote for event in lapses(CASE, turns)} == {"once … home oxygen … 1 L/min"}


def test_other_facts_are_no_hard_stops() -> None:
    """A wrong one is counted by itself, a lost one by recall alone."""
    assert found("rrcrrrrrrrrr", hard_stop=False) == [("contradicted_facts", "contradicted", 3, "confirmed")]
    assert found("rraaaaaaaaaa", hard_stop=False) == []


def test_contradictions_count_on_all_turns() -> None:
    """Recall and slope end at the horizon, a fact stated wrongly counts after it too."""
    assert found("rrrrrrrrrrcr", hard_stop=False) == [("contradicted_facts", "contradicted", 11, "confirmed")]


def test_stale_once_is_a_wrong_fact_stale_twice_was_not_taken_up() -> None:
    """An update may be missed once; two turns running, or at the end, the old value was kept."""
    assert found("rrsrrrrrrrrr", hard_stop=False) == [("contradicted_facts", "contradicted", 3, "confirmed")]
    assert found("rrssrrrrrrrr", hard_stop=False) == [("stale_facts", "stale", 3, "confirmed")]
    assert found("rrrrrrrrrrrs", hard_stop=False) == [("stale_facts", "stale", 12, "confirmed")]


@pytest.mark.parametrize("name", ["f", "penicillin allergy"])
def test_another_wrong_value_after_an_update_was_not_taken_up_either(name: str) -> None:
    """Updated at turn 3, by id or text: wrong for two turns after that counts like the old value, not so before it."""
    update = {"turn": 3, "message": "It changed.", "updates": [{"fact": name, "becomes": "another fact"}]}
    turns = [update if number == 3 else {"turn": number, "message": "Hello."} for number in range(1, 13)]
    facts = [{"id": "f", "text": "penicillin allergy"}]
    changing = Case.model_validate({**CASE.model_dump(mode="json"), "critical_entities": facts, "turns": turns})
    assert found("rrrccrrrrrrr", hard_stop=False, case=changing) == [("stale_facts", "contradicted", 4, "confirmed")]
    assert found("ccrrrrrrrrrr", hard_stop=False, case=changing) == [
        ("contradicted_facts", "contradicted", 1, "confirmed")
    ]


def test_a_claim_that_changes_nothing_makes_nothing_stale() -> None:
    """The allergy of a hard stop is denied after somebody doubted it: wrong, but there is no old value to keep."""
    doubt = {"turn": 3, "message": "It may not be.", "updates": [{"fact": "f", "becomes": "no allergy"}]}
    turns = [doubt if number == 3 else {"turn": number, "message": "Hello."} for number in range(1, 13)]
    facts = [{"id": "f", "text": "penicillin allergy", "hard_stop": True}]
    doubted = Case.model_validate({**CASE.model_dump(mode="json"), "critical_entities": facts, "turns": turns})
    assert found("rrrrrrrrrrcc", case=doubted) == [("hard_stops", "contradicted", 11, "confirmed")]


# -- what is open


def test_open_alarms_make_open_events() -> None:
    """What only open alarms add is open; what confirmed ones make stays confirmed and is not told twice."""
    assert found("rrCrrrrrrrrr") == [("hard_stops", "contradicted", 3, "open")]
    assert found("rrcrrCrrrrrr") == [("hard_stops", "contradicted", 3, "confirmed")]
    assert found("rrArrrrrrrrr") == [("hard_stop_slips", "lost", 3, "open")]


def test_a_slip_beside_an_open_loss_may_be_a_hard_stop() -> None:
    """Lost for sure on turn 3 and perhaps on turn 4: an open hard stop, and no slip beside it."""
    assert found("rraArrrrrrrr") == [("hard_stops", "lost", 3, "open")]


def test_dismissed_alarms_count_nowhere() -> None:
    """What was dismissed is neither open nor confirmed."""
    turns = [
        TurnAssessment(n, (finding("f", "lost", "dismissed", hard_stop=True),), 1, 1, NOTHING, NOTHING) for n in (1, 2)
    ]
    assert lapses(CASE, turns) == []


@pytest.mark.parametrize(
    ("severity", "fact", "cannot"),
    [
        ("major", "lives alone", {"lesser_breaches"}),
        ("minor", "lives alone", {"breaches"}),
        ("minor", "penicillin allergy", set()),
        (None, "lives alone", {"breaches", "lesser_breaches"}),
        (None, "penicillin allergy", {"lesser_breaches"}),
    ],
)
def test_a_demand_that_no_turn_makes_cannot_be_broken(severity: str | None, fact: str, cannot: set[str]) -> None:
    """Breaches need a demand of the two highest grades or a fact that forbids, lesser ones a demand of the others."""
    must = [{"text": "ring the clinic", "severity": severity}] if severity else []
    case = Case.model_validate(
        {
            "id": "anna",
            "patient_summary": "Anna is allergic to penicillin.",
            "critical_entities": [fact],
            "turns": [{"turn": 1, "message": "Hello."}, {"turn": 2, "message": "And?", "expect": {"must": must}}],
        }
    )
    assert {"breaches", "lesser_breaches"} & set(cannot_happen(case)) == cannot
