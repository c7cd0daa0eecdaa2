"""What became of frozen predictions: hit rate, enrichment over chance and over fame, calibration, time to event.

Per tier and per disease. High-signal outcomes make a hit; each pair counts once. Intervals resample whole diseases; a
single disease gets exact binomial limits of its hit rate instead.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pytest_clinical_drift.ranking.bootstrap import Weights, interval, resample
from pytest_clinical_drift.ranking.figure import Figure, Flags, Floats, Range, ratio
from pytest_clinical_drift.ranking.popularity import count_by_decile, expected_hits
from pytest_clinical_drift.ranking.view import View
from pytest_clinical_drift.verdict.slate_limits import TIERS

NO_PREDICTION = "no prediction"
NO_HIT, NO_MISS = "no prediction has a high-signal outcome", "every prediction has a high-signal outcome"
ALL = "all"
"""Stands for all tiers together."""


@dataclass(frozen=True, slots=True)
class Cell:
    """The figures of one tier (or all), over the slate or one disease."""

    predictions: int
    hits: int
    figures: dict[str, Figure]


@dataclass(frozen=True, slots=True)
class ScoreBin:
    """A tenth of the predictions, by score."""

    mean_score: float
    predictions: int
    hits: int


@dataclass(frozen=True, slots=True)
class ViewFigures:
    """Everything that one reading of the outcomes yields."""

    tiers: dict[str, Cell]
    """Tier name, or "all"."""
    diseases: tuple[dict[str, Cell], ...]
    """In the order of the slate's diseases."""
    calibration: tuple[ScoreBin, ...]
    days: tuple[tuple[int, int], ...]
    """Tier position and days to the first high-signal outcome, of every hit that is dated."""
    observed: int
    """Pairs with a high-signal outcome, in the slate and among the other candidates."""
    left_out: int
    """Distinct pairs that do not take part because they were known at freeze."""


def evaluate(view: View, *, confidence: float = 0.95) -> ViewFigures:
    """All figures of a view."""
    weights = resample(view.diseases) if view.diseases > 1 else None
    dated = view.first & view.hit & ~np.isnan(view.day)
    days = zip(view.tier[dated].tolist(), view.day[dated].astype(np.int64).tolist(), strict=True)
    return ViewFigures(
        tiers=_cells(view, weights, confidence),
        diseases=tuple(_cells(view.of_disease(index), None, confidence) for index in range(view.diseases)),
        calibration=_score_bins(view),
        days=tuple(days),
        observed=_observed(view),
        left_out=view.left_out,
    )


def _observed(view: View) -> int:
    in_slate = int((view.hit & view.first).sum())
    return in_slate if view.baseline is None else max(in_slate, int(view.baseline.hits.sum()))


def _cells(view: View, weights: Weights | None, confidence: float) -> dict[str, Cell]:
    present = [tier for tier in range(len(TIERS)) if bool((view.tier == tier).any())]
    cells = {TIERS[tier]: measure(view, tier, weights, confidence) for tier in present}
    return cells | {ALL: measure(view, None, weights, confidence)}


def measure(view: View, tier: int | None, weights: Weights | None, confidence: float) -> Cell:
    """The figures of one tier (None: all of them)."""
    counts = _Counts(view, tier)
    observed = [view.hit & counts.rows, ~view.hit & counts.rows]
    figures = {
        "hit_rate": _hit_rate(counts, weights, confidence),
        "enrichment_vs_random": _vs_random(counts, weights, confidence),
        "enrichment_vs_popularity": _vs_popularity(counts, weights, confidence),
        "expected_hit_rate": _expected_rate(counts),
        "precision_proxy": _precision_proxy(view, counts),
        **_calibration(view, observed[0], observed[1], weights, confidence),
        **_time_to_event(view, counts),
    }
    if tier is None:
        figures.pop("enrichment_vs_random")  # the whole against itself is 1 by construction
    return Cell(int(counts.n.sum()), int(counts.hits.sum()), figures)


