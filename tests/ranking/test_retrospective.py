"""Hit@K, NDCG@K and AUC: against scikit-learn and trec_eval on data with ties, and by hand at the edges."""

from __future__ import annotations

import numpy as np
import pytest

from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.ranking.retrospective import auc, auc_by_group, hit, ndcg, order_by_group

TOLERANCE = 1e-12


def draw(seed: int, groups: int = 30, size: int = 200) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores with many ties, labels 0 to 4, and the bounds of equally large groups."""
    random = np.random.default_rng(seed)
    scores = np.round(random.normal(size=groups * size), 1)
    labels = random.choice(5, p=[0.8, 0.05, 0.05, 0.05, 0.05], size=groups * size)
    return scores, labels, np.arange(0, groups * size + 1, size)


@pytest.mark.parametrize("seed", range(5))
def test_auc_agrees_with_scikit_learn(seed: int) -> None:
    """Over all pairs and inside each group, ties counting one half, also for float32 scores."""
    metrics = pytest.importorskip("sklearn.metrics")
    scores, labels, bounds = draw(seed)
    for kind in (np.float64, np.float32):
        typed = scores.astype(kind)
        assert auc(typed, labels > 0).value == pytest.approx(metrics.roc_auc_score(labels > 0, typed), abs=TOLERANCE)
    found = auc_by_group(scores, labels > 0, bounds).values
    for value, low, high in zip(found, bounds[:-1], bounds[1:], strict=True):
        assert value == pytest.approx(metrics.roc_auc_score(labels[low:high] > 0, scores[low:high]), abs=TOLERANCE)


@pytest.mark.parametrize("k", [1, 5, 50, 200, 500])
def test_ndcg_agrees_with_scikit_learn_on_ties(k: int) -> None:
    """With ties averaged, for K below, at and beyond the size of a group."""
    metrics = pytest.importorskip("sklearn.metrics")
    scores, labels, bounds = draw(7)
    found = ndcg(scores, labels, bounds, k=k).values
    gains = (2.0**labels - 1).reshape(30, 200)
    for row, value in enumerate(found):
        expected = metrics.ndcg_score(gains[row : row + 1], scores.reshape(30, 200)[row : row + 1], k=k)
        assert value == pytest.approx(expected, abs=TOLERANCE)


NAMES = [f"d{999 - index}" for index in range(200)]
"""trec_eval breaks ties by descending name: names that fall along the order make the given order decide."""


@pytest.mark.parametrize("k", [1, 10, 50, 200])
def test_ndcg_agrees_with_trec_eval_where_order_breaks_ties(k: int) -> None:
    """trec_eval takes gains as they are, so it is given 2^label - 1."""
    measures = pytest.importorskip("ir_measures")
    scores, labels, _ = draw(11)
    cells = [(row, at) for row in range(30) for at in range(200)]
    gains = (2**labels - 1).reshape(30, 200)
    truth = [measures.Qrel(f"q{row}", NAMES[at], int(gains[row, at])) for row, at in cells]
    run = [measures.ScoredDoc(f"q{row}", NAMES[at], float(scores[row * 200 + at])) for row, at in cells]
    expected = {item.query_id: item.value for item in measures.iter_calc([measures.nDCG @ k], truth, run)}
    found = ndcg(scores, labels, np.arange(0, 6001, 200), k=k, ties="order").values
    assert len(expected) == 30
    for row, value in enumerate(found):
        assert value == pytest.approx(expected[f"q{row}"], abs=TOLERANCE)


@pytest.mark.parametrize("k", [1, 10, 50])
def test_hit_agrees_with_trec_eval(k: int) -> None:
    """One hidden drug per disease, ties broken by the given order."""
    measures = pytest.importorskip("ir_measures")
    random = np.random.default_rng(13)
    scores, hidden = np.round(random.normal(size=(40, 120)), 1), random.integers(0, 120, size=40)
    truth = [measures.Qrel(f"q{row}", NAMES[hidden[row]], 1) for row in range(40)]
    run = [measures.ScoredDoc(f"q{row}", NAMES[at], float(scores[row, at])) for row in range(40) for at in range(120)]
    expected = {item.query_id: item.value for item in measures.iter_calc([measures.Success @ k], truth, run)}
    for row in range(40):
        assert hit(scores[row], int(hidden[row]), k=k, ties="order") == expected[f"q{row}"]


def test_averaged_hit_is_the_share_of_tied_orders() -> None:
    """One drug above, four tied with the hidden one among them, K = 3: two of the four places count."""
    scores = np.array([9.0, 5.0, 5.0, 5.0, 5.0, 1.0])
    assert hit(scores, 2, k=3) == 0.5
    assert hit(scores, 0, k=3) == 1.0
    assert hit(scores, 5, k=3) == 0.0
    # and it is the mean of `order` over where the hidden drug may stand among its equals
    assert np.mean([hit(scores, place, k=3, ties="order") for place in (1, 2, 3, 4)]) == 0.5


def test_ndcg_by_hand() -> None:
    """Labels 0, 4, 1 in ranked order: (15 / log2 3 + 1 / log2 4) / (15 + 1 / log2 3)."""
    scores, labels = np.array([3.0, 2.0, 1.0]), np.array([0, 4, 1])
    expected = (15 / np.log2(3) + 1 / 2) / (15 + 1 / np.log2(3))
    assert ndcg(scores, labels, np.array([0, 3]), k=50).mean.value == pytest.approx(expected, abs=TOLERANCE)
    cut = (15 / np.log2(3)) / (15 + 1 / np.log2(3))
    assert ndcg(scores, labels, np.array([0, 3]), k=2).mean.value == pytest.approx(cut, abs=TOLERANCE)


def test_ties_at_the_cut_share_the_last_places() -> None:
    """Two places, one drug first, three tied behind it, one of them relevant: its gain counts one third at place 2."""
    scores, labels = np.array([9.0, 5.0, 5.0, 5.0]), np.array([0, 4, 0, 0])
    found = ndcg(scores, labels, np.array([0, 4]), k=2).mean.value
    assert found == pytest.approx((15 / 3 / np.log2(3)) / 15, abs=TOLERANCE)


def test_undefined_groups_are_left_out_and_told() -> None:
    """An empty group, one without relevance and one of a single class have no value; the mean is over the others."""
    scores = np.array([2.0, 1.0, 2.0, 1.0, 3.0])
    labels = np.array([0, 0, 0, 4, 4])
    bounds = np.array([0, 2, 2, 4, 5])
    graded = ndcg(scores, labels, bounds, k=10)
    assert graded.values == (None, None, pytest.approx(1 / np.log2(3)), 1.0)
    assert graded.undefined == {"no relevant pair": 1, "no pair": 1}
    assert graded.mean.n == 2
    ranked = auc_by_group(scores, labels > 0, bounds)
    assert ranked.values == (None, None, 0.0, None)
    assert ranked.undefined == {"only one class": 2, "no pair": 1}
    nothing = auc_by_group(scores[:2], labels[:2] > 0, np.array([0, 2])).mean
    assert nothing.value is None
    assert "only one class" in nothing.reason
    assert auc(scores[:0], labels[:0] > 0).reason == "no pair"


def test_constant_scores_earn_chance() -> None:
    """All tied: AUC one half, Hit@K K of n, NDCG the mean gain at every place."""
    labels = np.array([4, 0, 0, 0])
    constant = np.zeros(4)
    assert auc(constant, labels > 0).value == 0.5
    assert hit(constant, 0, k=1) == 0.25
    assert ndcg(constant, labels, np.array([0, 4]), k=1).mean.value == 0.25


def test_bad_arrays_are_refused() -> None:
    """NaN scores and labels outside 0 to 4."""
    with pytest.raises(InputError, match="NaN"):
        auc(np.array([1.0, np.nan]), np.array([True, False]))
    with pytest.raises(InputError, match="0 to 4"):
        ndcg(np.array([1.0]), np.array([5]), np.array([0, 1]), k=1)


def test_groups_are_brought_together_in_order() -> None:
    """Scattered rows end up by group, in their old order within each; a group without rows is empty."""
    order, bounds = order_by_group(np.array([2, 0, 2, 0]), 4)
    assert order.tolist() == [1, 3, 0, 2]
    assert bounds.tolist() == [0, 2, 2, 4, 4]
