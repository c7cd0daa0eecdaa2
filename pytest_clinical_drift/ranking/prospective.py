"""What became of frozen predictions: hit rate, enrichment over chance and over fame, calibration, time to event.

Per tier and per disease. High-signal outcomes make a hit; each pair counts once. Every figure is a function of counts
per disease, so that its interval comes from resampling whole diseases: predictions for one disease share its trials,
they are not independent. A single disease gets exact binomial limits of its hit rate instead.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from pytest_clinical_drift.metrics import SEED
from pytest_clinical_drift.metrics.intervals import Interval, proportion_interval
from pytest_clinical_drift.ranking.figure_types import Figure, Flags, SlateCode
from pytest_clinical_drift.ranking.view import View, count_by_decile
from pytest_clinical_drift.verdict.slate_limits import TIERS

ALL = "all"
"""Stands for all tiers together."""
RESAMPLES = 2_000
_MIN_DEFINED = 0.9
"""Share of the resamples in which the figure must be defined for an interval to be given."""

Table = npt.NDArray[np.float64]
Statistic = Callable[[Table], Table]
"""Weights of the diseases, one row per resample, to one value per resample (nan where undefined)."""


@dataclass(frozen=True, slots=True)
class Cell:
    """The figures of one tier (or all), over the slate or one disease."""

    predictions: int
    hits: int
    figures: dict[str, Figure]


@dataclass(frozen=True, slots=True)
class ViewFigures:
    tiers: dict[str, Cell]
    """Tier name, or "all"."""
    diseases: tuple[dict[str, Cell], ...]
    """In the order of the slate's diseases."""
    calibration: tuple[dict[str, float], ...]
    """Mean score, predictions and hits of each tenth of the predictions, by score."""
    days: tuple[tuple[int, int], ...]
    """Tier position and days to the first high-signal outcome, of every hit that is dated."""
    observed: int
    """Pairs with a high-signal outcome, in the slate and among the other candidates."""
    left_out: int
    """Distinct pairs that do not take part because they were known at freeze."""


def evaluate(view: View, *, confidence: float = 0.95) -> ViewFigures:
    weights = None
    if view.diseases > 1:
        share = np.full(view.diseases, 1.0 / view.diseases)
        weights = np.random.default_rng(SEED).multinomial(view.diseases, share, size=RESAMPLES).astype(np.float64)
    rows = view.rows
    hits = rows["hit"] & rows["first"]
    dated = rows[hits & ~np.isnan(rows["day"])]
    tenths = [part for part in np.array_split(np.argsort(rows["score"], kind="stable"), 10) if len(part)]
    return ViewFigures(
        tiers=_cells(view, weights, confidence),
        diseases=tuple(_cells(view.of_disease(index), None, confidence) for index in range(view.diseases)),
        calibration=tuple(
            {"mean_score": float(rows["score"][part].mean()), "predictions": len(part), "hits": int(hits[part].sum())}
            for part in tenths
        ),
        days=tuple(zip(dated["tier"].tolist(), dated["day"].astype(np.int64).tolist(), strict=True)),
        observed=max(int(hits.sum()), int(view.baseline.hits.sum()) if view.baseline else 0),
        left_out=view.left_out,
    )


def _cells(view: View, weights: Table | None, confidence: float) -> dict[str, Cell]:
    present = np.unique(view.rows["tier"]).tolist()
    cells = {TIERS[tier]: measure(view, tier, weights, confidence) for tier in present}
    return cells | {ALL: measure(view, None, weights, confidence)}


def measure(view: View, tier: int | None, weights: Table | None, confidence: float) -> Cell:
    """The figures of one tier (None: all of them)."""
    tally = _Tally(view, tier, weights, confidence)
    figures = {**tally.rates(), **tally.calibration(), **tally.time_to_event()}
    if tier is None:
        figures.pop("enrichment_vs_random")  # the whole against itself is 1 by construction
    return Cell(int(tally.n.sum()), int(tally.hits.sum()), figures)


