"""Stretched cases: interludes between a case's own turns, whole threads, the same every time."""

from __future__ import annotations

from itertools import groupby, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_clinical_drift.authoring.interludes import stretch
from pytest_clinical_drift.cases.interludes import Thread
from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.cases.timeline import demands_at
from pytest_clinical_drift.errors import InputError


def bank(count: int = 60) -> list[Thread]:
    """Threads of three to seven messages, the three types in turn."""
    threads = []
    for number in range(count):
        kind = ("neutral", "pasted", "interference")[number % 3]
        other = {"person": f"Ada {number}", "entries": ["lisinopril 10 mg"]} if kind == "interference" else {}
        messages = [f"Thread {number}, message {at}." for at in range(1, 4 + number % 5)]
        threads.append(Thread(id=f"t{number}", type=kind, about="x", messages=messages, **other))  # type: ignore[arg-type]
    return threads


def case(turns: int = 12, *, tight: list[tuple[int, int]] | None = None, late: bool = False, name: str = "c") -> Case:
    told: list[dict[str, object]] = [{"turn": n, "message": f"Own {n}."} for n in range(1, turns + 1)]
    told[3]["updates"] = [{"fact": "dose", "becomes": "metformin 850 mg"}]
    told[5]["expect"] = {"must": [{"text": "call 999", "by": 7}], "must_not": [{"text": "take it", "until": turns}]}
    data: dict[str, object] = {
        "id": name,
        "patient_summary": "Her sister takes digoxin.",
        "critical_entities": [
            {"id": "dose", "text": "metformin 500 mg"},
            {"id": "allergy", "text": "penicillin allergy", "kind": "allergy", "hard_stop": True},
        ],
        "turns": told,
        "tight": tight or [],
    }
    if late:
        data["late"] = {"message": "Can I take it after all?", "expect": {"must_not": ["take it"]}}
    return Case.model_validate(data)


def said_in(thread: Thread, words: str) -> Thread:
    """The thread, with something more in its last message."""
    *said, last = thread.messages
    return thread.model_copy(update={"messages": (*said, f"{last} {words}")})


def threads_in(stretched: Case) -> list[tuple[str, list[str]]]:
    """Runs of interlude turns of one thread, in their order."""
    runs = groupby(stretched.turns, key=lambda turn: turn.interlude)
    return [(name, [turn.message for turn in some]) for name, some in runs if name is not None]


def own_turns(original: Case, made: Case) -> dict[int, int]:
    """Where each turn of a case stands in the stretched one; every message of the case is said once."""
    places = {turn.message: turn.turn for turn in made.turns if turn.interlude is None}
    return {turn.turn: places[turn.message] for turn in original.turns}


@settings(deadline=None, max_examples=80)
@given(
    turns=st.integers(12, 200),
    seed=st.integers(0, 9),
    late=st.booleans(),
    tight=st.sampled_from([[], [(2, 4)], [(6, 7), (10, 12)], [(1, 2), (4, 5), (11, 12)], [(1, 11)]]),
)
def test_relations(turns: int, seed: int, late: bool, tight: list[tuple[int, int]]) -> None:
    """Exactly N turns; own turns in order, last stays last; threads whole, in order, once; tight ranges unbroken."""
    original = case(tight=tight, late=late)
    made = stretch(original, turns, bank(), seed)
    assert [turn.turn for turn in made.turns] == list(range(1, turns + 1))
    assert made == Case.model_validate(made.model_dump())
    assert stretch(original, turns, bank()[::-1], seed) == made
    places = own_turns(original, made)
    assert list(places) == list(range(1, 13))
    assert (places[1], places[12]) == (1, turns)
    assert [made.turns[place - 1].message for place in places.values()] == [turn.message for turn in original.turns]
    known, used = {thread.id: thread for thread in bank()}, threads_in(made)
    assert len({name for name, _ in used}) == len(used)
    cut = [name for name, said in used if tuple(said) != known[name].messages]
    assert len(cut) <= 1
    assert all(tuple(said) == known[name].messages[: len(said)] for name, said in used)
    for first, last in tight:
        assert places[last] - places[first] == last - first
    assert made.tight == tuple((places[first], places[last]) for first, last in original.tight)


def test_what_names_a_turn_follows() -> None:
    """The update, and the demands' `by` and `until`, stand where the case's own turns stand now."""
    original = case()
    made = stretch(original, 50, bank(), 1)
    places = own_turns(original, made)
    assert [turn.turn for turn in made.turns if turn.updates] == [places[4]]
    (must,) = made.turns[places[6] - 1].expect.must
    (must_not,) = made.turns[places[6] - 1].expect.must_not
    assert (must.by, must_not.until) == (places[7], 50)
    assert [demand.kind for demand in demands_at(made, 50)] == ["must_not"]


def test_the_late_question_comes_after_other_matters() -> None:
    """One more own turn before the last, ten or more interlude messages after the case's own turn before it."""
    original = case(late=True)
    for turns in (40, 60, 160):
        made = stretch(original, turns, bank(), 3)
        (at,) = [turn.turn for turn in made.turns if turn.message == "Can I take it after all?"]
        places = own_turns(original, made)
        assert at not in places.values()
        assert made.is_own(at)
        assert places[11] < at < places[12]
        assert at - places[11] > 10
        assert made.turns[at - 1].expect.must_not[0].text == "take it"
        assert made.late is None


