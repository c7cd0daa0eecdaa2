"""After which turns a summary is requested."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.cases.timeline import probed_turns, scheduled_turns


def case(turns: int, changes: dict[int, dict[str, object]] | None = None) -> Case:
    told = [{"turn": n, "message": f"Message {n}.", **(changes or {}).get(n, {})} for n in range(1, turns + 1)]
    facts = [{"id": "dose", "text": "metformin 500 mg"}]
    return Case.model_validate({"id": "c", "patient_summary": "s", "critical_entities": facts, "turns": told})


NEW_DOSE = {"updates": [{"fact": "dose", "becomes": "metformin 850 mg"}]}


def test_short_cases_are_probed_at_every_turn() -> None:
    """Up to 20 turns nothing changes."""
    assert scheduled_turns(12) == tuple(range(1, 13))
    assert probed_turns(case(20)) == tuple(range(1, 21))


def test_the_schedule_thins_out() -> None:
    """Every turn up to 20, then the named ones, every 40 to 400, every 100 beyond, and the last."""
    found = scheduled_turns(650)
    assert found[:20] == tuple(range(1, 21))
    assert found[20:] == (25, 30, 40, 50, 60, 80, 100, 120, 160, 200, 240, 280, 320, 360, 400, 500, 600, 650)


def test_a_turn_of_the_schedule_may_be_the_last() -> None:
    """120, 400 and 500 are on the schedule by themselves; a turn later each is still there, before the last."""
    assert scheduled_turns(120)[-2:] == (100, 120)
    assert scheduled_turns(121)[-3:] == (100, 120, 121)
    assert scheduled_turns(400)[-2:] == (360, 400)
    assert scheduled_turns(440)[-3:] == (360, 400, 440)
    assert scheduled_turns(499)[-2:] == (400, 499)
    assert scheduled_turns(500)[-2:] == (400, 500)
    assert scheduled_turns(501)[-3:] == (400, 500, 501)


def test_a_change_on_the_last_turns_is_probed_within_the_case() -> None:
    """A change on the last turn but one is probed there and on the last; nothing is probed beyond."""
    assert probed_turns(case(27, {26: NEW_DOSE}))[-2:] == (26, 27)
    assert probed_turns(case(27, {27: NEW_DOSE})) == scheduled_turns(27)


def test_a_change_is_probed_at_its_turn_and_the_next() -> None:
    """An update on turn 33, a new fact on turn 45; what the schedule has is no extra probe."""
    changes: dict[int, dict[str, object]] = {33: NEW_DOSE, 39: {"introduces": ["gout"]}, 70: {"restates": ["dose"]}}
    assert probed_turns(case(75, changes))[20:] == (25, 30, 33, 34, 39, 40, 50, 60, 75)
    assert scheduled_turns(75)[20:] == (25, 30, 40, 50, 60, 75)


def test_every_turn_on_request() -> None:
    """Turns between those of the schedule too."""
    assert probed_turns(case(30), every=True) == tuple(range(1, 31))


@given(st.integers(2, 400), st.sets(st.integers(1, 400), max_size=5), st.booleans())
def test_relations(turns: int, changed: set[int], every: bool) -> None:
    """Sorted, distinct, within the case, first and last included, as is the schedule."""
    found = probed_turns(case(turns, dict.fromkeys(changed, NEW_DOSE)), every)
    assert found == tuple(sorted(set(found)))
    assert scheduled_turns(turns) == tuple(sorted({*scheduled_turns(turns)} & {*found}))
    assert (found[0], found[-1]) == (1, turns)
    assert {turn for turn in changed if turn <= turns} <= set(found)


def test_at_160_turns_fewer_than_a_third() -> None:
    """The cost of a long run is its turns, not its probes."""
    assert len(probed_turns(case(160))) == 29
    assert 3 * 29 <= 160
