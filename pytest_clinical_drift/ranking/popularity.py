"""What a prediction would achieve on its drug's fame alone: hit rates of equally well-known candidates."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pytest_clinical_drift.ranking.figure import Flags, Ints

DECILES = 10


def breadth_deciles(breadth: Ints, deciles: int = DECILES) -> npt.NDArray[np.int8]:
    """NTILE(10) over drugs by the number of diseases they are labelled for; drugs are given in name order.

    Ties go by drug name, drugs without any label (breadth 0) take part. As in SQL the first n mod 10 hold one more.
    """
    count = len(breadth)
    order = np.lexsort((np.arange(count), breadth))
    small, larger = divmod(count, deciles)
    sizes = np.full(deciles, small)
    sizes[:larger] += 1
    tiles = np.empty(count, dtype=np.int8)
    tiles[order] = np.repeat(np.arange(deciles), sizes)
    return tiles


def count_by_decile(disease: Ints, decile: Ints, diseases: int, keep: Flags | None = None) -> npt.NDArray[np.float64]:
    """Pairs per disease (rows) and decile (columns)."""
    cell = disease * np.int64(DECILES) + decile
    if keep is not None:
        cell = cell[keep]
    counts = np.bincount(cell, minlength=diseases * DECILES)
    return counts.reshape(diseases, DECILES).astype(np.float64)


def expected_hits(
    candidates: npt.NDArray[np.float64], hits: npt.NDArray[np.float64], chosen: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Hits that the chosen pairs would have at the hit rate of all candidates of their decile.

    All three are counts per decile in the last axis. A decile that holds chosen pairs but no candidate gives nan.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        rate = np.where(candidates > 0, hits / candidates, np.nan)
        return np.asarray(np.where(chosen > 0, chosen * rate, 0.0).sum(axis=-1))
