"""Amounts, rhythms and dates of a directive as values."""

from __future__ import annotations

from dataclasses import dataclass

Span = tuple[float, float]
"""Lowest and highest value."""


@dataclass(frozen=True, slots=True)
class Amount:
    """A quantity range in the base unit of its dimension."""

    low: float
    high: float
    dimension: str

    def overlaps(self, other: Amount) -> bool:
        """Whether the ranges share a value, give or take rounding."""
        return self.low <= other.high * 1.001 and other.low <= self.high * 1.001

    def times(self, low: float, high: float) -> Amount:
        """The amount taken several times."""
        return Amount(self.low * low, self.high * high, self.dimension)


@dataclass(frozen=True, slots=True)
class Amounts:
    """The measurable parts of a piece of advice; None where it says nothing."""

    dose: Amount | None = None
    """Of one administration."""
    daily: Amount | None = None
    """Total of a day, stated or from dose and frequency."""
    per_day: Span | None = None
    """Times per day, lowest and highest."""
    due: Span | None = None
    """Days until it is to happen."""
    lasts: Span | None = None
    """Days it goes on."""
    ceiling: bool = False
    """The amounts are upper limits."""
    split: bool = False
    """Unequal doses at several times of the day: `dose` is their range, `daily` their sum."""
    changed_from: Amount | None = None
    """ "from 5 mg to 10 mg": where a change starts."""

    def __bool__(self) -> bool:
        return self.regimen or self.due is not None or self.lasts is not None

    @property
    def regimen(self) -> bool:
        """Whether it says how much or how often."""
        return self.dose is not None or self.daily is not None or self.per_day is not None

    @property
    def dose_text(self) -> str | None:
        """The amount in words, of one administration or else of a day."""
        amount = self.dose or self.daily
        if amount is None:
            return None
        high = "" if amount.low == amount.high else f" to {amount.high:g}"
        return f"{amount.low:g}{high} {amount.dimension}"

    @property
    def frequency_text(self) -> str | None:
        """How often, in words."""
        if self.per_day is None:
            return None
        times = self.per_day[1]
        return f"{times:g} a day" if times >= 1 else f"every {1 / times:g} days"
