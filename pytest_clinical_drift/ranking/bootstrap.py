"""Intervals by resampling whole diseases: predictions for one disease share its trials, so they are not independent."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from pytest_clinical_drift.metrics.seed import SEED
from pytest_clinical_drift.ranking.figure import Range

RESAMPLES = 2_000
_MIN_DEFINED = 0.9
"""Share of the resamples in which the figure must be defined for an interval to be given."""

Weights = npt.NDArray[np.float64]
Statistic = Callable[[Weights], npt.NDArray[np.float64]]
"""Weights of the diseases, one row per resample, to one value per resample (nan where undefined)."""


def resample(diseases: int, *, resamples: int = RESAMPLES, seed: int = SEED) -> Weights:
    """How often each disease is drawn in each resample."""
    generator = np.random.default_rng(seed)
    share = np.full(diseases, 1.0 / max(diseases, 1))
    return generator.multinomial(diseases, share, size=resamples).astype(np.float64)


def interval(weights: Weights, statistic: Statistic, *, confidence: float) -> Range | None:
    """Percentile interval; None below two diseases or where the figure is undefined in many resamples."""
    if weights.shape[1] < 2:
        return None
    values = statistic(weights)
    defined = values[np.isfinite(values)]
    if len(defined) < _MIN_DEFINED * len(values):
        return None
    tail = (1 - confidence) / 2
    low, high = np.quantile(defined, [tail, 1 - tail])
    return Range(float(low), float(high), weights.shape[1])
