"""Ranking quality on known labels: Hit@K, graded NDCG@K and AUC. They set a floor; they do not prove foresight.

Ties are never left to chance. `average` (the default) gives the expected value over all orders of tied drugs, so that a
constant score earns exactly what chance earns; `order` lets the given order decide, as trec_eval does.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.ranking.figure import Figure, Flags, Floats, Ints

Ties = Literal["average", "order"]

TOP_GRADE = 4
"""Labels: 4 approved, 3 to 1 the clinical phase, 0 negative."""
EMPTY, ONE_CLASS, NOTHING_RELEVANT = "no pair", "only one class", "no relevant pair"

_GAINS = np.exp2(np.arange(TOP_GRADE + 1)) - 1.0


@dataclass(frozen=True, slots=True)
class GroupFigures:
    """A metric per group (disease), and its mean over the groups where it is defined."""

    values: tuple[float | None, ...]
    undefined: dict[str, int]
    """Reason to number of groups."""

    @property
    def mean(self) -> Figure:
        """Unweighted mean over the defined groups."""
        defined = [value for value in self.values if value is not None]
        if not defined:
            reasons = "; ".join(f"{reason} ({count} diseases)" for reason, count in self.undefined.items())
            return Figure.undefined(reasons or EMPTY)
        return Figure(float(np.mean(defined)), len(defined))


def order_by_group(groups: Ints, count: int) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """A stable order that brings each group together, and the `count` + 1 bounds of the groups in it."""
    bounds = np.concatenate(([0], np.cumsum(np.bincount(groups, minlength=count)))).astype(np.intp)
    return np.argsort(groups, kind="stable"), bounds


def auc(scores: Floats, positive: Flags) -> Figure:
    """Probability that a random positive scores above a random negative; a tie counts one half.

    Higher is better, 0.5 is chance. Undefined without pairs, or when all are of one class.
    """
    _refuse_nan(scores)
    value, reason = _auc(scores, positive)
    return Figure(value, len(scores)) if value is not None else Figure.undefined(reason, len(scores))


def auc_by_group(scores: Floats, positive: Flags, bounds: Ints) -> GroupFigures:
    """AUC inside each group; groups lie between consecutive `bounds`."""
    _refuse_nan(scores)
    return _collect(_auc(scores[low:high], positive[low:high]) for low, high in _spans(bounds))


def ndcg(scores: Floats, labels: Ints, bounds: Ints, *, k: int, ties: Ties = "average") -> GroupFigures:
    """DCG@K / ideal DCG@K in each group, with gain 2^label - 1 and discount 1 / log2(position + 1).

    Higher is better, 1 is a perfect order. Undefined in a group without pairs or without a label above 0.
    """
    _refuse_nan(scores)
    if len(labels) and (labels.min() < 0 or labels.max() > TOP_GRADE):
        raise InputError(f"labels must be whole numbers from 0 to {TOP_GRADE}")
    longest = int(np.diff(bounds).max(initial=0))
    discounts = np.zeros(longest + 1)
    top = min(k, longest)
    discounts[1 : top + 1] = 1.0 / np.log2(np.arange(2, top + 2))
    reached = np.cumsum(discounts)
    reached[top + 1 :] = reached[top]
    return _collect(_ndcg(scores[low:high], labels[low:high], reached, k, ties) for low, high in _spans(bounds))


def hit(scores: Floats, index: int, *, k: int, ties: Ties = "average") -> float:
    """Whether the drug at `index` ranks among the first K: 1 or 0, or the share of tied orders in which it does."""
    own = scores[index]
    better = int(np.count_nonzero(scores > own))
    if ties == "order":
        return float(better + int(np.count_nonzero(scores[:index] == own)) < k)
    tied = int(np.count_nonzero(scores == own))
    return min(1.0, max(0.0, (k - better) / tied))


def _auc(scores: Floats, positive: Flags) -> tuple[float | None, str]:
    hits, misses = scores[positive], scores[~positive]
    if not len(scores):
        return None, EMPTY
    if not len(hits) or not len(misses):
        return None, ONE_CLASS
    misses.sort()
    hits.sort()
    below = int(np.searchsorted(misses, hits, side="left").sum(dtype=np.int64))
    not_above = int(np.searchsorted(misses, hits, side="right").sum(dtype=np.int64))
    return (below + not_above) / (2 * len(hits) * len(misses)), ""


def _ndcg(scores: Floats, labels: Ints, reached: Floats, k: int, ties: Ties) -> tuple[float | None, str]:
    """`reached[n]` is the sum of the first n discounts, constant beyond K."""
    size = len(scores)
    if not size:
        return None, EMPTY
    per_grade = np.bincount(labels, minlength=TOP_GRADE + 1)
    ends = np.minimum(np.cumsum(per_grade[::-1]), size)
    spans = np.diff(reached[np.concatenate(([0], ends))])
    ideal = float(spans @ _GAINS[::-1])
    if ideal <= 0.0:
        return None, NOTHING_RELEVANT
    kept = np.arange(size)
    if size > k:
        kept = np.flatnonzero(scores >= np.partition(scores, size - k)[size - k])
    chosen = scores[kept]
    order = np.argsort(-chosen, kind="stable")
    gains = _GAINS[labels[kept][order]]
    ranked = chosen[order]
    if ties == "order":
        return float(np.diff(reached[: len(gains) + 1]) @ gains) / ideal, ""
    starts = np.flatnonzero(np.concatenate(([True], ranked[1:] != ranked[:-1])))
    stops = np.append(starts[1:], len(ranked))
    average_gain = np.add.reduceat(gains, starts) / (stops - starts)
    return float((reached[stops] - reached[starts]) @ average_gain) / ideal, ""


def _collect(results: Iterator[tuple[float | None, str]]) -> GroupFigures:
    values: list[float | None] = []
    undefined: dict[str, int] = {}
    for value, reason in results:
        values.append(value)
        if value is None:
            undefined[reason] = undefined.get(reason, 0) + 1
    return GroupFigures(tuple(values), undefined)


def _spans(bounds: Ints) -> Iterator[tuple[int, int]]:
    edges = bounds.tolist()
    return itertools.pairwise(edges)


def _refuse_nan(scores: Floats) -> None:
    if len(scores) and np.isnan(np.min(scores)):
        raise InputError("a score is NaN; every pair needs a number")
