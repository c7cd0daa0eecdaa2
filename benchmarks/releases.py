"""Simulated releases with known truth: beta-binomial facts, persona clusters, curves of ten turns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

TURNS = 10
STEEPEST = 0.1
"""Largest loss per turn of a simulated case."""
FLICKER = 0.3
"""Share of a fact's appearances that are drawn afresh rather than following from the turn before."""


@dataclass(frozen=True, slots=True)
class Design:
    """The set of cases and how alike they are."""

    cases: int = 60
    personas: int = 40
    facts: tuple[int, ...] = (4, 5, 6)
    pairs: tuple[int, ...] = (8, 9, 11)
    persona_correlation: float = 0.1
    case_correlation: float = 0.2

    @property
    def owner(self) -> NDArray[np.intp]:
        """Which persona each case belongs to."""
        return np.arange(self.cases) % self.personas

    @property
    def groups(self) -> list[str]:
        return [f"p{number}" for number in self.owner]

    def facts_of_cases(self) -> NDArray[np.int64]:
        return np.resize(np.array(self.facts), self.cases)

    def pairs_of_cases(self) -> NDArray[np.int64]:
        return np.resize(np.array(self.pairs), self.cases)


def case_levels(generator: np.random.Generator, design: Design, mean: float, runs: int) -> Array:
    """Every case's own probability: personas vary around the truth, cases around their persona (cases x runs)."""
    personas = _beta(generator, np.full((design.personas, runs), mean), design.persona_correlation)
    return _beta(generator, personas[design.owner], design.case_correlation)


def _beta(generator: np.random.Generator, mean: Array, correlation: float) -> Array:
    strength = 1 / correlation - 1
    mean = np.clip(mean, 1e-6, 1 - 1e-6)
    return generator.beta(mean * strength, (1 - mean) * strength)


def recalls(generator: np.random.Generator, design: Design, truth: float, runs: int) -> Array:
    """Recall@T10 of every case (cases x runs)."""
    facts = design.facts_of_cases()[:, None]
    return generator.binomial(facts, case_levels(generator, design, truth, runs)) / facts


def curves(generator: np.random.Generator, design: Design, start: float, slope: float, runs: int) -> Array:
    """Recall curves that fall by `slope` a turn on average, each case at its own pace (cases x runs x turns)."""
    pace = STEEPEST * case_levels(generator, design, max(-slope, 1e-9) / STEEPEST, runs)
    level = np.clip(start - pace[..., None] * np.arange(TURNS), 0, 1)
    return _facts_seen(generator, design, level)


def _facts_seen(generator: np.random.Generator, design: Design, level: Array) -> Array:
    """A fact is there where its threshold lies below the level; the threshold mostly stays from turn to turn."""
    cases, runs, turns = level.shape
    seen = np.zeros_like(level)
    counts = design.facts_of_cases()
    for fact in range(max(design.facts)):
        threshold = generator.random((cases, runs))
        present = (counts > fact)[:, None]
        for turn in range(turns):
            fresh = generator.random((cases, runs))
            threshold = np.where(generator.random((cases, runs)) < FLICKER, fresh, threshold)
            seen[..., turn] += present & (threshold < level[..., turn])
    return seen / counts[:, None, None]


def slopes_of(curves_: Array) -> Array:
    """Least-squares slope of every curve (cases x runs)."""
    turns = np.arange(TURNS) - (TURNS - 1) / 2
    slopes: Array = curves_ @ turns / (turns**2).sum()
    return slopes


def conflicts(generator: np.random.Generator, design: Design, truth: float, runs: int) -> NDArray[np.int64]:
    """Contradictions among every case's pairs of advice (cases x runs)."""
    found: NDArray[np.int64] = generator.binomial(
        design.pairs_of_cases()[:, None], case_levels(generator, design, truth, runs)
    )
    return found
