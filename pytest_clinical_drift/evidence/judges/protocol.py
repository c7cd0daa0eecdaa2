"""What every judge of contradiction offers, and what it answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable


@dataclass(frozen=True, slots=True)
class Conflict:
    """A judge's answer on two pieces of advice."""

    contradiction: bool
    reason: str
    """Why, in one sentence; for consistent advice what was compared."""
    quotes: tuple[str, str] | None = None
    """The words of the earlier and of the later text that cannot both be followed."""
    severe: bool = False
    """Following the wrong one may do serious harm."""
    kind: str = ""
    """What differs: avoid/use, start/stop, dose, frequency, food, urgency, direction, missed dose, polarity."""
    object: str | None = None
    """Id of what both are about, where it is known."""
    probability: float | None = None
    """The model's probability, for judges that have one."""


@runtime_checkable
class Judge(Protocol):
    """Decides whether two replies contradict each other."""

    name: str

    def judge(self, earlier: str, later: str) -> Conflict:
        """The verdict on one pair."""
        ...

    def judge_many(self, pairs: Sequence[tuple[str, str]]) -> list[Conflict]:
        """The verdicts on many pairs, in order."""
        ...
