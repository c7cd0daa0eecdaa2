"""Ranking quality on known labels: Hit@K, graded NDCG@K and AUC. They set a floor; they do not prove foresight.

Ties are never left to chance: a figure is its expected value over all orders of tied drugs, so that a constant score
earns exactly what chance earns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np

from pytest_clinical_drift.ranking.figures import Figure, Flags, Floats, Ints

TOP_GRADE = 4
"""Labels: 4 approved, 3 to 1 the clinical phase, 0 negative."""
_GAINS = np.exp2(np.arange(TOP_GRADE + 1)) - 1.0


def auc(scores: Floats, positive: Flags) -> Figure:
    """Probability that a random positive scores above a random negative; a tie counts one half.

    Higher is better, 0.5 is chance. Undefined without pairs, or when all are of one class.
    """
    hits, misses = np.sort(scores[positive]), np.sort(scores[~positive])
    if not len(hits) or not len(misses):
        return Figure.undefined("only one class" if len(scores) else "no pair", len(scores))
    below, not_above = (int(np.searchsorted(misses, hits, side=side).sum()) for side in ("left", "right"))
    return Figure((below + not_above) / (2 * len(hits) * len(misses)), len(scores))


def ndcg(scores: Floats, labels: Ints, *, k: int) -> Figure:
    """DCG@K / ideal DCG@K of one disease, with gain 2^label - 1 and discount 1 / log2(position + 1).

    Higher is better, 1 is a perfect order. Undefined without pairs or without a label above 0.
    """
    size = len(scores)
    reached = np.append(0.0, np.cumsum(1.0 / np.log2(np.arange(2, k + 2))))  # the sum of the first n discounts
    ideal = _discounted(reached, np.bincount(labels, minlength=TOP_GRADE + 1)[::-1], _GAINS[::-1])
    if ideal <= 0.0:
        return Figure.undefined("no relevant pair" if size else "no pair")
    if size > k:
        within = scores >= np.partition(scores, size - k)[size - k]
        scores, labels = scores[within], labels[within]
    _, level, counts = np.unique(-scores, return_inverse=True, return_counts=True)
    average_gain = np.bincount(level, weights=_GAINS[labels]) / counts
    return Figure(_discounted(reached, counts, average_gain) / ideal, size)


def _discounted(reached: Floats, counts: Ints, gains: Floats) -> float:
    """DCG of levels of tied drugs, best first: how many each holds, and their mean gain."""
    ends = np.minimum(np.append(0, np.cumsum(counts)), len(reached) - 1)
    return float(np.diff(reached[ends]) @ gains)


def mean_of(figures: Iterable[Figure]) -> Figure:
    """Unweighted mean over the diseases where a figure is defined."""
    known = list(figures)
    defined = [figure.value for figure in known if figure.value is not None]
    if defined:
        return Figure(float(np.mean(defined)), len(defined))
    reasons = Counter(figure.reason for figure in known)
    return Figure.undefined("; ".join(f"{name} ({count} diseases)" for name, count in reasons.items()) or "no pair")


def hit(scores: Floats, index: int, *, k: int) -> float:
    """Whether the drug at `index` ranks among the first K: 1 or 0, or the share of tied orders in which it does."""
    better, tied = (int(np.count_nonzero(found)) for found in (scores > scores[index], scores == scores[index]))
    return min(1.0, max(0.0, (k - better) / tied))
