"""Ranking metrics on 3,000 diseases × 11,000 drugs (33 M scored pairs, float32) against scikit-learn and pandas.

Both sides compute, in one process and on the same arrays, NDCG@50, AUC over all pairs, AUC per disease, the enrichment
of the tiers over chance and the popularity-matched baseline, and must agree. The straightforward side runs in full,
nothing is extrapolated. Goal: at least 5 times faster, within 8 GB.

    python -m benchmarks.ranking [DISEASES DRUGS]
"""

from __future__ import annotations

import datetime
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl

from pytest_clinical_drift.ranking.prospective import all_outcomes, breadth_deciles, measure
from pytest_clinical_drift.ranking.ranker import auc, mean_of, ndcg
from pytest_clinical_drift.ranking.slate import Slate

TOP, GOAL, MOST_MEMORY = 50, 5.0, 8.0
Figures = dict[str, float]


class Data:
    """A dense score matrix with labels, outcomes and the breadth of each drug."""

    def __init__(self, diseases: int, drugs: int) -> None:
        random = np.random.default_rng(1)
        self.shape = (diseases, drugs)
        self.scores = random.random(self.shape, dtype=np.float32)
        self.labels = np.zeros(self.shape, dtype=np.int8)
        marked = random.random(self.shape, dtype=np.float32) < 0.01
        self.labels[marked] = random.integers(1, 5, size=int(marked.sum()))
        self.scores[marked] += np.float32(0.2)
        self.hits = random.random(self.shape, dtype=np.float32) < 0.01 + 0.02 * (self.scores > 1.0)
        self.breadth = random.geometric(0.05, size=drugs) - 1


def ours(data: Data) -> Figures:
    positive = data.labels > 0
    rows = range(data.shape[0])
    found = {
        "ndcg": mean_of(ndcg(data.scores[row], data.labels[row], k=TOP) for row in rows).value,
        "auc": auc(data.scores.ravel(), positive.ravel()).value,
        "auc per disease": mean_of(auc(data.scores[row], positive[row]) for row in rows).value,
    }
    view = all_outcomes(as_slate(data))
    for index, tier in enumerate(("high", "moderate")):
        cell = next(measure(view, index, None, 0.95))
        found[f"vs random, {tier}"] = cell.figures["enrichment_vs_random"].value
        found[f"vs popularity, {tier}"] = cell.figures["enrichment_vs_popularity"].value
    return {name: float(value) for name, value in found.items() if value is not None}


def as_slate(data: Data) -> Slate:
    """The first 50 drugs of each disease as predictions, all pairs as candidates."""
    diseases, drugs = data.shape
    top = np.argpartition(-data.scores, TOP, axis=1)[:, :TOP]
    top = np.take_along_axis(top, np.argsort(-np.take_along_axis(data.scores, top, axis=1), axis=1), axis=1)
    rank = np.tile(np.arange(1, TOP + 1), diseases)
    chosen = np.repeat(np.arange(diseases), TOP)
    predictions = pl.DataFrame(
        {
            "disease": chosen.astype(np.int32),
            "drug": top.ravel().astype(np.int32),
            "score": np.take_along_axis(data.scores, top, axis=1).ravel(),
            "rank": rank,
            "tier": (rank > 10).astype(np.int64),
        }
    )
    disease, drug = np.nonzero(data.hits)
    outcomes = pl.DataFrame({"disease": disease.astype(np.int32), "drug": drug.astype(np.int32)})
    candidates = pl.DataFrame(
        {
            "disease": np.repeat(np.arange(diseases, dtype=np.int32), drugs),
            "drug": np.tile(np.arange(drugs, dtype=np.int32), diseases),
        }
    )
    return Slate(
        id="benchmark",
        folder=Path(),
        created_at=datetime.datetime(2025, 1, 1, tzinfo=datetime.UTC),
        manifest=None,
        diseases=tuple(map(str, range(diseases))),
        drugs=tuple(map(str, range(drugs))),
        predictions=predictions,
        outcomes=outcomes.with_columns(high=True, day=pl.lit(30)),
        candidates=candidates,
        breadth=data.breadth,
        labels=(),
    )


def straightforward(data: Data) -> Figures:
    import pandas as pd
    from sklearn.metrics import ndcg_score, roc_auc_score

    diseases, drugs = data.shape
    positive = data.labels > 0
    gains = 2.0**data.labels - 1
    found = {"ndcg": float(ndcg_score(gains, data.scores, k=TOP))}
    del gains
    found["auc"] = float(roc_auc_score(positive.ravel(), data.scores.ravel()))
    each = [roc_auc_score(positive[row], data.scores[row]) for row in range(diseases)]
    found["auc per disease"] = float(np.mean(each))
    pairs = pd.DataFrame(
        {
            "disease": np.repeat(np.arange(diseases, dtype=np.int32), drugs),
            "drug": np.tile(np.arange(drugs, dtype=np.int32), diseases),
            "score": data.scores.ravel(),
            "hit": data.hits.ravel(),
        }
    )
    pairs["rank"] = pairs.groupby("disease")["score"].rank(method="first", ascending=False)
    pairs["decile"] = pairs["drug"].map(pd.Series(breadth_deciles(data.breadth)))
    baseline = pairs.groupby("decile")["hit"].mean()
    slate = pairs[pairs["rank"] <= TOP]
    tiers = {"high": slate[slate["rank"] <= 10], "moderate": slate[slate["rank"] > 10]}
    for tier, rows in tiers.items():
        found[f"vs random, {tier}"] = float(rows["hit"].mean() / slate["hit"].mean())
        found[f"vs popularity, {tier}"] = float(rows["hit"].mean() / rows["decile"].map(baseline).mean())
    return found


def timed(compute: Callable[[Data], Figures], data: Data) -> tuple[Figures, float, float]:
    """Figures, seconds, and the process's peak memory in GB so far."""
    started = time.perf_counter()
    figures = compute(data)
    seconds = time.perf_counter() - started
    return figures, seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2


def main() -> int:
    diseases, drugs = (int(text) for text in sys.argv[1:3]) if len(sys.argv) > 2 else (3_000, 11_000)
    data = Data(diseases, drugs)
    import pandas  # noqa: F401  imported before the clock starts
    import sklearn.metrics  # noqa: F401

    fast, fast_seconds, memory = timed(ours, data)
    slow, slow_seconds, slow_memory = timed(straightforward, data)
    for name, value in fast.items():
        print(f"{name:25} {value:.9f}  scikit-learn + pandas {slow[name]:.9f}")
    agree = fast.keys() == slow.keys() and all(abs(fast[name] - slow[name]) < 1e-6 for name in fast)
    print(f"{diseases:,} × {drugs:,}: {fast_seconds:.1f} s, peak {memory:.1f} GB; ", end="")
    print(f"straightforward {slow_seconds:.1f} s, peak {slow_memory:.1f} GB; figures {'agree' if agree else 'DIFFER'}")
    speed = slow_seconds / fast_seconds
    print(f"{speed:.1f} times faster (goal: {GOAL:g}, within {MOST_MEMORY:g} GB)")
    return 0 if agree and speed >= GOAL and memory <= MOST_MEMORY else 1


if __name__ == "__main__":
    sys.exit(main())
