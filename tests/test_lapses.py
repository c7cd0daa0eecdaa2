"""From findings to hard stops and stale facts: the rules, on findings made by hand."""

from __future__ import annotations

from pytest_clinical_drift.assessment import EntityScores, FactFinding, TurnAssessment
from pytest_clinical_drift.cases import Case
from pytest_clinical_drift.lapses import find_contradicted_facts, find_hard_stops, find_stale_facts

NOTHING = EntityScores(None, None, None, None)
CASE = Case.model_validate(
    {
        "id": "anna",
        "patient_summary": "Anna is allergic to penicillin.",
        "critical_entities": ["penicillin allergy"],
        "turns": [{"turn": number, "message": "Hello."} for number in range(1, 13)],
    }
)


def turns_of(statuses: str, *, hard_stop: bool = True, stale: bool = False) -> list[TurnAssessment]:
    """One fact over the turns: r retained, a absent, c contradicted."""
    names = {"r": "retained", "a": "absent", "c": "contradicted", "p": "partial"}
    return [
        TurnAssessment(
            turn,
            (FactFinding("fact", "the fact", names[letter], "why", (), hard_stop, stale and letter == "c"),),
            1.0,
            1.0,
            NOTHING,
            NOTHING,
        )
        for turn, letter in enumerate(statuses, start=1)
    ]


def test_hard_stop_contradicted_once_is_fatal() -> None:
    """Denied on any turn, even one after the horizon."""
    assert find_hard_stops(CASE, turns_of("rrrrrrrrrrcr"))[0] == ('turn 11: contradicted "the fact" (hard stop)',)


def test_hard_stop_absent_twice_in_a_row_is_fatal() -> None:
    """Two turns running without it: lost since the first of them."""
    assert find_hard_stops(CASE, turns_of("rraarrrrrrrr")) == (('turn 3: lost "the fact" (hard stop)',), ())


def test_hard_stop_absent_at_the_horizon_or_the_end_is_fatal() -> None:
    """Turn 10 and the last turn count by themselves."""
    assert find_hard_stops(CASE, turns_of("rrrrrrrrrarr"))[0] == ('turn 10: lost "the fact" (hard stop)',)
    assert find_hard_stops(CASE, turns_of("rrrrrrrrrrra"))[0] == ('turn 12: lost "the fact" (hard stop)',)


def test_hard_stop_absent_once_is_a_slip() -> None:
    """Missing from one summary and back again: a warning. A partial statement is none."""
    assert find_hard_stops(CASE, turns_of("rrarrrrrarrr")) == ((), ('turn 3: "the fact" (hard stop) missing once',))
    assert find_hard_stops(CASE, turns_of("rrrrrrrrrprp")) == ((), ())


def test_other_facts_are_no_hard_stops() -> None:
    """Only marked facts stop a release by themselves; a wrong one is still reported."""
    turns = turns_of("rrcrrrrrrrrr", hard_stop=False)
    assert find_hard_stops(CASE, turns) == ((), ())
    assert find_contradicted_facts(CASE, turns, set()) == ('turn 3: contradicted "the fact"',)


def test_contradiction_after_the_horizon_is_not_counted_among_the_gated() -> None:
    """The gated figures use turns 1 to 10."""
    assert find_contradicted_facts(CASE, turns_of("rrrrrrrrrrcr", hard_stop=False), set()) == ()


def test_stale_once_is_forgiven_stale_twice_is_not() -> None:
    """An update may be missed once; two turns running, or at the end, it was not taken up."""
    assert not find_stale_facts(CASE, turns_of("rrcrrrrrrrrr", hard_stop=False, stale=True))
    lasting = find_stale_facts(CASE, turns_of("rrccrrrrrrrr", hard_stop=False, stale=True))
    assert list(lasting) == ['turn 3: "the fact" not taken up (why)']
    assert not find_contradicted_facts(CASE, turns_of("rrccrrrrrrrr", hard_stop=False, stale=True), set(lasting))
