"""What was found for one fact: its status, the tokens that show it, and why it is not plainly retained."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

RETAINED, PARTIAL, CONTRADICTED, ABSENT = "retained", "partial", "contradicted", "absent"
_ORDER = {ABSENT: 0, PARTIAL: 1, RETAINED: 2, CONTRADICTED: 3}


@dataclass(frozen=True, slots=True)
class Outcome:
    """The status of a fact with its evidence as (first, last) tokens."""

    status: str
    evidence: tuple[tuple[int, int], ...] = ()
    reason: str = ""


NOTHING = Outcome(ABSENT, (), "not stated")


def strongest(outcomes: Iterable[Outcome], default: Outcome = NOTHING) -> Outcome:
    """The outcome that decides: a contradiction, else the fullest statement."""
    return max(outcomes, key=lambda outcome: _ORDER[outcome.status], default=default)
