"""Rankers under test: nothing that is asked was shown before, figures by hand, and outages told as such."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from pytest_clinical_drift.errors import InputError, SubjectError
from pytest_clinical_drift.ranking.ranker import held_out, leave_one_out, load_ranker, temporal_auc
from pytest_clinical_drift.ranking.slate import LabelledPair

DRUGS = [f"d{index:02d}" for index in range(40)]


class ByNumber:
    """Scores drugs by the number in their name, and keeps what it was fitted on."""

    def __init__(self) -> None:
        self.fits: list[list[LabelledPair]] = []

    def fit(self, pairs: Sequence[LabelledPair]) -> None:
        self.fits.append(list(pairs))

    def score(self, disease: str, drugs: Sequence[str]) -> Sequence[float]:
        return [float(drug[1:]) for drug in drugs]


class Memory(ByNumber):
    """Knows exactly what it was fitted on: a leak of the hidden pair would make it perfect."""

    def score(self, disease: str, drugs: Sequence[str]) -> Sequence[float]:
        known = {(pair.disease, pair.drug) for pair in self.fits[-1] if pair.label > 0}
        return [float((disease, drug) in known) for drug in drugs]


def disease(name: str, approved: Sequence[int], negative: Sequence[int]) -> list[LabelledPair]:
    labels = [(number, 4) for number in approved] + [(number, 0) for number in negative]
    return [LabelledPair(name, f"d{number:02d}", label) for number, label in labels]


def test_leave_one_out_by_hand() -> None:
    """Ranked 39 down to 0: 39 is 1st, 30 is 10th, 5 is 35th. Top 10 of 40: two hits in three trials, chance 1/4."""
    labels = disease("x", [39, 30, 5], range(10, 17))
    ranker = ByNumber()
    found = leave_one_out(ranker, labels, DRUGS, k=10)
    assert (found["hit_at_10"].value, found["hit_at_10"].n) == (pytest.approx(2 / 3), 3)
    assert found["hit_at_10_lift"].value == pytest.approx(8 / 3)
    assert [len(pairs) for pairs in ranker.fits] == [9, 9, 9]
    assert all(labels[trial] not in pairs for trial, pairs in enumerate(ranker.fits))


def test_small_diseases_and_no_approved_drug_give_no_trial() -> None:
    """Nine labelled pairs are too few; ten without an approval have nothing to hide."""
    small, unapproved = disease("x", [1, 2], range(10, 17)), disease("y", [], range(10, 20))
    found = leave_one_out(ByNumber(), [*small, *unapproved], DRUGS, k=10)
    assert found["hit_at_10"].value is None
    assert "no disease has 10 labelled pairs" in str(found["hit_at_10"].reason)
    assert found["hit_at_10_lift"].value is None


def test_memory_earns_no_more_than_chance() -> None:
    """It ties the hidden drug with all unknown ones: two others stand above, so 8 of 38 places are left."""
    found = leave_one_out(Memory(), disease("x", [39, 30, 5], range(10, 17)), DRUGS, k=10)
    assert found["hit_at_10"].value == pytest.approx(8 / 38)


def test_held_out_pairs_are_not_learnt_from() -> None:
    """Train and test are disjoint and cover all; a ranker that only remembers gets AUC one half and chance NDCG."""
    random = np.random.default_rng(5)
    labels = [LabelledPair(f"x{row}", drug, int(random.choice([0, 0, 0, 4]))) for row in range(30) for drug in DRUGS]
    ranker = Memory()
    found = held_out(ranker, labels)
    (learnt,) = ranker.fits
    assert 0.7 * len(labels) < len(learnt) < 0.9 * len(labels)
    assert found["auc"].value == 0.5
    assert found["auc"].n == len(labels) - len(learnt)
    assert found["ndcg_at_50_lift"].value == pytest.approx(1.0)


def test_temporal_auc_by_hand() -> None:
    """Trained to 2015, tested after: 2016 is perfect, 2017 inverted; together 3 of 4 comparisons are right."""
    labels = [
        LabelledPair("x", "d30", 4, 2014),
        LabelledPair("x", "d31", 0, 2015),
        LabelledPair("x", "d20", 4, 2016),
        LabelledPair("x", "d10", 0, 2016),
        LabelledPair("x", "d12", 4, 2017),
        LabelledPair("x", "d15", 0, 2017),
        LabelledPair("x", "d39", 4, None),
    ]
    ranker = ByNumber()
    found = temporal_auc(ranker, labels)
    assert [pair.drug for pair in ranker.fits[0]] == ["d30", "d31"]
    assert found.per_year == {"2016": 1.0, "2017": 0.0}
    assert found.value == 0.75
    assert found.n == 4


def test_undated_negatives_are_split_between_training_and_test() -> None:
    """Each is on one side only, and both sides get some; every year is tested against the same undated ones."""
    negatives = [LabelledPair("x", drug, 0) for drug in DRUGS[:30]]
    positives = [LabelledPair("x", "d38", 4, 2010), LabelledPair("x", "d39", 4, 2020)]
    ranker = ByNumber()
    found = temporal_auc(ranker, [*negatives, *positives])
    learnt = sum(pair.label == 0 for pair in ranker.fits[0])
    assert 5 < learnt < 25
    assert found.n == 1 + 30 - learnt
    assert found.per_year == {"2020": found.value}
    nothing = temporal_auc(ranker, [*negatives, positives[0]])
    assert str(nothing.reason) == "no positive pair is dated after 2015"


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ([1.0], "returned 1 scores for 40 drugs"),
        ([float("nan")] * 40, "returned NaN"),
        ("words", "instead of numbers"),
        (ZeroDivisionError("division by zero"), "raised ZeroDivisionError: division by zero"),
    ],
)
def test_outages_of_the_ranker_are_told_as_such(answer: object, expected: str) -> None:
    """A ranker that cannot be run says nothing about its quality."""

    class Broken(ByNumber):
        def score(self, disease: str, drugs: Sequence[str]) -> Sequence[float]:
            if isinstance(answer, Exception):
                raise answer
            return answer  # type: ignore[return-value]

    with pytest.raises(SubjectError, match=expected):
        leave_one_out(Broken(), disease("x", [39], range(10, 20)), DRUGS)


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("control:steady", "with --slate the model is a ranker"),
        ("python:nowhere:make", "cannot import nowhere"),
        ("python:json:nothing", "has no nothing"),
        ("python:json:loads", "the factory raised"),
        ("python:collections:OrderedDict", "lacks fit and score"),
    ],
)
def test_what_is_no_ranker_is_refused(spec: str, expected: str) -> None:
    """One sentence each."""
    with pytest.raises(InputError, match=expected):
        load_ranker(spec)


def test_factory_is_found_in_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As for conversations: the module may lie where the command was started."""
    source = "class R:\n    def fit(self, pairs): ...\n    def score(self, disease, drugs): return [0] * len(drugs)\n"
    (tmp_path / "my_ranker_module.py").write_text(source, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert load_ranker("python:my_ranker_module:R").score("x", ["a"]) == [0]
