"""How often advice contradicts itself."""

from __future__ import annotations


def conflict_rate(contradictions: int, evaluated_pairs: int) -> float | None:
    """K_Conflict = contradictions / evaluated pairs; lower is better; None when no pair was evaluated."""
    return contradictions / evaluated_pairs if evaluated_pairs else None