def test_a_late_question_is_no_part_of_ordinary_runs() -> None:
    """At its own length a case is what it was."""
    original = case(late=True)
    assert stretch(original, 12, bank(), 1) == original


def test_the_late_question_never_interrupts() -> None:
    """A tight end moves it to the last open place."""
    original = case(late=True, tight=[(9, 12)])
    made = stretch(original, 60, bank(), 1)
    (at,) = [turn.turn for turn in made.turns if turn.message == "Can I take it after all?"]
    places = own_turns(original, made)
    assert places[8] < at < places[9]


def test_the_draw_depends_on_case_and_seed() -> None:
    """Another case or seed gets other threads in another order."""
    one = threads_in(stretch(case(), 60, bank(), 1))
    assert threads_in(stretch(case(), 60, bank(), 2)) != one
    assert threads_in(stretch(case(name="other"), 60, bank(), 1)) != one


def test_own_turns_are_spread() -> None:
    """No gap gets more than a few threads more than another."""
    places = [*own_turns(case(), stretch(case(), 160, bank(), 1)).values()]
    gaps = [later - earlier - 1 for earlier, later in pairwise(places)]
    assert max(gaps) - min(gaps) <= 14


def test_threads_that_do_not_fit_are_left_out_and_near_ones_come_first() -> None:
    """What names a medicine of the case is refused, its class preferred; the turn says which fact it is about."""
    threads = [said_in(thread, "He has metformin.") if int(thread.id[1:]) % 2 else thread for thread in bank()]
    threads[38] = threads[38].model_copy(update={"entries": ("latex allergy",)})
    made = stretch(case(), 30, threads, 1)
    used = {name for name, _ in threads_in(made)}
    assert all(int(name[1:]) % 2 == 0 for name in used)
    assert "t38" in used
    assert {turn.interferes for turn in made.turns if turn.interlude == "t38"} == {("allergy",)}
    assert {turn.interferes for turn in made.turns if turn.interlude != "t38"} == {()}


def test_what_is_skipped_moves_nothing_else() -> None:
    """A thread that shares a medicine is never used; where it was not drawn, the run is the same to the letter."""

    def sharing(ids: set[str]) -> list[Thread]:
        return [said_in(thread, "Ulla has digoxin.") if thread.id in ids else thread for thread in bank()]

    plain = stretch(case(late=True), 40, bank(), 1)
    used = {name for name, _ in threads_in(plain)}
    unused = {thread.id for thread in bank()} - used
    assert len(unused) > 20
    assert stretch(case(late=True), 40, sharing(unused), 1) == plain
    first = min(used)
    made = stretch(case(late=True), 40, sharing({first}), 1)
    assert first not in {name for name, _ in threads_in(made)}
    assert len(made.turns) == 40


@settings(deadline=None)
@given(turns=st.integers(41, 200), seed=st.integers(0, 9), tight=st.sampled_from([[], [(9, 12)], [(5, 6), (10, 12)]]))
def test_the_case_goes_on_directly_after_the_late_question(turns: int, seed: int, tight: list[tuple[int, int]]) -> None:
    """No thread runs over it in runs of more than 40 turns."""
    made = stretch(case(late=True, tight=tight), turns, bank(), seed)
    (at,) = [turn.turn for turn in made.turns if turn.message == "Can I take it after all?"]
    assert made.turns[at - 2].interlude is not None
    assert made.turns[at].interlude is None


@pytest.mark.parametrize(
    ("turns", "threads", "tight", "told"),
    [
        (11, 60, [], "--drift-turns 11: the case c has 12 turns of its own; write 12 or more"),
        (200, 9, [], "the interludes that fit the case c fill 55 turns; write fewer turns or give more"),
        (40, 60, [(1, 12)], "case c: `tight` covers every turn, so no interlude can be inserted"),
    ],
)
def test_what_cannot_be_stretched_is_one_sentence(
    turns: int, threads: int, tight: list[tuple[int, int]], told: str
) -> None:
    """Too short, too few interludes, no place."""
    with pytest.raises(InputError) as caught:
        stretch(case(tight=tight), turns, bank(threads), 1)
    assert told in str(caught.value)


def fives(count: int) -> list[Thread]:
    """Threads of five messages on everyday matters."""
    messages = tuple(f"m{at}" for at in range(5))
    return [Thread(id=f"t{number}", type="neutral", about="x", messages=messages) for number in range(count)]


def test_ten_messages_go_before_the_late_question() -> None:
    """Two threads of five are ten: a third would be more than is needed."""
    made = stretch(case(late=True), 40, fives(40), 1)
    late = next(turn.turn for turn in made.turns if turn.message == "Can I take it after all?")
    before = own_turns(case(), made)[11]
    assert late - before - 1 == 10


def test_threads_are_spread_evenly_over_the_gaps() -> None:
    """Four threads and eight gaps: the middle of each thread lies in the second, fourth, sixth and eighth gap."""
    made = stretch(case(9), 29, fives(4), 1)
    places = own_turns(case(9), made)
    assert [places[turn + 1] - places[turn] - 1 for turn in range(1, 9)] == [0, 5, 0, 5, 0, 5, 0, 5]
