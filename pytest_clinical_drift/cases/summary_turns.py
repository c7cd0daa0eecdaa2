"""After which turns a summary is requested: on a schedule that thins out, and where something changed."""

from collections.abc import Iterator
from dataclasses import dataclass

from pytest_clinical_drift.cases.model import Case

EVERY_TURN_TO = 20
"""Up to here every turn is probed."""
_THEN = (25, 30, 40, 50, 60, 80, 100, 120)


@dataclass(frozen=True, slots=True)
class Probes:
    """The turns after which a summary is requested."""

    scheduled: tuple[int, ...]
    """On the schedule, the last turn included: slope, fall and horizon are read here."""
    extra: tuple[int, ...] = ()
    """After an update or a new fact and after the turn that follows it, where the schedule has none."""

    @property
    def turns(self) -> tuple[int, ...]:
        """All probed turns in their order."""
        return tuple(sorted((*self.scheduled, *self.extra)))


def probes_of(case: Case, every: bool = False) -> Probes:
    """Where a case is probed; `every` probes every turn, and then the schedule is still told apart from the rest.

    The schedule: every turn up to 20, then 25, 30, 40, 50, 60, 80, 100, 120, from there every 40 turns up to 400 (160,
    200, …) and every 100 turns beyond (500, 600, …), and always the last turn.
    """
    last = len(case.turns)
    scheduled = {*scheduled_turns(last), last}
    extra = {
        turn
        for change in case.turns
        if change.updates or change.introduces
        for turn in (change.turn, change.turn + 1)
        if turn <= last
    }
    if every:
        extra = set(range(1, last + 1))
    return Probes(tuple(sorted(scheduled)), tuple(sorted(extra - scheduled)))


def scheduled_turns(last: int) -> Iterator[int]:
    """The turns of the schedule up to `last`; `last` itself only where the schedule names it."""
    yield from range(1, min(last, EVERY_TURN_TO) + 1)
    yield from (turn for turn in _THEN if turn <= last)
    yield from range(160, min(last, 400) + 1, 40)
    yield from range(500, last + 1, 100)
