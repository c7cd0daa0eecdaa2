"""How fast recall decays: ordinary least squares of recall on the turn number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SlopeFit:
    """Recall_t = alpha + beta * t, fitted over the turns that have a value."""

    slope: float
    """beta: change of recall per turn; negative is decay."""
    intercept: float
    """alpha."""
    r_squared: float | None
    """Share of the variance that the line explains; None for a constant curve, where there is none to explain."""
    points: int


def fit_slope(curve: Sequence[float | None]) -> SlopeFit | None:
    """Fit the line; index 0 is turn 1 and missing turns keep their place; None below two points."""
    points = [(turn, value) for turn, value in enumerate(curve, start=1) if value is not None]
    if len(points) < 2:
        return None
    count = len(points)
    mean_turn = sum(turn for turn, _ in points) / count
    mean_value = sum(value for _, value in points) / count
    spread = sum((turn - mean_turn) ** 2 for turn, _ in points)
    slope = sum((turn - mean_turn) * (value - mean_value) for turn, value in points) / spread
    intercept = mean_value - slope * mean_turn
    total = sum((value - mean_value) ** 2 for _, value in points)
    if total <= 1e-15:
        return SlopeFit(0.0, mean_value, None, count)
    residual = sum((value - intercept - slope * turn) ** 2 for turn, value in points)
    return SlopeFit(slope, intercept, 1 - residual / total, count)


def compute_drift_slope(curve: Sequence[float | None]) -> float | None:
    """Drift slope beta (truth decay rate) of a recall curve; None below two points; a None keeps its turn."""
    fit = fit_slope(curve)
    return None if fit is None else fit.slope


def token_decay_rate(curve: Sequence[float | None], context_tokens: Sequence[int | None]) -> float | None:
    """Token-normalised truth decay rate: change of recall per 1,000 tokens of context, by least squares.

    `context_tokens` holds the tokens that the model had to read for the summary of each turn; negative is decay. None
    below two turns with both values, and where the context did not grow.
    """
    points = [
        (tokens / 1000, value)
        for value, tokens in zip(curve, context_tokens, strict=True)
        if value is not None and tokens is not None
    ]
    if len(points) < 2:
        return None
    mean_tokens = sum(tokens for tokens, _ in points) / len(points)
    mean_value = sum(value for _, value in points) / len(points)
    spread = sum((tokens - mean_tokens) ** 2 for tokens, _ in points)
    if spread <= 1e-15:
        return None
    return sum((tokens - mean_tokens) * (value - mean_value) for tokens, value in points) / spread
