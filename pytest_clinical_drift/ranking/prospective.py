"""What became of frozen predictions: hit rate, enrichment over chance and over fame, calibration, time to event.

Two readings of a slate: all outcomes, as published figures do, and what was really foreseen, as the gate does. Per tier
and per disease. High-signal outcomes make a hit; each pair counts once. Every figure is a function of counts per
disease, so that its interval comes from resampling whole diseases: predictions for one disease share its trials, they
are not independent. A single disease gets exact binomial limits of its hit rate instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from pytest_clinical_drift.metrics import SEED
from pytest_clinical_drift.metrics.intervals import Interval, proportion_interval
from pytest_clinical_drift.ranking.figure_types import Array, Cell, Figure, SlateCode, ViewFigures
from pytest_clinical_drift.ranking.slate import PAIR, Slate
from pytest_clinical_drift.verdict.bands import TIERS

if TYPE_CHECKING:
    import polars as pl

ALL = "all"
"""Stands for all tiers together."""
RESAMPLES = 2_000
_MIN_DEFINED = 0.9
"""Share of the resamples in which the figure must be defined for an interval to be given."""
_RESAMPLED = ("hit_rate", "enrichment_vs_random", "enrichment_vs_popularity", "score_gap")
"""Figures with an interval."""
DECILES = 10


# -- the two readings


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

    def open_at_freeze(pairs: pl.DataFrame) -> pl.DataFrame:
        return pairs.filter(known=False).join(closed, on=PAIR, how="anti")

    predictions = open_at_freeze(slate.predictions.filter(repeated=False))
    candidates = None if slate.candidates is None else open_at_freeze(slate.candidates)
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
        missing = SlateCode.NO_CANDIDATES
        candidates = predictions
    counted = candidates.clear() if missing else candidates

    def by_decile(pairs: pl.DataFrame) -> Array:
        disease = pairs["disease"].to_physical().to_numpy()
        decile = deciles[pairs["drug"].to_physical().to_numpy()]
        return count_by_decile(disease, decile, len(slate.diseases))

    return View(
        rows=rows.to_numpy(structured=True),
        diseases=slate.diseases,
        candidates=by_decile(counted),
        candidate_hits=by_decile(counted.join(known.filter("hit"), on=PAIR, how="semi")),
        no_baseline=missing,
        followed=missing is None and not slate.outcomes.join(slate.predictions, on=PAIR, how="anti").is_empty(),
        left_out=slate.predictions.n_unique(PAIR) - predictions.n_unique(PAIR),
    )


# -- their figures


def evaluate(view: View, *, confidence: float = 0.95) -> ViewFigures:
    rows = view.rows
    whole, *each = _cells(view, confidence)
    hits = rows["hit"] & rows["first"]
    dated = rows[hits & ~np.isnan(rows["day"])]
    return ViewFigures(
        tiers=whole,
        by_disease=tuple({"disease": name, "tiers": own} for name, own in zip(view.diseases, each, strict=True)),
        calibration_bins=_calibration(rows["score"], hits),
        days_to_event=tuple({"tier": TIERS[tier], "days": int(day)} for tier, day in dated[["tier", "day"]].tolist()),
        pairs_known_at_freeze=view.left_out,
        observed=bool(hits.any() or view.candidate_hits.any()),
        followed=view.followed,
    )


def _cells(view: View, confidence: float) -> list[dict[str, Cell]]:
    """The figures by tier of the slate, and then of each disease."""
    size = len(view.diseases)
    weights = None
    if size > 1:
        drawn = np.random.default_rng(SEED).multinomial(size, np.full(size, 1.0 / size), size=RESAMPLES)
        weights = drawn.astype(np.float64)
    cells: list[dict[str, Cell]] = [{} for _ in range(size + 1)]
    for tier in (*np.unique(view.rows["tier"]).tolist(), None):
        for place, cell in zip(cells, measure(view, tier, weights, confidence), strict=True):
            if tier is None:
                place[ALL] = cell
            elif cell.predictions:
                place[TIERS[tier]] = cell
    return cells


def _calibration(scores: Array, hits: Array) -> tuple[dict[str, float], ...]:
    """Mean score, predictions and hits of each tenth of the predictions, by score."""
    tenths = np.array_split(np.argsort(scores, kind="stable"), 10)
    return tuple(
        {"mean_score": float(scores[part].mean()), "predictions": len(part), "hits": int(hits[part].sum())}
        for part in tenths
        if len(part)
    )


def measure(view: View, tier: int | None, weights: Array | None, confidence: float) -> Iterator[Cell]:
    """The figures of one tier (None: of all together) over the slate, and then over each disease.

    `weights` of the diseases, a row per resample, give the slate's intervals.
    """
    counts, dated = _counts(view, tier)
    diseases = len(view.diseases)
    ones = np.ones((1, diseases))
    sums = {name: np.concatenate((ones @ column, column)) for name, column in counts.items()}
    statistics = _statistics(sums)
    resampled = {} if weights is None else _statistics({name: weights @ column for name, column in counts.items()})
    for at in range(1 + diseases):
        count = {name: int(sums[name][at]) for name in ("predictions", "hits", "touched", "hit_rows", "missed_rows")}
        values = {name: float(column[at]) for name, column in statistics.items()}
        if resampled and at == 0:
            intervals = {name: _percentiles(resampled[name], confidence, diseases) for name in _RESAMPLED}
        else:
            intervals = _exact(count, values["expected_hit_rate"], confidence)
        figures = _figures(count, values, intervals, view.no_baseline)
        if tier is None:
            del figures["enrichment_vs_random"]  # the whole against itself is 1 by construction
        days = dated["day"] if at == 0 else dated["day"][dated["disease"] == at - 1]
        yield Cell(count["predictions"], count["hits"], figures | _time_to_event(days))


def _figures(
    count: Mapping[str, int],
    values: Mapping[str, float],
    intervals: Mapping[str, Interval | None],
    no_baseline: SlateCode | None,
) -> dict[str, Figure]:
    """The figures of one cell, each with what it is taken over; the reason where one is undefined."""
    n = count["predictions"]
    no_rate = no_baseline or SlateCode.NO_OPEN_CANDIDATE
    no_gap = SlateCode.NO_MISS if count["hit_rows"] else SlateCode.NO_HIT
    no_enrichment = SlateCode.NO_DECILE_HIT if values["expected_hit_rate"] == 0 else no_rate
    about = {
        "hit_rate": (n, SlateCode.NO_PREDICTION),
        "enrichment_vs_random": (n, SlateCode.NO_HIT),
        "enrichment_vs_popularity": (n, no_enrichment),
        "expected_hit_rate": (n, no_rate),
        "precision_proxy": (count["touched"], SlateCode.NO_OUTCOME),
        "mean_score_hits": (count["hit_rows"], SlateCode.NO_HIT),
        "mean_score_misses": (count["missed_rows"], SlateCode.NO_MISS),
        "score_gap": (n, no_gap),
    }
    figures: dict[str, Figure] = {}
    for name, (over, missing) in about.items():
        if np.isnan(values[name]):
            figures[name] = Figure.undefined(missing if n else SlateCode.NO_PREDICTION, over)
        else:
            figures[name] = Figure(values[name], over, interval=intervals.get(name))
    return figures


def _counts(view: View, tier: int | None) -> tuple[dict[str, Array], Array]:
    """What is counted of a tier per disease, and its hits that are dated."""
    rows = view.rows
    hit = rows["hit"]
    everywhere = np.ones(len(rows), dtype=bool)
    if tier is None:
        inside = everywhere
        once = rows["first"]
    else:
        inside = rows["tier"] == tier
        once = inside & rows["first_in_tier"]

    def per_disease(keep: Array, values: Array = everywhere) -> Array:
        return np.bincount(rows["disease"][keep], weights=values[keep], minlength=len(view.diseases))

    return {
        "predictions": per_disease(inside),
        "hits": per_disease(once & hit),
        "touched": per_disease(once & rows["touched"]),
        "all_predictions": per_disease(everywhere),
        "all_hits": per_disease(rows["first"] & hit),
        "hit_rows": per_disease(inside & hit),
        "hit_scores": per_disease(inside & hit, rows["score"]),
        "missed_rows": per_disease(inside & ~hit),
        "missed_scores": per_disease(inside & ~hit, rows["score"]),
        "deciles": count_by_decile(rows["disease"][inside], rows["decile"][inside], len(view.diseases)),
        "candidates": view.candidates,
        "candidate_hits": view.candidate_hits,
    }, rows[once & hit & ~np.isnan(rows["day"])]


def _statistics(sums: Mapping[str, Array]) -> dict[str, Array]:
    """The figures of sums over diseases, as many as the sums have rows; nan where one is undefined."""
    rate = _quotient(sums["hits"], sums["predictions"])
    by_fame = sums["deciles"] * _quotient(sums["candidate_hits"], sums["candidates"])
    expected = _quotient(np.where(sums["deciles"] > 0, by_fame, 0.0).sum(axis=-1), sums["predictions"])
    hits = _quotient(sums["hit_scores"], sums["hit_rows"])
    misses = _quotient(sums["missed_scores"], sums["missed_rows"])
    return {
        "hit_rate": rate,
        # 1 is chance; undefined without any hit
        "enrichment_vs_random": _quotient(rate, _quotient(sums["all_hits"], sums["all_predictions"])),
        # 1 is what fame alone earns; undefined where equally famous drugs had no hit
        "enrichment_vs_popularity": _quotient(rate, expected),
        # that of drugs of the same breadth deciles among all scored candidates
        "expected_hit_rate": expected,
        # not a precision: unseen events are unseen
        "precision_proxy": _quotient(sums["hits"], sums["touched"]),
        "mean_score_hits": hits,
        "mean_score_misses": misses,
        # above 0 where higher scores come true more often
        "score_gap": hits - misses,
    }


def _percentiles(values: Array, confidence: float, diseases: int) -> Interval | None:
    """The interval of a resampled figure; None where it is undefined in many resamples."""
    defined = values[np.isfinite(values)]
    if len(defined) < _MIN_DEFINED * len(values):
        return None
    tail = (1 - confidence) / 2
    low, high = np.quantile(defined, [tail, 1 - tail]).tolist()
    return Interval(low, high, "bootstrap", diseases)


def _exact(count: Mapping[str, int], expected: float, confidence: float) -> dict[str, Interval | None]:
    """Binomial limits of the hit rate, and of what it is against equally famous drugs."""
    exact = proportion_interval(count["hits"], count["predictions"], confidence=confidence)
    if exact is None or not expected > 0:
        return {"hit_rate": exact}
    scaled = replace(exact, low=exact.low / expected, high=exact.high / expected)
    return {"hit_rate": exact, "enrichment_vs_popularity": scaled}


def _time_to_event(days: Array) -> dict[str, Figure]:
    """Median days from freeze to a pair's first high-signal outcome, and the shares before, on and after it."""
    if not len(days):
        nothing = Figure.undefined(SlateCode.NO_DATE)
        return dict.fromkeys(("median_days", "share_negative", "share_zero", "share_positive"), nothing)
    parts = {"negative": days < 0, "zero": days == 0, "positive": days > 0}
    shares = {f"share_{name}": Figure(float(part.mean()), len(days)) for name, part in parts.items()}
    return {"median_days": Figure(float(np.median(days)), len(days)), **shares}


def _quotient(numerator: Array, denominator: Array) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(denominator > 0, numerator / denominator, np.nan)