class _Counts:
    """Predictions and hits per disease, of one tier and of all tiers."""

    def __init__(self, view: View, tier: int | None) -> None:
        self.view = view
        self.rows = np.ones(len(view.tier), dtype=bool) if tier is None else view.tier == tier
        self.first = view.first if tier is None else view.first_in_tier
        self.n = self._per_disease(self.rows)
        self.hits = self._per_disease(self.rows & view.hit & self.first)
        self.all_n = self._per_disease(np.ones(len(view.tier), dtype=bool))
        self.all_hits = self._per_disease(view.hit & view.first)

    def _per_disease(self, keep: Flags) -> npt.NDArray[np.float64]:
        return np.bincount(self.view.disease[keep], minlength=self.view.diseases).astype(np.float64)

    def chosen(self) -> npt.NDArray[np.float64]:
        """Predictions per disease and decile."""
        return count_by_decile(self.view.disease[self.rows], self.view.decile[self.rows], self.view.diseases)

    def exact(self, confidence: float) -> Range | None:
        """Clopper-Pearson limits of the hit rate, for a single disease."""
        return _exact(int(self.hits.sum()), int(self.n.sum()), confidence)


def _hit_rate(counts: _Counts, weights: Weights | None, confidence: float) -> Figure:
    """Pairs with a high-signal outcome / predictions."""
    figure = ratio(float(counts.hits.sum()), float(counts.n.sum()), int(counts.n.sum()), NO_PREDICTION)
    if weights is None:
        return _with(figure, counts.exact(confidence))
    return _with(figure, interval(weights, lambda w: _quotient(w @ counts.hits, w @ counts.n), confidence=confidence))


def _vs_random(counts: _Counts, weights: Weights | None, confidence: float) -> Figure:
    """Hit rate of the tier / hit rate of the whole slate. 1 is chance. Undefined without any hit."""
    n, all_n, all_hits = counts.n.sum(), counts.all_n.sum(), float(counts.all_hits.sum())
    if not n:
        return Figure.undefined(NO_PREDICTION)
    figure = ratio(float(counts.hits.sum() / n * all_n), all_hits, int(n), NO_HIT)
    if weights is None or figure.value is None:
        return figure

    def statistic(w: Weights) -> npt.NDArray[np.float64]:
        overall = _quotient(w @ counts.all_hits, w @ counts.all_n)
        return _quotient(_quotient(w @ counts.hits, w @ counts.n), overall)

    return _with(figure, interval(weights, statistic, confidence=confidence))


def _expected_rate(counts: _Counts) -> Figure:
    """Hit rate that drugs of the same breadth deciles have among all scored candidates."""
    view, n = counts.view, int(counts.n.sum())
    if view.baseline is None:
        return Figure.undefined(view.no_baseline, n)
    if not n:
        return Figure.undefined(NO_PREDICTION)
    base = view.baseline
    expected = float(expected_hits(base.candidates.sum(axis=0), base.hits.sum(axis=0), counts.chosen().sum(axis=0)))
    return Figure(expected / n, n) if np.isfinite(expected) else Figure.undefined("a decile has no open candidate", n)


def _vs_popularity(counts: _Counts, weights: Weights | None, confidence: float) -> Figure:
    """Observed / expected hit rate. 1 is what fame alone earns. Undefined where equally famous drugs had no hit."""
    expected = _expected_rate(counts)
    base = counts.view.baseline
    if expected.value is None or base is None:
        return expected
    n = expected.n
    none_hit = "no candidate in the same breadth deciles has a high-signal outcome"
    figure = ratio(float(counts.hits.sum()) / n, expected.value, n, none_hit)
    if figure.value is None:
        return figure
    if weights is None:
        limits = counts.exact(confidence)
        scale = 1.0 / expected.value
        return _with(figure, Range(limits.low * scale, limits.high * scale, limits.units) if limits else None)
    chosen = counts.chosen()

    def statistic(w: Weights) -> npt.NDArray[np.float64]:
        return _quotient(w @ counts.hits, expected_hits(w @ base.candidates, w @ base.hits, w @ chosen))

    return _with(figure, interval(weights, statistic, confidence=confidence))


