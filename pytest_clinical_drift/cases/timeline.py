"""What holds at a turn: the demands on its reply, and when each fact was last stated."""

from dataclasses import dataclass
from typing import Literal

from pytest_clinical_drift.cases.entries import SEVERE_GRADES, Expectation
from pytest_clinical_drift.cases.model import Case

DemandKind = Literal["must", "must_not"]


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
        for kind, wishes in (("must", made.expect.must), ("must_not", made.expect.must_not)):
            for number, wish in enumerate(wishes, start=1):
                by = wish.by or made.turn
                last = max(wish.until or made.turn, by)
                if turn <= last:
                    name = f"t{made.turn}-{kind}-{number}"
                    demands.append(Demand(name, "must" if kind == "must" else "must_not", wish, made.turn, turn >= by))
    return tuple(demands)


def last_stated(case: Case, fact: str, turn: int) -> int:
    """The turn by which the patient or the record last stated a fact; the record, given before turn 1, is 0."""
    last = 0
    for entry in case.turns[:turn]:
        spoken = {*entry.restates, *(update.fact for update in entry.updates), *(new.id for new in entry.introduces)}
        if spoken and fact in map(case.fact_named, spoken):
            last = entry.turn
    return last


def interfered(case: Case, fact: str, since: int, turn: int) -> bool:
    """Whether an interlude that may be mistaken for a fact came after a turn, up to another."""
    return any(fact in entry.interferes for entry in case.turns[since:turn])
