"""How long facts are remembered: figures over the whole conversation, by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from made import conversation, event, finding

from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.metrics.horizon import Horizon
from pytest_clinical_drift.scoring.assessment import CaseAssessment, SingleFigures
from pytest_clinical_drift.verdict.memory import BreachBand, Memory, memory_of


def memory(cases: Sequence[CaseAssessment], known: Sequence[Case] = ()) -> Memory:
    found = memory_of([[case] for case in cases], known, limit=0.8, confidence=0.95)
    assert found is not None
    return found


def with_tokens(run: CaseAssessment, tokens: Sequence[int | None]) -> CaseAssessment:
    turns = tuple(replace(turn, prompt_tokens=count) for turn, count in zip(run.turns, tokens, strict=True))
    return replace(run, turns=turns)


def test_recall_by_turn_and_by_tokens() -> None:
    """Two cases at 1.0 and 0.5 on turn 2: mean 0.75; tokens 100 and 300: mean 200. Extra probes stay out."""
    one, two = conversation("a", [1.0, 1.0, 0.0, 1.0]), conversation("b", [1.0, 0.5, 0.0, 0.5])
    extra = [replace(run, turns=tuple(replace(t, scheduled=t.turn != 3) for t in run.turns)) for run in (one, two)]
    first, second = with_tokens(extra[0], [10, 100, 0, 400]), with_tokens(extra[1], [30, 300, 0, 600])
    found = memory([first, second])
    assert [probe.turn for probe in found.probes] == [1, 2, 4]
    assert [probe.recall for probe in found.probes] == [1.0, 0.75, 0.75]
    assert [probe.prompt_tokens for probe in found.probes] == [20, 200, 500]
    assert (found.turns, found.shortest) == (4, 4)


def test_the_horizon_of_few_cases_is_a_point() -> None:
    """From 1.0 at turn 2 to 0.6 at turn 3 the mean crosses 0.8 half-way."""
    found = memory([conversation(name, [1.0, 1.0, 0.6, 0.6]) for name in "abc"])
    assert found.horizon == Horizon(pytest.approx(2.5), None, None, 4, 3)
    steady = memory([conversation(f"c{number}", [1.0] * 4) for number in range(20)])
    assert steady.horizon == Horizon(None, 4, None, 4, 20)


def test_open_alarms_have_a_horizon_of_their_own() -> None:
    """Nothing is confirmed; if everything open were, recall would end at turn 2."""
    found = memory([conversation("a", [1.0] * 4, worst=[1.0, 1.0, 0.0, 0.0])])
    assert found.horizon is not None
    assert found.horizon_worst is not None
    assert found.horizon.point is None
    assert found.horizon_worst.point == pytest.approx(2.2)


def test_hard_stops_alone() -> None:
    """One of two hard stops is lost from turn 3 on; ordinary facts do not matter, cases without one are left out."""
    run = conversation("a", [1.0, 1.0, 0.5, 0.5])
    turns = []
    for turn in run.turns:
        lost = finding("x", "lost" if turn.turn > 2 else None, hard_stop=True)
        turns.append(replace(turn, findings=(lost, finding("y", None, hard_stop=True), finding("z"))))
    found = memory([replace(run, turns=tuple(turns)), conversation("b", [1.0] * 4)])
    assert [probe.hard_stops for probe in found.probes] == [1.0, 1.0, 0.5, 0.5]
    assert found.hard_stop_horizon is not None
    assert (found.hard_stop_horizon.point, found.hard_stop_horizon.cases) == (pytest.approx(2.4), 1)


CASE = Case.model_validate(
    {
        "id": "a",
        "patient_summary": "A.",
        "critical_entities": [{"id": "intake", "text": "one"}, {"id": "near", "text": "two"}],
        "turns": [
            {"turn": 1, "message": "m"},
            {"turn": 2, "message": "m", "introduces": [{"id": "first", "text": "three"}]},
            {"turn": 3, "message": "m", "interlude": "x", "interferes": ["near"]},
            {"turn": 4, "message": "m", "introduces": [{"id": "middle", "text": "four"}]},
            {"turn": 5, "message": "m"},
            {"turn": 6, "message": "m", "introduces": [{"id": "last", "text": "five"}]},
        ],
    }
)


def test_what_is_kept_by_where_it_was_stated() -> None:
    """Lost at the last two probes is lost; lost at the last alone is not, unless the fact is new."""
    run = conversation("a", [1.0] * 6)
    before = (finding("intake"), finding("near"), finding("first", None), finding("middle", None))
    last = (finding("intake", None), finding("near"), finding("first"), finding("middle", None), finding("last"))
    turns = (*run.turns[:4], replace(run.turns[4], findings=before), replace(run.turns[5], findings=last))
    found = memory([replace(run, turns=turns)], [CASE])
    assert {row.group: (row.kept, row.facts) for row in found.by_place} == {
        "intake": (1, 2), "first third": (1, 1), "middle third": (1, 1), "last third": (0, 1),
    }  # fmt: skip
    assert {row.group: (row.kept, row.facts) for row in found.by_interference} == {
        "interference followed": (0, 1), "none followed": (3, 4),
    }  # fmt: skip


def test_without_interludes_nothing_is_said_of_interference() -> None:
    """Every fact would be in one group."""
    assert memory([conversation("b", [1.0] * 3)]).by_interference == ()


def test_breaches_by_turn() -> None:
    """Severe, lesser and open ones on stretches that grow; replies of every conversation that reaches them."""
    events = [event("breaches", turn=3), event("lesser_breaches", turn=12), event("breaches", "open", turn=23)]
    long = conversation("a", [1.0] * 23, events=events)
    assert memory([long, conversation("b", [1.0] * 12)]).breaches == (
        BreachBand(1, 10, 20, 1, 0, 0),
        BreachBand(11, 20, 12, 0, 1, 0),
        BreachBand(21, 23, 3, 0, 0, 1),
    )


def test_one_message_beside_the_conversation() -> None:
    """Only cases that have both; by rules as soon as one of them is."""
    single = SingleFigures(3, 0.9, 0.8, by_judge=True)
    one = replace(conversation("a", [1.0, 0.5, 0.3]), single=single)
    two = replace(conversation("b", [1.0, 0.5, 0.5]), single=replace(single, recall=1.0, by_judge=False))
    found = memory([one, two, conversation("c", [1.0, 1.0, 1.0])]).single
    assert found is not None
    assert (found.cases, found.conversation, found.single) == (2, pytest.approx(0.4), pytest.approx(0.95))
    assert not found.by_judge
    assert memory([conversation("c", [1.0])]).single is None


def test_nothing_finished() -> None:
    """No case, no figures."""
    assert memory_of([], (), limit=0.8, confidence=0.95) is None