class _Tally:
    """Predictions and hits of one tier and of all tiers, per disease."""

    def __init__(self, view: View, tier: int | None, weights: Table | None, confidence: float) -> None:
        rows, everywhere = view.rows, np.ones(len(view.rows), dtype=bool)
        self.view, self.weights, self.confidence = view, weights, confidence
        self.inside = everywhere if tier is None else rows["tier"] == tier
        self.once = self.inside & rows["first" if tier is None else "first_in_tier"]
        self.n, self.hits = self._per_disease(self.inside), self._per_disease(self.once & rows["hit"])
        self.all_n, self.all_hits = self._per_disease(everywhere), self._per_disease(rows["first"] & rows["hit"])
        chosen = rows[self.inside]
        self.chosen = count_by_decile(chosen["disease"], chosen["decile"], view.diseases)

    def _per_disease(self, keep: Flags, column: str | None = None) -> Table:
        rows = self.view.rows[keep]
        values = rows[column] if column else np.ones(len(rows))
        return np.bincount(rows["disease"], weights=values, minlength=self.view.diseases).astype(np.float64)

    def rates(self) -> dict[str, Figure]:
        """Hit rate, alone and against chance, fame, and the pairs that have any outcome."""
        n, hits, view = int(self.n.sum()), int(self.hits.sum()), self.view
        expected = self._figure(self._expected_rate, n, view.no_baseline or SlateCode.NO_OPEN_CANDIDATE)
        rate = self._figure(self._hit_rate, n, SlateCode.NO_PREDICTION, resampled=True)
        popularity = self._figure(
            self._vs_popularity, n, expected.reason.code if expected.reason else SlateCode.NO_DECILE_HIT, resampled=True
        )
        if self.weights is None and (exact := proportion_interval(hits, n, confidence=self.confidence)) is not None:
            rate = replace(rate, interval=exact)
            if expected.value and popularity.value is not None:
                scaled = replace(exact, low=exact.low / expected.value, high=exact.high / expected.value)
                popularity = replace(popularity, interval=scaled)
        touched = self._per_disease(self.once & view.rows["touched"])
        return {
            "hit_rate": rate,
            "enrichment_vs_random": self._figure(self._vs_random, n, SlateCode.NO_HIT, resampled=True),
            "enrichment_vs_popularity": popularity,
            "expected_hit_rate": expected,
            # not a precision: unseen events are unseen
            "precision_proxy": self._figure(
                lambda w: _quotient(w @ self.hits, w @ touched), int(touched.sum()), SlateCode.NO_OUTCOME
            ),
        }

    def _hit_rate(self, w: Table) -> Table:
        """Pairs with a high-signal outcome / predictions."""
        return _quotient(w @ self.hits, w @ self.n)

    def _vs_random(self, w: Table) -> Table:
        """Hit rate of the tier / hit rate of the whole slate. 1 is chance. Undefined without any hit."""
        return _quotient(self._hit_rate(w), _quotient(w @ self.all_hits, w @ self.all_n))

    def _expected_rate(self, w: Table) -> Table:
        """Hit rate that drugs of the same breadth deciles have among all scored candidates."""
        base, chosen = self.view.baseline, w @ self.chosen
        if base is None:
            return np.full(len(w), np.nan)
        rate = _quotient(w @ base.hits, w @ base.candidates)
        return _quotient(np.where(chosen > 0, chosen * rate, 0.0).sum(axis=-1), w @ self.n)

    def _vs_popularity(self, w: Table) -> Table:
        """Observed / expected hit rate. 1 is what fame alone earns. Undefined where equally famous drugs had no hit."""
        return _quotient(self._hit_rate(w), self._expected_rate(w))

    def calibration(self) -> dict[str, Figure]:
        """Mean score of hits and of misses; their gap is above 0 where higher scores come true more often."""
        hit = self.view.rows["hit"]
        high, low = (
            (self._per_disease(keep, "score"), self._per_disease(keep))
            for keep in (self.inside & hit, self.inside & ~hit)
        )

        def mean(w: Table, part: tuple[Table, Table]) -> Table:
            return _quotient(w @ part[0], w @ part[1])

        missing = SlateCode.NO_MISS if high[1].any() else SlateCode.NO_HIT
        gap = self._figure(lambda w: mean(w, high) - mean(w, low), int(self.n.sum()), missing, resampled=True)
        return {
            "mean_score_hits": self._figure(lambda w: mean(w, high), int(high[1].sum()), SlateCode.NO_HIT),
            "mean_score_misses": self._figure(lambda w: mean(w, low), int(low[1].sum()), SlateCode.NO_MISS),
            "score_gap": gap,
        }

    def time_to_event(self) -> dict[str, Figure]:
        """Median days from freeze to a pair's first high-signal outcome, and the shares before, on and after it."""
        days = self.view.rows["day"][self.once & self.view.rows["hit"]]
        days = days[~np.isnan(days)]
        if not len(days):
            nothing = Figure.undefined(SlateCode.NO_DATE)
            return dict.fromkeys(("median_days", "share_negative", "share_zero", "share_positive"), nothing)
        parts = {"negative": days < 0, "zero": days == 0, "positive": days > 0}
        shares = {f"share_{name}": Figure(float(part.mean()), len(days)) for name, part in parts.items()}
        return {"median_days": Figure(float(np.median(days)), len(days)), **shares}

    def _figure(self, statistic: Statistic, n: int, missing: SlateCode, *, resampled: bool = False) -> Figure:
        """A statistic over all diseases, with a percentile interval unless it is undefined in many resamples."""
        value = float(statistic(np.ones((1, self.view.diseases)))[0])
        if np.isnan(value):
            return Figure.undefined(missing if self.n.any() else SlateCode.NO_PREDICTION, n)
        if not resampled or self.weights is None:
            return Figure(value, n)
        values = statistic(self.weights)
        defined = values[np.isfinite(values)]
        if len(defined) < _MIN_DEFINED * len(values):
            return Figure(value, n)
        tail = (1 - self.confidence) / 2
        low, high = np.quantile(defined, [tail, 1 - tail]).tolist()
        return Figure(value, n, interval=Interval(low, high, "bootstrap", self.view.diseases))


def _quotient(numerator: Table, denominator: Table) -> Table:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(denominator > 0, numerator / denominator, np.nan), dtype=np.float64)