def _precision_proxy(view: View, counts: _Counts) -> Figure:
    """Pairs with a high-signal outcome / pairs with any outcome. Not a precision: unseen events are unseen."""
    touched = int((view.touched & counts.rows & counts.first).sum())
    return ratio(float(counts.hits.sum()), touched, touched, "no prediction has any outcome")


def _calibration(
    view: View, hits: Flags, misses: Flags, weights: Weights | None, confidence: float
) -> dict[str, Figure]:
    """Mean score of hits and of misses; their gap is above 0 where higher scores come true more often."""
    means = {
        "mean_score_hits": _mean(view.score[hits], NO_HIT),
        "mean_score_misses": _mean(view.score[misses], NO_MISS),
    }
    high, low = means["mean_score_hits"].value, means["mean_score_misses"].value
    n = int(hits.sum() + misses.sum())
    if high is None or low is None:
        return means | {
            "score_gap": Figure.undefined(NO_PREDICTION if not n else NO_HIT if high is None else NO_MISS, n)
        }
    gap = Figure(high - low, n)
    if weights is not None:
        sums = [
            np.bincount(view.disease[keep], weights=values, minlength=view.diseases)
            for keep in (hits, misses)
            for values in (view.score[keep].astype(np.float64), None)
        ]

        def statistic(w: Weights) -> npt.NDArray[np.float64]:
            return _quotient(w @ sums[0], w @ sums[1]) - _quotient(w @ sums[2], w @ sums[3])

        gap = _with(gap, interval(weights, statistic, confidence=confidence))
    return means | {"score_gap": gap}


def _time_to_event(view: View, counts: _Counts) -> dict[str, Figure]:
    """Median days from freeze to a pair's first high-signal outcome, and the shares before, on and after that day."""
    days = view.day[view.hit & counts.rows & counts.first]
    days = days[~np.isnan(days)]
    if not len(days):
        nothing = Figure.undefined("no high-signal outcome has a date")
        return dict.fromkeys(("median_days", "share_negative", "share_zero", "share_positive"), nothing)
    parts = {"negative": days < 0, "zero": days == 0, "positive": days > 0}
    shares = {f"share_{name}": Figure(float(part.mean()), len(days)) for name, part in parts.items()}
    return {"median_days": Figure(float(np.median(days)), len(days)), **shares}


def _score_bins(view: View, bins: int = 10) -> tuple[ScoreBin, ...]:
    order = np.argsort(view.score, kind="stable")
    parts = [part for part in np.array_split(order, bins) if len(part)]
    return tuple(
        ScoreBin(float(view.score[part].mean()), len(part), int((view.hit & view.first)[part].sum())) for part in parts
    )


def _mean(values: Floats, reason: str) -> Figure:
    return Figure(float(values.mean(dtype=np.float64)), len(values)) if len(values) else Figure.undefined(reason)


def _quotient(numerator: npt.NDArray[np.float64], denominator: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(denominator > 0, numerator / denominator, np.nan), dtype=np.float64)


def _with(figure: Figure, limits: Range | None) -> Figure:
    return Figure(figure.value, figure.n, figure.reason, limits)


def _exact(events: int, trials: int, confidence: float) -> Range | None:
    if not trials:
        return None
    from scipy.special import betaincinv

    tail = (1 - confidence) / 2
    low = float(betaincinv(events, trials - events + 1, tail)) if events else 0.0
    high = float(betaincinv(events + 1, trials - events, 1 - tail)) if events < trials else 1.0
    return Range(low, high, trials)
