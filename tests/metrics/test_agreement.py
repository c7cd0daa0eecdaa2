"""Agreement of two raters against independent implementations."""

from __future__ import annotations

import random

import pytest
from sklearn.metrics import cohen_kappa_score, f1_score

from pytest_clinical_drift.metrics.agreement import (
    balanced_f1,
    cohen_kappa,
    icc_2_1,
    krippendorff_alpha,
    percent_agreement,
)


def _raters(seed: int) -> tuple[list[bool], list[bool]]:
    chance = random.Random(seed)
    one = [chance.random() < 0.4 for _ in range(chance.randint(5, 60))]
    two = [label if chance.random() < 0.8 else not label for label in one]
    return one, two


@pytest.mark.parametrize("seed", range(40))
def test_kappa_and_balanced_f1_are_those_of_scikit_learn(seed: int) -> None:
    one, two = _raters(seed)
    kappa = cohen_kappa(one, two)
    if kappa is not None:
        assert kappa == pytest.approx(cohen_kappa_score(one, two), abs=1e-9)
    assert balanced_f1(one, two) == pytest.approx(f1_score(one, two, average="macro", zero_division=0), abs=1e-9)
    assert percent_agreement(one, two) == pytest.approx(sum(map(bool.__eq__, one, two)) / len(one))


def _alpha_by_coincidences(one: list[bool], two: list[bool]) -> float | None:
    """Krippendorff's own way: a matrix of coincidences, each unit counted once per ordered pair of its values."""
    labels = (False, True)
    matrix = {(a, b): 0.0 for a in labels for b in labels}
    for a, b in zip(one, two, strict=True):
        matrix[a, b] += 1
        matrix[b, a] += 1
    totals = {a: sum(matrix[a, b] for b in labels) for a in labels}
    n = sum(totals.values())
    expected = sum(totals[a] * totals[b] for a in labels for b in labels if a != b) / (n - 1)
    observed = sum(matrix[a, b] for a in labels for b in labels if a != b)
    return None if expected == 0 else 1 - observed / expected


@pytest.mark.parametrize("seed", range(40))
def test_alpha_is_that_of_the_matrix_of_coincidences(seed: int) -> None:
    one, two = _raters(seed)
    expected = _alpha_by_coincidences(one, two)
    assert krippendorff_alpha(one, two) == (None if expected is None else pytest.approx(expected, abs=1e-9))


def test_alpha_of_a_published_example() -> None:
    """Krippendorff (2011), binary data, two observers, ten units: alpha 0.095."""
    one = [0, 1, 0, 0, 0, 0, 0, 0, 1, 0]
    two = [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]
    assert krippendorff_alpha(one, two) == pytest.approx(0.095, abs=5e-4)


def test_nothing_to_compare_is_undefined_and_never_zero() -> None:
    assert cohen_kappa([], []) is None
    assert percent_agreement([], []) is None
    assert balanced_f1([], []) is None
    assert cohen_kappa([True, True], [True, True]) is None
    assert krippendorff_alpha([True, True], [True, True]) is None


def test_icc_of_the_published_example() -> None:
    """Shrout and Fleiss (1979), six targets, four judges: ICC(2,1) 0.29, limits 0.02 to 0.76 (digits: pingouin)."""
    ratings = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    found = icc_2_1(ratings, confidence=0.95)
    assert found is not None
    assert found[0] == pytest.approx(0.2897637795, abs=1e-9)
    assert found[1:] == (pytest.approx(0.02, abs=0.005), pytest.approx(0.76, abs=0.005))


def test_icc_is_undefined_without_variation_and_has_no_interval_without_differences() -> None:
    assert icc_2_1([[3, 3], [3, 3]], confidence=0.95) is None
    assert icc_2_1([[3, 4]], confidence=0.95) is None
    assert icc_2_1([], confidence=0.95) is None
    assert icc_2_1([[1, 1], [4, 4], [5, 5]], confidence=0.95) == (1.0, None, None)
