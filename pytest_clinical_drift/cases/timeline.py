"""A case by turn: its facts, the demands on its replies, its probes, and when a fact was last stated.

`Timeline.of(case)` computes all of it once; the functions below answer for one turn.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, Self

from pytest_clinical_drift.cases.entries import (
    SEVERE_GRADES,
    CriticalEntity,
    DemandKind,
    Expectation,
    Turn,
    demands_in,
)
from pytest_clinical_drift.cases.model import Case, FactState, facts_by_turn


@dataclass(frozen=True, slots=True)
class Demand:
    """One demand as it applies to the reply of one turn."""

    id: str
    """Unique within the case; names the turn that made the demand."""
    kind: DemandKind
    expectation: Expectation
    made_at: int
    """The turn that made it."""
    due: bool
    """A must that is missing here counts: no later reply may still meet it."""

    @property
    def text(self) -> str:
        return self.expectation.text

    @property
    def due_at(self) -> int:
        """The first turn on which it counts that it is missing: until then a later reply may meet it."""
        return self.expectation.by or self.made_at

    @property
    def once(self) -> bool:
        """One reply out of several is enough."""
        return self.due_at > self.made_at and self.expectation.until is None

    @property
    def severe(self) -> bool:
        """Of the two highest grades: broken once, it fails the case."""
        return self.expectation.grade in SEVERE_GRADES


class _Made(NamedTuple):
    """A demand and the turns to whose replies it applies."""

    id: str
    kind: DemandKind
    expectation: Expectation
    first: int
    """The turn that made it."""
    last: int

    def on(self, turn: int) -> Demand:
        due = turn >= (self.expectation.by or self.first)
        return Demand(self.id, self.kind, self.expectation, self.first, due)


@dataclass(frozen=True, slots=True)
class Timeline:
    """A patient by turn, computed once for a case: facts, demands, what messages state, and probes."""

    case: Case
    facts: tuple[tuple[FactState, ...], ...]
    """What is true at turn 0, which is the intake, and after the message of every turn."""
    demands: tuple[tuple[Demand, ...], ...]
    """On the reply of every turn; none at turn 0."""
    stated: tuple[frozenset[str], ...]
    """Ids of the facts that the intake (turn 0) and every message state, introduce or change."""
    scheduled: tuple[int, ...]
    """Turns of the schedule, on which slope, fall and horizon are read."""
    probed: tuple[int, ...]
    """Turns after which a summary is requested: the scheduled ones and those of changes."""

    @classmethod
    def of(cls, case: Case) -> Self:
        made = list(_made(case, len(case.turns)))
        demands = [tuple(one.on(turn) for one in made if one.first <= turn <= one.last) for turn in _turns(case)]
        intake = frozenset(fact.id for fact in case.critical_entities)
        return cls(
            case=case,
            facts=tuple(facts_by_turn(case)),
            demands=((), *demands),
            stated=(intake, *(_stated_by(case, turn) for turn in case.turns)),
            scheduled=scheduled_turns(len(case.turns)),
            probed=probed_turns(case),
        )

    def facts_at(self, turn: int) -> tuple[FactState, ...]:
        """What is true of the patient once the message of `turn` has been said."""
        return self.facts[turn]

    def current_at(self, turn: int) -> tuple[CriticalEntity, ...]:
        """The facts that hold at `turn`, without those that ended."""
        return tuple(state.fact for state in self.facts[turn] if not state.ended)

    def demands_at(self, turn: int) -> tuple[Demand, ...]:
        """Demands on the reply of `turn`: its own, and earlier ones that hold until it or may be met by it."""
        return self.demands[turn]

    def last_stated(self, fact: str, turn: int) -> int:
        """The turn by which the patient or the record last stated a fact; the record, given before turn 1, is 0."""
        return max((said for said in range(1, turn + 1) if fact in self.stated[said]), default=0)


def demands_at(case: Case, turn: int) -> tuple[Demand, ...]:
    """Demands on the reply of `turn`: its own, and earlier ones that hold `until` it or may be met `by` it."""
    return tuple(made.on(turn) for made in _made(case, turn) if turn <= made.last)


def _made(case: Case, turn: int) -> Iterator[_Made]:
    """The demands that turns up to this one make."""
    for entry in case.turns[:turn]:
        for kind, wish, place in demands_in(entry.expect):
            name = f"t{entry.turn}-{kind}-{int(place[-1]) + 1}"
            last = max(wish.until or entry.turn, wish.by or entry.turn)
            yield _Made(name, kind, wish, entry.turn, last)


def last_stated(case: Case, fact: str, turn: int) -> int:
    """The turn by which the patient or the record last stated a fact; the record, given before turn 1, is 0."""
    stating = (entry.turn for entry in reversed(case.turns[:turn]) if fact in _stated_by(case, entry))
    return next(stating, 0)


def _stated_by(case: Case, turn: Turn) -> frozenset[str]:
    """Ids of the facts that a message repeats on purpose, changes or introduces."""
    names = [*turn.restates]
    names += [update.fact for update in turn.updates]
    names += [fact.id for fact in turn.introduces]
    return frozenset(map(case.fact_named, names))


def scheduled_turns(last: int) -> tuple[int, ...]:
    """The schedule of a case of so many turns, on which slope, fall and horizon are read.

    Every turn up to 20, then 25, 30, 40, 50, 60, 80, 100, 120, from there every 40 turns up to 400 (160, 200, …) and
    every 100 turns beyond (500, 600, …), and always the last turn.
    """
    turns = (*range(1, 21), 25, 30, 40, 50, 60, 80, 100, 120, *range(160, 401, 40), *range(500, last, 100))
    return (*(turn for turn in turns if turn < last), last)


def probed_turns(case: Case, every: bool = False) -> tuple[int, ...]:
    """After which turns a summary is requested: all with `every`, else the scheduled ones and those of changes.

    A change, an update or a new fact, is probed at its turn and at the one that follows it.
    """
    turns = _turns(case)
    if every:
        return tuple(turns)
    probed = set(scheduled_turns(len(case.turns)))
    for turn in case.turns:
        if turn.updates or turn.introduces:
            probed.update((turn.turn, turn.turn + 1))
    return tuple(sorted(probed.intersection(turns)))


def _turns(case: Case) -> range:
    return range(1, len(case.turns) + 1)
