"""Recall and its companions on counts worked out by hand."""

from __future__ import annotations

import pytest

from pytest_clinical_drift.metrics.recall import f1, mean, mean_curve, ratio, recall, strict_recall

STATUSES = ["retained", "partial", "contradicted", "absent", "retained"]


def test_recall_counts_retained_and_partial() -> None:
    """Three of five facts are there; two of them whole."""
    assert recall(STATUSES) == 0.6
    assert strict_recall(STATUSES) == 0.4


def test_nothing_to_recall_is_undefined() -> None:
    """Without facts, entities or pairs there is no rate: None, never 0."""
    assert recall([]) is None
    assert strict_recall([]) is None
    assert ratio(0, 0) is None


def test_precision_hallucination_and_conflict_are_shares() -> None:
    """3 of 4, 1 of 4, none of 4, 2 of 9."""
    assert [ratio(3, 4), ratio(1, 4), ratio(0, 4)] == [0.75, 0.25, 0.0]
    assert ratio(2, 9) == pytest.approx(2 / 9)


def test_f1_is_the_harmonic_mean() -> None:
    """2 · 0.5 · 0.25 / 0.75 = 1/3; undefined with an undefined part; 0 when both are 0."""
    assert f1(0.5, 0.25) == pytest.approx(1 / 3)
    assert f1(None, 0.5) is None
    assert f1(0.5, None) is None
    assert f1(0.0, 0.0) == 0.0


def test_f1_agrees_with_scikit_learn() -> None:
    """The same two rates from labels give the same F1."""
    metrics = pytest.importorskip("sklearn.metrics")
    truth, guess = [1, 1, 1, 1, 0, 0], [1, 1, 0, 0, 1, 0]
    expected = metrics.f1_score(truth, guess)
    assert f1(metrics.precision_score(truth, guess), metrics.recall_score(truth, guess)) == pytest.approx(expected)


def test_mean_curve_uses_the_cases_that_have_the_turn() -> None:
    """Turn 1: (1.0 + 0.5) / 2; turn 2: only one value; turn 3: nothing defined."""
    assert mean_curve([[1.0, None, None], [0.5, 0.4]]) == [0.75, 0.4, None]
    assert mean_curve([]) == []


def test_mean_ignores_the_undefined() -> None:
    """The mean of nothing is undefined."""
    assert mean([None, 1.0, 0.0]) == 0.5
    assert mean([None]) is None
