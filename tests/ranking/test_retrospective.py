"""Hit@K, NDCG@K and AUC: against scikit-learn and trec_eval, and by hand at ties and edges."""

from __future__ import annotations

import numpy as np
import pytest

from pytest_clinical_drift.ranking.figure_types import SlateCode, SlateReason
from pytest_clinical_drift.ranking.ranker import auc, hit, mean_of, ndcg

TOLERANCE = 1e-12
GROUPS, SIZE = 30, 200


def draw(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Scores with many ties and labels 0 to 4: diseases × drugs."""
    random = np.random.default_rng(seed)
    scores = np.round(random.normal(size=(GROUPS, SIZE)), 1)
    return scores, random.choice(5, p=[0.8, 0.05, 0.05, 0.05, 0.05], size=(GROUPS, SIZE))


@pytest.mark.parametrize("seed", range(5))
def test_auc_agrees_with_scikit_learn(seed: int) -> None:
    """Ties count one half, also for float32 scores."""
    metrics = pytest.importorskip("sklearn.metrics")
    scores, labels = (table.ravel() for table in draw(seed))
    for kind in (np.float64, np.float32):
        typed = scores.astype(kind)
        assert auc(typed, labels > 0).value == pytest.approx(metrics.roc_auc_score(labels > 0, typed), abs=TOLERANCE)


@pytest.mark.parametrize("k", [1, 5, 50, 200, 500])
def test_ndcg_agrees_with_scikit_learn_on_ties(k: int) -> None:
    """With ties averaged, for K below, at and beyond the number of drugs."""
    metrics = pytest.importorskip("sklearn.metrics")
    for scores, labels in zip(*draw(7), strict=True):
        expected = metrics.ndcg_score([2.0**labels - 1], [scores], k=k)
        assert ndcg(scores, labels, k=k).value == pytest.approx(expected, abs=TOLERANCE)


@pytest.mark.parametrize("k", [1, 10, 50, 200])
def test_ndcg_and_hit_agree_with_trec_eval(k: int) -> None:
    """Without ties, which trec_eval breaks by name; it takes gains as they are, so it is given 2^label - 1."""
    measures = pytest.importorskip("ir_measures")
    _, labels = draw(11)
    scores = np.random.default_rng(11).permuted(np.tile(np.arange(SIZE, dtype=float), (GROUPS, 1)), axis=1)
    hidden = np.random.default_rng(13).integers(0, SIZE, size=GROUPS)
    cells = [(row, at) for row in range(GROUPS) for at in range(SIZE)]
    run = [measures.ScoredDoc(f"q{row}", f"d{at}", float(scores[row, at])) for row, at in cells]
    gains = [measures.Qrel(f"q{row}", f"d{at}", int(2 ** labels[row, at] - 1)) for row, at in cells]
    chosen = [measures.Qrel(f"q{row}", f"d{at}", 1) for row, at in enumerate(hidden.tolist())]
    graded = {item.query_id: item.value for item in measures.iter_calc([measures.nDCG @ k], gains, run)}
    found = {item.query_id: item.value for item in measures.iter_calc([measures.Success @ k], chosen, run)}
    assert len(graded) == len(found) == GROUPS
    for row in range(GROUPS):
        assert ndcg(scores[row], labels[row], k=k).value == pytest.approx(graded[f"q{row}"], abs=TOLERANCE)
        assert hit(scores[row], int(hidden[row]), k=k) == found[f"q{row}"]


def test_averaged_hit_is_the_share_of_tied_orders() -> None:
    """One drug above, four tied with the hidden one among them, K = 3: two of the four places count."""
    scores = np.array([9.0, 5.0, 5.0, 5.0, 5.0, 1.0])
    assert [hit(scores, index, k=3) for index in (2, 0, 5)] == [0.5, 1.0, 0.0]


def test_ndcg_by_hand() -> None:
    """Labels 0, 4, 1 in ranked order: (15 / log2 3 + 1 / log2 4) / (15 + 1 / log2 3)."""
    scores, labels = np.array([3.0, 2.0, 1.0]), np.array([0, 4, 1])
    expected = (15 / np.log2(3) + 1 / 2) / (15 + 1 / np.log2(3))
    assert ndcg(scores, labels, k=50).value == pytest.approx(expected, abs=TOLERANCE)
    cut = (15 / np.log2(3)) / (15 + 1 / np.log2(3))
    assert ndcg(scores, labels, k=2).value == pytest.approx(cut, abs=TOLERANCE)


def test_ties_at_the_cut_share_the_last_places() -> None:
    """Two places, one drug first, three tied behind it, one of them relevant: its gain counts one third at place 2."""
    scores, labels = np.array([9.0, 5.0, 5.0, 5.0]), np.array([0, 4, 0, 0])
    assert ndcg(scores, labels, k=2).value == pytest.approx((15 / 3 / np.log2(3)) / 15, abs=TOLERANCE)


def test_what_is_undefined_is_left_out_and_told() -> None:
    """No pair, no relevance, a single class: no value but a reason; the mean is over the diseases that have one."""
    two, irrelevant, nothing = np.array([2.0, 1.0]), np.array([0, 0]), np.array([], dtype=int)
    graded = [ndcg(two, irrelevant, k=10), ndcg(two[:0], nothing, k=10), ndcg(two, np.array([0, 4]), k=10)]
    assert [figure.reason and str(figure.reason) for figure in graded] == ["no relevant pair", "no pair", None]
    assert (mean_of(graded).value, mean_of(graded).n) == (pytest.approx(1 / np.log2(3)), 1)
    assert str(mean_of([graded[0], *graded[:2]]).reason) == "no relevant pair (2 diseases); no pair (1 diseases)"
    assert str(mean_of([]).reason) == "no pair"
    assert auc(two, irrelevant > 0).reason == auc(two, irrelevant == 0).reason == SlateReason(SlateCode.ONE_CLASS)
    assert str(auc(two[:0], nothing > 0).reason) == "no pair"


def test_constant_scores_earn_chance() -> None:
    """All tied: AUC one half, Hit@K K of n, NDCG the mean gain at every place."""
    labels, constant = np.array([4, 0, 0, 0]), np.zeros(4)
    assert auc(constant, labels > 0).value == 0.5
    assert hit(constant, 0, k=1) == 0.25
    assert ndcg(constant, labels, k=1).value == 0.25
