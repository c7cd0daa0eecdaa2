"""Agreement between two raters, against scikit-learn where it is installed, and by hand."""

from __future__ import annotations

import random

import pytest

from pytest_clinical_drift.metrics.agreement import balanced_f1, cohen_kappa, krippendorff_alpha



def test_kappa_by_hand() -> None:
    """20 yes-yes, 5 yes-no, 10 no-yes, 15 no-no: observed 0.7, expected 0.5 · 0.6 + 0.5 · 0.4 = 0.5, kappa 0.4."""
    one = ["y"] * 25 + ["n"] * 25
    two = ["y"] * 20 + ["n"] * 5 + ["y"] * 10 + ["n"] * 15
    assert cohen_kappa(one, two) == pytest.approx(0.4)
    assert cohen_kappa(one, one) == 1.0
    assert cohen_kappa([0, 1, 0, 1], [1, 0, 1, 0]) == -1.0


def test_alpha_by_hand() -> None:
    """Krippendorff's example of two raters and ten binary items: 4 disagree, 14 zeros and 6 ones: alpha 0.095."""
    one = [0, 1, 0, 0, 0, 0, 0, 0, 1, 0]
    two = [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]
    # observed 4 / 10; expected 1 - (14 · 13 + 6 · 5) / (20 · 19) = 168 / 380
    assert krippendorff_alpha(one, two) == pytest.approx(1 - 0.4 * 380 / 168)
    assert krippendorff_alpha(one, one) == 1.0


def test_balanced_f1_by_hand() -> None:
    """True: 2 · 2 / (3 + 3); False: 2 · 1 / (2 + 2)."""
    labels, answers = [True, True, True, False, False], [True, True, False, True, False]
    assert balanced_f1(labels, answers) == pytest.approx((4 / 6 + 2 / 4) / 2)
    assert balanced_f1([True, True], [True, True]) == 0.5


def test_undefined_is_none() -> None:
    for measure in (cohen_kappa, krippendorff_alpha):
        assert measure([], []) is None
        assert measure([1, 2], [1]) is None
        assert measure(["a", "a"], ["a", "a"]) is None
    assert balanced_f1([], []) is None


@pytest.mark.parametrize("seed", range(20))
def test_as_scikit_learn_has_it(seed: int) -> None:
    sklearn = pytest.importorskip("sklearn.metrics", reason="compared where scikit-learn is installed")
    chance = random.Random(seed)
    size, labels = chance.randint(2, 60), "abc"[: chance.randint(2, 3)]
    one, two = ([chance.choice(labels) for _ in range(size)] for _ in range(2))
    kappa = cohen_kappa(one, two)
    if kappa is not None:
        assert kappa == pytest.approx(sklearn.cohen_kappa_score(one, two))
    truth, said = [word == "a" for word in one], [word == "a" for word in two]
    expected = sklearn.f1_score(truth, said, average="macro", labels=[True, False], zero_division=0)
    assert balanced_f1(truth, said) == pytest.approx(expected)


def test_as_the_krippendorff_package_has_it() -> None:
    krippendorff = pytest.importorskip("krippendorff", reason="compared where krippendorff is installed")
    for seed in range(10):
        chance = random.Random(seed)
        one, two = ([chance.randint(0, 2) for _ in range(30)] for _ in range(2))
        expected = krippendorff.alpha(reliability_data=[one, two], level_of_measurement="nominal")
        assert krippendorff_alpha(one, two) == pytest.approx(expected)
