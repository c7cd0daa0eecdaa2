"""What holds at a turn: the demands on its reply, whether a summary is requested, and when a fact was last stated."""

from dataclasses import dataclass

from pytest_clinical_drift.cases.entries import SEVERE_GRADES, DemandKind, Expectation, demands_in
from pytest_clinical_drift.cases.model import Case


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


def demands_at(case: Case, turn: int) -> tuple[Demand, ...]:
    """Demands on the reply of `turn`: its own, and earlier ones that hold `until` it or may be met `by` it."""
    demands = []
    for made in case.turns[:turn]:
        for kind, wish, place in demands_in(made.expect):
            by = wish.by or made.turn
            if turn <= max(wish.until or made.turn, by):
                name = f"t{made.turn}-{kind}-{int(place[-1]) + 1}"
                demands.append(Demand(name, kind, wish, made.turn, turn >= by))
    return tuple(demands)


def last_stated(case: Case, fact: str, turn: int) -> int:
    """The turn by which the patient or the record last stated a fact; the record, given before turn 1, is 0."""
    last = 0
    for entry in case.turns[:turn]:
        spoken = {*entry.restates, *(update.fact for update in entry.updates), *(new.id for new in entry.introduces)}
        if spoken and fact in map(case.fact_named, spoken):
            last = entry.turn
    return last


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
    turns = range(1, len(case.turns) + 1)
    changed = {turn.turn for turn in case.turns if turn.updates or turn.introduces}
    probed = {turn for turn in turns if every or not changed.isdisjoint((turn, turn - 1))}
    return tuple(sorted(probed.union(scheduled_turns(len(turns)))))
