"""How much one model varies on the same case: repeats of a conversation under sampled decoding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Spread:
    """Variation of a figure within cases and between them."""

    within_sd: float | None
    """Standard deviation between repeats of one case, pooled over cases; None without a repeated case."""
    between_sd: float | None
    """Standard deviation of the cases' own level, repeats' scatter taken out; None below two cases."""
    reliability: float | None
    """Share of the variance of a single run that is the case and not chance; None when there is no variance."""
    cases: int
    """Cases with at least two repeats."""


def repeat_spread(cases: Sequence[Sequence[float]]) -> Spread:
    """One-way analysis of variance over cases with at least two defined repeats."""
    repeated = [list(values) for values in cases if len(values) >= 2]
    if not repeated:
        return Spread(None, None, None, 0)
    total = sum(len(values) for values in repeated)
    means = [sum(values) / len(values) for values in repeated]
    squares = sum((value - mean) ** 2 for values, mean in zip(repeated, means, strict=True) for value in values)
    within = squares / (total - len(repeated))
    if len(repeated) < 2:
        return Spread(within**0.5, None, None, len(repeated))
    grand = sum(sum(values) for values in repeated) / total
    sizes = [len(values) for values in repeated]
    between_square = sum(size * (mean - grand) ** 2 for size, mean in zip(sizes, means, strict=True)) / (len(sizes) - 1)
    typical = (total - sum(size**2 for size in sizes) / total) / (len(sizes) - 1)
    between = max(0.0, (between_square - within) / typical)
    whole = between + within
    return Spread(within**0.5, between**0.5, between / whole if whole > 1e-15 else None, len(repeated))
