"""Two readings of one slate: all outcomes, as published figures do, and what was really foreseen, as the gate does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pytest_clinical_drift.ranking.figure_types import Array, SlateCode
from pytest_clinical_drift.ranking.slate import PAIR, Slate

if TYPE_CHECKING:
    import polars as pl

DECILES = 10


@dataclass(frozen=True, slots=True)
class View:
    """The predictions that count, and the candidates beside them."""

    rows: Array
    """Ordered by disease and rank, with the fields disease, tier, score, decile; hit (the pair has a high-signal
    outcome), touched (it has any), day (from freeze to its first high-signal outcome, nan without a dated one); first
    and first_in_tier (first row of its pair, over all and in its tier: hits are counted over distinct pairs)."""
    diseases: tuple[str, ...]
    candidates: Array
    """Scored candidates of the slate's diseases, counted per disease (rows) and breadth decile (columns)."""
    candidate_hits: Array
    no_baseline: SlateCode | None
    """Why no candidates are counted."""
    followed: bool
    """Whether any outcome is recorded outside the slate; if not, perhaps nobody looked there."""
    left_out: int
    """Distinct pairs that do not take part because they were known at freeze."""


def all_outcomes(slate: Slate) -> View:
    return _view(slate, slate.predictions, slate.candidates, slate.outcomes)


def prospective(slate: Slate) -> View:
    """Distinct pairs that were open at freeze, and the outcomes that came afterwards.

    A pair known at freeze, or with a high-signal outcome that is not proven younger, can no longer be discovered: it is
    neither hit nor miss, in the slate and among the candidates alike.
    """
    closed = slate.outcomes.filter(high=True, prospective=False)
    predictions, candidates = (
        None if pairs is None else pairs.filter(known=False).join(closed, on=PAIR, how="anti")
        for pairs in (slate.predictions.filter(repeated=False), slate.candidates)
    )
    return _view(slate, predictions, candidates, slate.outcomes.filter(prospective=True))


def breadth_deciles(breadth: Array, deciles: int = DECILES) -> Array:
    """NTILE(10) over drugs by the number of diseases they are labelled for; drugs are given in name order.

    Ties go by drug name, drugs without any label (breadth 0) take part. As in SQL the first n mod 10 hold one more.
    """
    tiles = np.empty(len(breadth), dtype=np.int64)
    for tile, drugs in enumerate(np.array_split(np.argsort(breadth, kind="stable"), deciles)):
        tiles[drugs] = tile
    return tiles


def count_by_decile(disease: Array, decile: Array, diseases: int) -> Array:
    counts = np.bincount(disease * np.int64(DECILES) + decile, minlength=diseases * DECILES)
    return counts.reshape(diseases, DECILES).astype(np.float64)


def _view(slate: Slate, predictions: pl.DataFrame, candidates: pl.DataFrame | None, outcomes: pl.DataFrame) -> View:
    import polars as pl

    high = pl.col("high")
    known = outcomes.group_by(PAIR).agg(day=pl.col("day").filter(high).min(), hit=high.any(), touched=True)
    deciles = breadth_deciles(slate.breadth if slate.breadth is not None else np.zeros(len(slate.drugs), np.int64))
    rows = (
        predictions.sort("disease", "rank", maintain_order=True)
        .join(known, on=PAIR, how="left", maintain_order="left")
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
    missing = SlateCode.NO_POPULARITY if slate.breadth is None else None
    if candidates is None:
        missing, candidates = SlateCode.NO_CANDIDATES, predictions
    counted = candidates.clear() if missing else candidates
    scored, hits = (
        count_by_decile(
            pairs["disease"].to_physical().to_numpy(),
            deciles[pairs["drug"].to_physical().to_numpy()],
            len(slate.diseases),
        )
        for pairs in (counted, counted.join(known.filter("hit"), on=PAIR, how="semi"))
    )
    return View(
        rows=rows.to_numpy(structured=True),
        diseases=slate.diseases,
        candidates=scored,
        candidate_hits=hits,
        no_baseline=missing,
        followed=missing is None and not slate.outcomes.join(slate.predictions, on=PAIR, how="anti").is_empty(),
        left_out=slate.predictions.n_unique(PAIR) - predictions.n_unique(PAIR),
    )
