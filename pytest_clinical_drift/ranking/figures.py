"""The values that ranking figures travel in: a number with its count, or the reason why there is none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from pytest_clinical_drift.metrics.stats import Interval

Floats: TypeAlias = npt.NDArray[np.floating[Any]]
Ints: TypeAlias = npt.NDArray[np.integer[Any]]
Flags: TypeAlias = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Figure:
    """One number. Undefined is None with a reason, never 0."""

    value: float | None
    n: int
    """What it was computed over: pairs, trials or groups, as the metric says."""
    reason: str = ""
    """Why there is no value."""
    interval: Interval | None = None
    """From resampling whole diseases; for a single disease exact binomial limits."""

    @classmethod
    def undefined(cls, reason: str, n: int = 0) -> Figure:
        return cls(None, n, reason)
