"""After which turns a summary is requested."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.cases.timeline import probes_of, scheduled_turns


def case(turns: int, changes: dict[int, dict[str, object]] | None = None) -> Case:
    told = [{"turn": n, "message": f"Message {n}.", **(changes or {}).get(n, {})} for n in range(1, turns + 1)]
    facts = [{"id": "dose", "text": "metformin 500 mg"}]
    return Case.model_validate({"id": "c", "patient_summary": "s", "critical_entities": facts, "turns": told})


NEW_DOSE = {"updates": [{"fact": "dose", "becomes": "metformin 850 mg"}]}


def test_short_cases_are_probed_at_every_turn() -> None:
    """Up to 20 turns nothing changes."""
    assert probes_of(case(12)).scheduled == tuple(range(1, 13))
    assert probes_of(case(20)).turns == tuple(range(1, 21))


def test_the_schedule_thins_out() -> None:
    """Every turn up to 20, then the named ones, every 40 to 400, every 100 beyond, and the last."""
    found = probes_of(case(650)).scheduled
    assert found[:20] == tuple(range(1, 21))
    assert found[20:] == (25, 30, 40, 50, 60, 80, 100, 120, 160, 200, 240, 280, 320, 360, 400, 500, 600, 650)


def test_a_turn_of_the_schedule_may_be_the_last() -> None:
    """120, 400 and 500 are on the schedule by themselves; a turn later each is still there, before the last."""
    assert tuple(scheduled_turns(120))[-2:] == (100, 120)
    assert tuple(scheduled_turns(400))[-2:] == (360, 400)
    assert tuple(scheduled_turns(440))[-2:] == (360, 400)
    assert tuple(scheduled_turns(499))[-1] == 400
    assert tuple(scheduled_turns(500))[-2:] == (400, 500)


def test_a_change_on_the_last_turns_is_probed_within_the_case() -> None:
    """A change on the last turn but one is probed there and on the last; nothing is probed beyond."""
    assert probes_of(case(27, {26: NEW_DOSE})).turns[-2:] == (26, 27)
    assert probes_of(case(27, {27: NEW_DOSE})).extra == ()


def test_a_change_is_probed_at_its_turn_and_the_next() -> None:
    """An update on turn 33, a new fact on turn 45; what the schedule has is no extra probe."""
    changes: dict[int, dict[str, object]] = {33: NEW_DOSE, 39: {"introduces": ["gout"]}, 70: {"restates": ["dose"]}}
    found = probes_of(case(75, changes))
    assert found.extra == (33, 34, 39)
    assert found.scheduled[20:] == (25, 30, 40, 50, 60, 75)


def test_every_turn_on_request() -> None:
    """The schedule is still told apart: slope, fall and horizon are read there."""
    found = probes_of(case(30), every=True)
    assert found.turns == tuple(range(1, 31))
    assert found.scheduled == probes_of(case(30)).scheduled


@given(st.integers(2, 400), st.sets(st.integers(1, 400), max_size=5), st.booleans())
def test_relations(turns: int, changed: set[int], every: bool) -> None:
    """Sorted, distinct, within the case, first and last included, both kinds disjoint."""
    found = probes_of(case(turns, dict.fromkeys(changed, NEW_DOSE)), every)
    assert found.turns == tuple(sorted(set(found.turns)))
    assert not set(found.scheduled) & set(found.extra)
    assert (found.scheduled[0], found.scheduled[-1], found.turns[-1]) == (1, turns, turns)
    assert {turn for turn in changed if turn <= turns} <= set(found.turns)


def test_at_160_turns_fewer_than_a_third() -> None:
    """The cost of a long run is its turns, not its probes."""
    assert len(probes_of(case(160)).turns) == 29
    assert 3 * 29 <= 160
