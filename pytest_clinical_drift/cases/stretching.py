"""Stretches a case to a given number of turns: whole threads of interludes go between its own turns."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, zip_longest

from pytest_clinical_drift.cases.demands import Expect, Expectation
from pytest_clinical_drift.cases.interludes import Thread
from pytest_clinical_drift.cases.model import Case, Turn
from pytest_clinical_drift.errors import InputError

Interferes = Callable[[Thread], Sequence[str]]
"""Ids of the case's facts that a thread may be mistaken for."""
_TYPES = ("interference", "neutral", "pasted")
_BEFORE_LATE = 10
"""Messages on other matters between the late question and the case's own turn before it."""


def stretch(
    case: Case,
    turns: int,
    bank: Sequence[Thread],
    seed: int,
    *,
    fits: Callable[[Thread], bool] = lambda thread: True,
    interferes: Interferes = lambda thread: (),
) -> Case:
    """The case with interludes up to so many turns; the same for the same case id, seed and bank.

    Its own turns keep their order, and the last stays last. Nothing goes into a `tight` range. `late` becomes a turn
    of the case before the last one. Only threads that `fits` accepts are used, each once and whole, but the one that
    fills the last turns may be cut. Those that interfere with a fact of the case come first among their type.
    """
    own = len(case.turns)
    if turns < own:
        raise InputError(f"--drift-turns {turns}: the case {case.id} has {own} turns of its own; write {own} or more")
    if turns == own:
        return case
    gaps = _open_gaps(case)
    if not gaps:
        raise InputError(f"--drift-turns {turns}: the case {case.id} is tight from its first turn to its last")
    dice = random.Random(f"{seed} {case.id}")
    wanted = turns - own - (case.late is not None)
    drawn = _draw([thread for thread in bank if fits(thread)], wanted, dice, interferes)
    missing = wanted - sum(len(messages) for _, messages in drawn)
    if missing:
        fitting = f"the interludes that fit the case {case.id} fill {turns - missing} turns"
        raise InputError(f"--drift-turns {turns}: {fitting}; write fewer turns or give more with --drift-interludes")
    filled = _spread(drawn, gaps, late=case.late is not None, dice=dice)
    return _renumbered(case, filled, interferes)


def own_turns(case: Case, stretched: Case) -> dict[int, int]:
    """Where each turn of a case stands in the stretched one; the late question is no turn of the case as written."""
    own = [turn for turn in stretched.turns if turn.interlude is None]
    if len(own) > len(case.turns):
        said = [turn.message for turn in case.turns]
        del own[next(at for at, turn in enumerate(own) if at == len(said) or turn.message != said[at])]
    places = [turn.turn for turn in own]
    return dict(zip((turn.turn for turn in case.turns), places, strict=True))


_Part = tuple[Thread, tuple[str, ...]]
"""A thread and the messages of it that are used."""


def _open_gaps(case: Case) -> list[int]:
    """Own turns after which something may be inserted."""
    return [
        turn
        for turn in range(1, len(case.turns))
        if not any(first <= turn and turn + 1 <= last for first, last in case.tight)
    ]


def _draw(threads: Sequence[Thread], wanted: int, dice: random.Random, interferes: Interferes) -> list[_Part]:
    """Threads of the types in turn, until they fill the wanted number of messages or none is left."""
    by_type = []
    for kind in _TYPES:
        some = sorted((thread for thread in threads if thread.type == kind), key=lambda thread: thread.id)
        dice.shuffle(some)
        by_type.append(sorted(some, key=lambda thread: not interferes(thread)))
    drawn: list[_Part] = []
    for thread in chain.from_iterable(zip_longest(*by_type)):
        if wanted > 0 and thread is not None:
            drawn.append((thread, thread.messages[:wanted]))
            wanted -= len(drawn[-1][1])
    return drawn


def _spread(
    drawn: Sequence[_Part], gaps: Sequence[int], *, late: bool, dice: random.Random
) -> Mapping[int, tuple[list[_Part], list[_Part] | None]]:
    """The threads by the gap they fill, evenly; in the gap of the late question those before it and those after."""
    waiting = list(drawn)
    dice.shuffle(waiting)
    before: list[_Part] = []
    while late and waiting and sum(len(messages) for _, messages in before) < _BEFORE_LATE:
        before.append(waiting.pop())
    filled: dict[int, tuple[list[_Part], list[_Part] | None]] = {gap: ([], None) for gap in gaps}
    last = gaps[-1]
    if late:
        filled[last] = (before, [])
    total, done = sum(len(messages) for _, messages in waiting), 0
    for part in waiting:
        gap = gaps[int((done + len(part[1]) / 2) / total * len(gaps))]
        first, second = filled[gap]
        (first if second is None else second).append(part)
        done += len(part[1])
    return filled


def _renumbered(
    case: Case, filled: Mapping[int, tuple[list[_Part], list[_Part] | None]], interferes: Interferes
) -> Case:
    """The case's turns and what was put between them, counted anew, with everything that names a turn."""
    turns: list[Turn] = []
    places: dict[int, int] = {}

    def add(turn: Turn) -> None:
        turns.append(turn.model_copy(update={"turn": len(turns) + 1}))

    def add_all(parts: Sequence[_Part]) -> None:
        for thread, messages in parts:
            near = tuple(interferes(thread)) if thread.type == "interference" else ()
            for message in messages:
                add(Turn(turn=1, message=message, interlude=thread.id, interferes=near))

    late_at = None
    for turn in case.turns:
        add(turn)
        places[turn.turn] = len(turns)
        first, second = filled.get(turn.turn, ([], None))
        add_all(first)
        if second is not None and case.late is not None:
            add(Turn(turn=1, message=case.late.message, expect=case.late.expect))
            late_at = len(turns)
            add_all(second)
    end = len(turns)
    moved = [
        turn
        if turn.interlude or turn.turn == late_at
        else turn.model_copy(update={"expect": _moved(turn.expect, places, end)})
        for turn in turns
    ]
    tight = tuple((places.get(first, end), places.get(last, end)) for first, last in case.tight)
    return case.model_copy(update={"turns": tuple(moved), "tight": tight, "late": None})


def _moved(expect: Expect, places: Mapping[int, int], end: int) -> Expect:
    """A demand's turns as they are counted now; one beyond the case is the end."""

    def of(wishes: Sequence[Expectation]) -> Iterator[Expectation]:
        for wish in wishes:
            named = {name: turn for name in ("by", "until") if (turn := getattr(wish, name)) is not None}
            yield wish.model_copy(update={name: places.get(turn, end) for name, turn in named.items()})

    return expect.model_copy(update={"must": tuple(of(expect.must)), "must_not": tuple(of(expect.must_not))})
