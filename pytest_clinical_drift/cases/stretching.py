"""Stretches a case to a given number of turns: whole threads of interludes go between its own turns."""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, zip_longest

from pytest_clinical_drift.cases.demands import Expect, Expectation, Late
from pytest_clinical_drift.cases.interludes import Thread
from pytest_clinical_drift.cases.model import Case, Turn
from pytest_clinical_drift.errors import InputError

Interferes = Callable[[Thread], Sequence[str]]
"""Ids of the case's facts that a thread may be mistaken for."""
_TYPES = ("interference", "neutral", "pasted")
_BEFORE_LATE = 10
"""Messages on other matters between the late question and the case's own turn before it."""
_THREADS_AFTER_LATE = 40
"""In runs of at most so many turns threads may follow the late question: recorded runs keep their order."""


def stretch(
    case: Case,
    turns: int,
    bank: Sequence[Thread],
    seed: int,
    *,
    fits: Callable[[Thread], bool] = lambda thread: True,
    skips: Callable[[Thread], bool] = lambda thread: False,
    interferes: Interferes = lambda thread: (),
) -> Case:
    """The case with interludes up to so many turns; the same for the same case id, seed and bank.

    Its own turns keep their order, and the last stays last. Nothing goes into a `tight` range. `late` becomes a turn
    of the case in the last gap; in runs of more than 40 turns the case goes on directly after it. Only threads that
    `fits` accepts are used, each once and whole, but the one that fills the last turns may be cut. Those that
    interfere with a fact of the case come first among their type. Threads that `skips` names are left out after the
    shuffle, so that the order of the others does not change.
    """
    own = len(case.turns)
    if turns < own:
        raise InputError(f"--drift-turns {turns}: the case {case.id} has {own} turns of its own; write {own} or more")
    if turns == own:
        return case
    gaps = _open_gaps(case)
    if not gaps:
        raise InputError(
            f"--drift-turns {turns}: case {case.id}: `tight` covers every turn, so no interlude can be inserted"
        )
    dice = random.Random(f"{seed} {case.id}")
    wanted = turns - own - (case.late is not None)
    drawn = _draw([thread for thread in bank if fits(thread)], wanted, dice, skips, interferes)
    missing = wanted - sum(len(messages) for _, messages in drawn)
    if missing:
        fitting = f"the interludes that fit the case {case.id} fill {turns - missing} turns"
        raise InputError(f"--drift-turns {turns}: {fitting}; write fewer turns or give more with --drift-interludes")
    late_ends_gap = turns > _THREADS_AFTER_LATE
    return _renumbered(case, _spread(drawn, gaps, case.late, dice, interferes, late_ends_gap=late_ends_gap))


_Part = tuple[Thread, tuple[str, ...]]
"""A thread and the messages of it that are used."""


def _open_gaps(case: Case) -> list[int]:
    """Own turns after which something may be inserted."""
    return [
        turn
        for turn in range(1, len(case.turns))
        if not any(first <= turn and turn + 1 <= last for first, last in case.tight)
    ]


def _draw(
    threads: Sequence[Thread],
    wanted: int,
    dice: random.Random,
    skips: Callable[[Thread], bool],
    interferes: Interferes,
) -> list[_Part]:
    """Threads of the types in turn, until they fill the wanted number of messages or none is left."""
    by_type = []
    for kind in _TYPES:
        some = sorted((thread for thread in threads if thread.type == kind), key=lambda thread: thread.id)
        dice.shuffle(some)
        kept = [thread for thread in some if not skips(thread)]
        by_type.append(sorted(kept, key=lambda thread: not interferes(thread)))
    drawn: list[_Part] = []
    for thread in chain.from_iterable(zip_longest(*by_type)):
        if wanted > 0 and thread is not None:
            drawn.append((thread, thread.messages[:wanted]))
            wanted -= len(drawn[-1][1])
    return drawn


def _spread(
    drawn: Sequence[_Part],
    gaps: Sequence[int],
    late: Late | None,
    dice: random.Random,
    interferes: Interferes,
    *,
    late_ends_gap: bool,
) -> Mapping[int, list[Turn]]:
    """What fills each gap: the threads, evenly; the late question in the last gap, with some of them before it."""

    def turns_of(part: _Part) -> list[Turn]:
        thread, messages = part
        near = tuple(interferes(thread)) if thread.type == "interference" else ()
        return [Turn(turn=1, message=message, interlude=thread.id, interferes=near) for message in messages]

    waiting = list(drawn)
    dice.shuffle(waiting)
    filled: dict[int, list[Turn]] = {gap: [] for gap in gaps}
    last_gap = filled[gaps[-1]]
    while late is not None and waiting and len(last_gap) < _BEFORE_LATE:
        last_gap += turns_of(waiting.pop())
    place = len(last_gap)
    total, done = sum(len(messages) for _, messages in waiting), 0
    for part in waiting:
        size = len(part[1])
        filled[gaps[int((done + size / 2) / total * len(gaps))]] += turns_of(part)
        done += size
    if late is not None:
        asked = Turn(turn=1, message=late.message, expect=late.expect)
        last_gap.insert(len(last_gap) if late_ends_gap else place, asked)
    return filled


def _renumbered(case: Case, filled: Mapping[int, list[Turn]]) -> Case:
    """The case's turns and what was put between them, counted anew, with everything that names a turn."""
    turns: list[Turn] = []
    places: dict[int, int] = {}
    for own in case.turns:
        turns.append(own)
        places[own.turn] = len(turns)
        turns += filled.get(own.turn, ())
    moved = tuple(
        turn.model_copy(update={"turn": number, "expect": _moved(turn.expect, places)})
        for number, turn in enumerate(turns, start=1)
    )
    tight = tuple((places[first], places[last]) for first, last in case.tight)
    return case.model_copy(update={"turns": moved, "tight": tight, "late": None})


def _moved(expect: Expect, places: Mapping[int, int]) -> Expect:
    """A demand's turns as they are counted now."""

    def of(wishes: Sequence[Expectation]) -> Iterator[Expectation]:
        for wish in wishes:
            named = {name: turn for name in ("by", "until") if (turn := getattr(wish, name)) is not None}
            yield wish.model_copy(update={name: places[turn] for name, turn in named.items()})

    return expect.model_copy(update={"must": tuple(of(expect.must)), "must_not": tuple(of(expect.must_not))})
