"""Interludes: threads of messages on other matters, which stretch a case to a given number of turns.

Whole threads go between the case's own turns.
"""

import hashlib
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, zip_longest
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, ValidationError, model_validator

from pytest_clinical_drift.cases.entries import Expectation, Record, Text
from pytest_clinical_drift.cases.faults import describe_faults, placed
from pytest_clinical_drift.cases.files import case_files, parse_data, read_text
from pytest_clinical_drift.cases.model import Case, Turn, bundled
from pytest_clinical_drift.errors import InputError

_TYPES = ("interference", "neutral", "pasted")
_BEFORE_LATE = 10
"""Messages on other matters between the late question and the case's own turn before it."""
_THREADS_AFTER_LATE = 40
"""In runs of at most so many turns threads may follow the late question: recorded runs keep their order."""


class Thread(Record):
    """A few messages in a row on one matter that has nothing to do with the patient's own."""

    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=120)]
    type: Literal["neutral", "pasted", "interference"]
    """neutral: an everyday matter; pasted: about a long text; interference: about another person's medicines."""
    about: Text
    """The matter in a few words, for those who choose."""
    person: Text | None = None
    """Whom an interference is about: a name, and who that is."""
    entries: tuple[Text, ...] = ()
    """What an interference says of that person: medicines with dose, results, allergies, conditions."""
    messages: Annotated[tuple[Text, ...], Field(min_length=3, max_length=8)]

    @model_validator(mode="after")
    def _about_another_person(self) -> Self:
        lacking = [name for name in ("person", "entries") if not getattr(self, name)]
        if self.type == "interference" and lacking:
            raise ValueError(f"an interference needs {' and '.join(lacking)}")
        if self.type != "interference" and len(lacking) < 2:
            raise ValueError("person and entries belong to threads of type interference")
        return self


class _Bank(Record):
    threads: tuple[Thread, ...]


def load_interludes(path: Path | None = None) -> tuple[Thread, ...]:
    """All threads below a path, the bundled ones unless given; InputError with every fault of its first bad file."""
    threads: dict[str, tuple[Thread, Path]] = {}
    for file in case_files(path or bundled("cases", "interludes")):
        text = read_text(file)
        data = parse_data(file, text)
        if not isinstance(data, dict) or not isinstance(data.get("threads"), list):
            raise InputError(f"{file}: expected a list of threads under the key 'threads'")
        try:
            bank = _Bank.model_validate(data)
        except ValidationError as error:
            raise InputError(*describe_faults(file, text, error, _Bank)) from None
        for at, thread in enumerate(bank.threads):
            if thread.id in threads:
                again = f"the thread {thread.id!r} is also in {threads[thread.id][1]}; give it another id"
                raise InputError(f"{placed(file, text, ('threads', at))}: {again}")
            threads[thread.id] = (thread, file)
    return tuple(thread for thread, _ in threads.values())


def hash_interludes(bank: Iterable[Thread]) -> str:
    """A fingerprint of a bank's content, independent of file names and formatting."""
    digest = hashlib.sha256()
    for thread in sorted(bank, key=lambda thread: thread.id):
        digest.update(thread.model_dump_json().encode())
    return digest.hexdigest()


def stretch(
    case: Case,
    turns: int,
    bank: Sequence[Thread],
    seed: int,
    *,
    fits: Callable[[Thread], bool] = lambda thread: True,
    skips: Callable[[Thread], bool] = lambda thread: False,
    interferes: Callable[[Thread], Sequence[str]] = lambda thread: (),
) -> Case:
    """The case with interludes up to so many turns; the same for the same case id, seed and bank.

    Its own turns keep their order, and the last stays last. Nothing goes into a `tight` range. `late` becomes a turn
    of the case in the last gap; in runs of more than 40 turns the case goes on directly after it. Only threads that
    `fits` accepts are used, each once and whole, but the one that fills the last turns may be cut. Those that may be
    mistaken for facts of the case, whose ids `interferes` gives, come first among their type. Threads that `skips`
    names are left out after the shuffle, so that the order of the others does not change.
    """
    own = len(case.turns)
    if turns < own:
        raise InputError(f"--drift-turns {turns}: the case {case.id} has {own} turns of its own; write {own} or more")
    if turns == own:
        return case
    gaps = [at for at in range(1, own) if not any(first <= at < last for first, last in case.tight)]
    if not gaps:
        covered = "`tight` covers every turn, so no interlude can be inserted"
        raise InputError(f"--drift-turns {turns}: case {case.id}: {covered}")
    dice = random.Random(f"{seed} {case.id}")
    by_type = []
    for kind in _TYPES:
        some = sorted((thread for thread in bank if thread.type == kind and fits(thread)), key=lambda thread: thread.id)
        dice.shuffle(some)
        by_type.append(sorted((thread for thread in some if not skips(thread)), key=lambda one: not interferes(one)))
    missing = turns - own - (case.late is not None)
    parts: list[list[Turn]] = []
    for thread in chain.from_iterable(zip_longest(*by_type)):
        if missing and thread is not None:
            near = tuple(interferes(thread)) if thread.type == "interference" else ()
            said = thread.messages[:missing]
            parts.append([Turn(turn=1, message=text, interlude=thread.id, interferes=near) for text in said])
            missing -= len(said)
    if missing:
        fitting = f"the interludes that fit the case {case.id} fill {turns - missing} turns"
        raise InputError(f"--drift-turns {turns}: {fitting}; write fewer turns or give more with --drift-interludes")
    dice.shuffle(parts)
    return _renumbered(case, _spread(parts, gaps, case, late_ends_gap=turns > _THREADS_AFTER_LATE))


def _spread(parts: list[list[Turn]], gaps: Sequence[int], case: Case, *, late_ends_gap: bool) -> dict[int, list[Turn]]:
    """What fills each gap: the threads, evenly; the late question in the last gap, with some of them before it."""
    filled: dict[int, list[Turn]] = {gap: [] for gap in gaps}
    last_gap = filled[gaps[-1]]
    while case.late is not None and parts and len(last_gap) < _BEFORE_LATE:
        last_gap += parts.pop()
    place = len(last_gap)
    total, done = sum(map(len, parts)), 0
    for part in parts:
        filled[gaps[int((done + len(part) / 2) / total * len(gaps))]] += part
        done += len(part)
    if case.late is not None:
        asked = Turn(turn=1, message=case.late.message, expect=case.late.expect)
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

    def moved(wish: Expectation) -> Expectation:
        return wish.model_copy(update={"by": places.get(wish.by or 0), "until": places.get(wish.until or 0)})

    numbered = []
    for number, turn in enumerate(turns, start=1):
        must, must_not = (tuple(map(moved, wishes)) for wishes in (turn.expect.must, turn.expect.must_not))
        expect = turn.expect.model_copy(update={"must": must, "must_not": must_not})
        numbered.append(turn.model_copy(update={"turn": number, "expect": expect}))
    tight = tuple((places[first], places[last]) for first, last in case.tight)
    return case.model_copy(update={"turns": tuple(numbered), "tight": tight, "late": None})
