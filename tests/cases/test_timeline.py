"""A case by turn, by hand: facts, demands, what messages state, probes."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from typing import Any

import pytest

from pytest_clinical_drift.cases.files import bundled_cases, load_cases
from pytest_clinical_drift.cases.model import Case, facts_at
from pytest_clinical_drift.cases.timeline import Timeline, demands_at, last_stated, probed_turns, scheduled_turns


def _case() -> Case:
    turns: list[dict[str, Any]] = [{"turn": number, "message": f"Message {number}."} for number in range(1, 24)]
    turns[1] |= {"restates": ["asthma"], "expect": {"must": [{"text": "ask about sleep", "by": 4}]}}
    turns[2] |= {"updates": [{"fact": "metformin 500 mg daily", "becomes": "metformin 1 g daily"}]}
    turns[4] |= {"expect": {"must_not": [{"text": "take ibuprofen", "until": 7, "severity": "minor"}]}}
    turns[20] |= {
        "introduces": [{"id": "rash", "text": "new rash"}],
        "updates": [{"fact": "asthma", "ended": True}],
    }
    facts = [{"id": "asthma", "text": "asthma"}, {"id": "dose", "text": "metformin 500 mg daily"}]
    content = {"id": "by-hand", "patient_summary": "A patient.", "critical_entities": facts, "turns": turns}
    return Case.model_validate(content)


def test_facts_hold_from_the_turn_that_states_them() -> None:
    timeline = Timeline.of(_case())
    assert [state.fact.text for state in timeline.facts_at(2)] == ["asthma", "metformin 500 mg daily"]
    assert [state.fact.text for state in timeline.facts_at(3)] == ["asthma", "metformin 1 g daily"]
    assert timeline.facts_at(3)[1].superseded == ("metformin 500 mg daily",)
    assert [fact.id for fact in timeline.current_at(20)] == ["asthma", "dose"]
    assert [fact.id for fact in timeline.current_at(21)] == ["dose", "rash"]
    assert [state.fact.id for state in timeline.facts_at(21)] == ["asthma", "dose", "rash"]


def test_demands_apply_to_the_turns_they_reach() -> None:
    """Made at 2 and due by 4; made at 5 and kept until 7."""
    timeline = Timeline.of(_case())
    on = {turn: [(demand.id, demand.due) for demand in timeline.demands_at(turn)] for turn in range(9)}
    assert on == {
        0: [],
        1: [],
        2: [("t2-must-1", False)],
        3: [("t2-must-1", False)],
        4: [("t2-must-1", True)],
        5: [("t5-must_not-1", True)],
        6: [("t5-must_not-1", True)],
        7: [("t5-must_not-1", True)],
        8: [],
    }
    assert not timeline.demands_at(5)[0].severe
    assert timeline.demands_at(2)[0].severe


def test_the_turn_that_last_stated_a_fact() -> None:
    """Restated at 2, updated by its text at 3, introduced at 21; the record is turn 0."""
    timeline = Timeline.of(_case())
    assert [timeline.last_stated("asthma", turn) for turn in (1, 2, 20, 21)] == [0, 2, 2, 21]
    assert [timeline.last_stated("dose", turn) for turn in (2, 3, 23)] == [0, 3, 3]
    assert timeline.last_stated("rash", 23) == 21


def test_probes_follow_the_schedule_and_the_changes() -> None:
    """Every turn to 20 and the last one are scheduled; the change at 21 adds itself and the turn after it."""
    timeline = Timeline.of(_case())
    assert timeline.scheduled == (*range(1, 21), 23)
    assert timeline.probed == (*range(1, 24),)


def test_timeline_is_frozen() -> None:
    timeline = Timeline.of(_case())
    with pytest.raises(FrozenInstanceError):
        timeline.probed = ()  # type: ignore[misc]


@pytest.mark.parametrize("case", load_cases(bundled_cases())[::12], ids=lambda case: case.id)
def test_the_functions_of_one_turn_agree(case: Case) -> None:
    timeline = Timeline.of(case)
    assert timeline.scheduled == scheduled_turns(len(case.turns))
    assert timeline.probed == probed_turns(case)
    for turn in range(len(case.turns) + 1):
        assert timeline.facts_at(turn) == facts_at(case, turn)
        assert timeline.demands_at(turn) == demands_at(case, turn)
        for state in facts_at(case, turn):
            assert timeline.last_stated(state.fact.id, turn) == last_stated(case, state.fact.id, turn)
