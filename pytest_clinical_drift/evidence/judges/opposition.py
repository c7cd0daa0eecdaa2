"""What two directives that exclude each other are opposed in."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Opposition:
    """Two directives that exclude each other."""

    kind: str
    """avoid/use, start/stop, direction, dose, frequency, food, urgency or polarity."""
    reason: str
    severe: bool
    object: str | None = None
    weight: float = 1.0
    """Among several the heaviest is reported."""
