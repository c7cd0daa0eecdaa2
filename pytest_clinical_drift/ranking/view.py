"""Two readings of one slate: all outcomes, as published figures do, and what was really foreseen, as the gate does."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pytest_clinical_drift.ranking.figure import Flags, Floats, Ints
from pytest_clinical_drift.ranking.outcomes import UNDATED
from pytest_clinical_drift.ranking.popularity import breadth_deciles, count_by_decile
from pytest_clinical_drift.ranking.reading import Pairs, Slate

NO_CANDIDATES = "no candidates are there, so the baseline of equally popular drugs is unknown"
NO_LABELS = "no labels are there, so nobody knows how popular each drug is"


@dataclass(frozen=True, slots=True)
class Baseline:
    """Scored candidates of the slate's diseases, counted per disease (rows) and breadth decile (columns)."""

    candidates: npt.NDArray[np.float64]
    hits: npt.NDArray[np.float64]
    followed: bool
    """Whether any outcome is recorded outside the slate; if not, perhaps nobody looked there."""


@dataclass(frozen=True, slots=True)
class View:
    """The predictions that count, row by row, ordered by disease."""

    disease: Ints
    tier: Ints
    score: Floats
    hit: Flags
    """The pair has a high-signal outcome."""
    touched: Flags
    """The pair has any outcome."""
    first: Flags
    """First row of its pair: hits are counted over distinct pairs."""
    first_in_tier: Flags
    """First row of its pair within its tier."""
    day: Floats
    """Days from freeze to the pair's first high-signal outcome; nan without a dated one."""
    decile: Ints
    diseases: int
    baseline: Baseline | None
    no_baseline: str = ""
    """Why there is none."""
    left_out: int = 0
    """Distinct pairs that do not take part because they were known at freeze."""

    def of_disease(self, index: int) -> View:
        """The slate restricted to one disease."""
        low, high = np.searchsorted(self.disease, [index, index + 1])
        rows = slice(int(low), int(high))
        baseline = self.baseline
        if baseline is not None:
            one = slice(index, index + 1)
            baseline = Baseline(baseline.candidates[one], baseline.hits[one], baseline.followed)
        return View(
            disease=np.zeros(int(high - low), dtype=np.int64),
            tier=self.tier[rows],
            score=self.score[rows],
            hit=self.hit[rows],
            touched=self.touched[rows],
            first=self.first[rows],
            first_in_tier=self.first_in_tier[rows],
            day=self.day[rows],
            decile=self.decile[rows],
            diseases=1,
            baseline=baseline,
            no_baseline=self.no_baseline,
        )


def all_outcomes(slate: Slate) -> View:
    """Every row and every outcome, whenever it happened: the published formulas. Says nothing about foresight."""
    outcomes = slate.outcomes
    everything = np.ones(len(outcomes), dtype=bool)
    return _build(slate, np.ones(len(slate.predictions.disease), dtype=bool), outcomes.high, everything, None)


def prospective(slate: Slate) -> View:
    """Distinct pairs that were open at freeze, and the outcomes that came afterwards.

    A pair known at freeze, or with a high-signal outcome that is not proven younger, can no longer be discovered: it is
    neither hit nor miss, in the slate and among the candidates alike.
    """
    outcomes = slate.outcomes
    late = outcomes.prospective
    closed = np.unique(_outcome_keys(slate)[outcomes.high & ~late])
    rows = slate.predictions
    at_risk = ~rows.known & ~np.isin(_keys(rows, slate), closed) & ~rows.repeated
    return _build(slate, at_risk, outcomes.high & late, late, closed)


def _keys(pairs: Pairs, slate: Slate) -> npt.NDArray[np.int64]:
    return np.asarray(pairs.disease * np.int64(len(slate.drugs)) + pairs.drug, dtype=np.int64)


def _outcome_keys(slate: Slate) -> npt.NDArray[np.int64]:
    outcomes = slate.outcomes
    return np.asarray(outcomes.disease * np.int64(len(slate.drugs)) + outcomes.drug, dtype=np.int64)


def _build(slate: Slate, keep: Flags, high: Flags, counting: Flags, closed: Ints | None) -> View:
    rows, outcomes = slate.predictions, slate.outcomes
    order = np.flatnonzero(keep)
    order = order[np.lexsort((rows.rank[order], rows.disease[order]))]
    keys = _keys(rows, slate)[order]
    observed = _outcome_keys(slate)
    hits = np.unique(observed[high])
    decile = np.zeros(len(order), dtype=np.int8)
    baseline, reason = _baseline(slate, hits, closed)
    if slate.breadth is not None:
        decile = breadth_deciles(slate.breadth)[rows.drug[order]]
    tier = rows.tier[order]
    return View(
        disease=rows.disease[order],
        tier=tier,
        score=rows.score[order],
        hit=np.isin(keys, hits),
        touched=np.isin(keys, observed[counting]),
        first=_first(keys),
        first_in_tier=_first(keys * np.int64(4) + tier),
        day=_days(keys, observed[high], outcomes.day[high]),
        decile=decile,
        diseases=len(slate.diseases),
        baseline=baseline,
        no_baseline=reason,
        left_out=int((~rows.repeated).sum() - _first(keys).sum()),
    )


def _baseline(slate: Slate, hits: Ints, closed: Ints | None) -> tuple[Baseline | None, str]:
    pairs = slate.candidates
    if pairs is None:
        return None, NO_CANDIDATES
    if slate.breadth is None:
        return None, NO_LABELS
    keys = _keys(pairs, slate)
    open_pairs = None if closed is None else ~pairs.known & ~np.isin(keys, closed)
    decile = breadth_deciles(slate.breadth)[pairs.drug]
    hit = np.isin(keys, hits)
    if open_pairs is not None:
        hit &= open_pairs
    size = len(slate.diseases)
    outside = np.setdiff1d(_outcome_keys(slate), _keys(slate.predictions, slate))
    counted = count_by_decile(pairs.disease, decile, size, open_pairs)
    return Baseline(counted, count_by_decile(pairs.disease, decile, size, hit), bool(len(outside))), ""


def _first(keys: npt.NDArray[np.int64]) -> Flags:
    """Marks the first row of each key."""
    flags = np.zeros(len(keys), dtype=bool)
    flags[np.unique(keys, return_index=True)[1]] = True
    return flags


def _days(keys: Ints, observed: Ints, day: Ints) -> npt.NDArray[np.float64]:
    """Earliest dated outcome of each row's pair."""
    dated = day != UNDATED
    order = np.lexsort((day[dated], observed[dated]))
    distinct, at = np.unique(observed[dated][order], return_index=True)
    days = np.full(len(keys), np.nan)
    if len(distinct):
        place = np.minimum(np.searchsorted(distinct, keys), len(distinct) - 1)
        found = distinct[place] == keys
        days[found] = day[dated][order][at][place[found]]
    return days
