"""Two readings of one slate: all outcomes, as published figures do, and what was really foreseen, as the gate does."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pytest_clinical_drift.ranking.figure_types import Ints, SlateCode
from pytest_clinical_drift.ranking.slate import PAIR, Slate

if TYPE_CHECKING:
    import polars as pl

DECILES = 10


@dataclass(frozen=True, slots=True)
class Baseline:
    """Scored candidates of the slate's diseases, counted per disease (rows) and breadth decile (columns)."""

    candidates: npt.NDArray[np.float64]
    hits: npt.NDArray[np.float64]
    followed: bool
    """Whether any outcome is recorded outside the slate; if not, perhaps nobody looked there."""


@dataclass(frozen=True, slots=True)
class View:
    """The predictions that count, and the candidates beside them."""

    rows: npt.NDArray[Any]
    """Ordered by disease and rank, with the fields disease, tier, score, decile; hit (the pair has a high-signal
    outcome), touched (it has any), day (from freeze to its first high-signal outcome, nan without a dated one); first
    and first_in_tier (first row of its pair, over all and in its tier: hits are counted over distinct pairs)."""
    diseases: int
    baseline: Baseline | None
    no_baseline: SlateCode | None = None
    """Why there is none."""
    left_out: int = 0
    """Distinct pairs that do not take part because they were known at freeze."""

    def of_disease(self, index: int) -> View:
        low, high = np.searchsorted(self.rows["disease"], [index, index + 1])
        rows, base, one = self.rows[low:high].copy(), self.baseline, slice(index, index + 1)
        rows["disease"] = 0
        if base is not None:
            base = replace(base, candidates=base.candidates[one], hits=base.hits[one])
        return View(rows, 1, base, self.no_baseline)


def all_outcomes(slate: Slate) -> View:
    return _view(slate, slate.predictions, slate.candidates, slate.outcomes)


def prospective(slate: Slate) -> View:
    """Distinct pairs that were open at freeze, and the outcomes that came afterwards.

    A pair known at freeze, or with a high-signal outcome that is not proven younger, can no longer be discovered: it is
    neither hit nor miss, in the slate and among the candidates alike.
    """
    import polars as pl

    closed = slate.outcomes.filter(pl.col("high") & ~pl.col("prospective"))
    predictions, candidates = (
        None if pairs is None else pairs.filter(~pl.col("known")).join(closed, on=PAIR, how="anti")
        for pairs in (slate.predictions.filter(~pl.col("repeated")), slate.candidates)
    )
    return _view(slate, predictions, candidates, slate.outcomes.filter("prospective"))


def breadth_deciles(breadth: Ints, deciles: int = DECILES) -> npt.NDArray[np.int64]:
    """NTILE(10) over drugs by the number of diseases they are labelled for; drugs are given in name order.

    Ties go by drug name, drugs without any label (breadth 0) take part. As in SQL the first n mod 10 hold one more.
    """
    tiles = np.empty(len(breadth), dtype=np.int64)
    for tile, drugs in enumerate(np.array_split(np.argsort(breadth, kind="stable"), deciles)):
        tiles[drugs] = tile
    return tiles


def count_by_decile(disease: Ints, decile: Ints, diseases: int) -> npt.NDArray[np.float64]:
    counts = np.bincount(disease * np.int64(DECILES) + decile, minlength=diseases * DECILES)
    return counts.reshape(diseases, DECILES).astype(np.float64)


def _view(slate: Slate, predictions: pl.DataFrame, candidates: pl.DataFrame | None, outcomes: pl.DataFrame) -> View:
    import polars as pl

    hits = outcomes.filter("high").group_by(PAIR).agg(pl.col("day").min(), hit=pl.lit(True))
    touched = outcomes.select(PAIR).unique().with_columns(touched=True)
    baseline, reason = _baseline(slate, candidates, hits)
    deciles = breadth_deciles(slate.breadth if slate.breadth is not None else np.zeros(len(slate.drugs), np.int64))
    rows = (
        predictions.sort("disease", "rank", maintain_order=True)
        .join(hits, on=PAIR, how="left", maintain_order="left")
        .join(touched, on=PAIR, how="left", maintain_order="left")
        .select(
            pl.col("disease").to_physical().cast(pl.Int64),
            "tier",
            "score",
            pl.col("day").cast(pl.Float64).fill_null(float("nan")),
            pl.col("hit", "touched").fill_null(False),
            decile=pl.lit(pl.Series(deciles)).gather(pl.col("drug").to_physical()),
            first=pl.struct(PAIR).is_first_distinct(),
            first_in_tier=pl.struct(*PAIR, "tier").is_first_distinct(),
        )
    )
    left_out = slate.predictions.n_unique(PAIR) - predictions.n_unique(PAIR)
    return View(rows.to_numpy(structured=True), len(slate.diseases), baseline, reason, left_out)


def _baseline(slate: Slate, pairs: pl.DataFrame | None, hits: pl.DataFrame) -> tuple[Baseline | None, SlateCode | None]:
    if pairs is None:
        return None, SlateCode.NO_CANDIDATES
    if slate.breadth is None:
        return None, SlateCode.NO_POPULARITY
    deciles, size = breadth_deciles(slate.breadth), len(slate.diseases)
    counted = [
        count_by_decile(
            chosen["disease"].to_physical().to_numpy(), deciles[chosen["drug"].to_physical().to_numpy()], size
        )
        for chosen in (pairs, pairs.join(hits, on=PAIR, how="semi"))
    ]
    outside = slate.outcomes.join(slate.predictions, on=PAIR, how="anti")
    return Baseline(counted[0], counted[1], followed=not outside.is_empty()), None
