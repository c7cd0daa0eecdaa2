"""The judge by natural language inference, on tiny classifiers built on disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_clinical_drift.errors import InputError, MissingDependency
from pytest_clinical_drift.evidence.conflict import compare_turns
from pytest_clinical_drift.evidence.judges import Judge, RulesJudge, load_judge
from pytest_clinical_drift.evidence.judges.cross_encoder import label_index
from pytest_clinical_drift.evidence.judges.nli import NliJudge, same_topic

EARLIER = "Avoid ibuprofen from now on. Drink plenty of water."
LATER = "Take ibuprofen for the pain. Rest the ankle."


def build(folder: Path, labels: list[str], favoured: int) -> str:
    """A DeBERTa with two small layers whose head always favours one label, and a word-level tokenizer, on disk."""
    torch = pytest.importorskip("torch", reason="the nli judge needs torch")
    transformers = pytest.importorskip("transformers", reason="the nli judge needs transformers")
    tokenizers = pytest.importorskip("tokenizers")
    words = [
        "[PAD]",
        "[UNK]",
        "[CLS]",
        "[SEP]",
        "avoid",
        "ibuprofen",
        "from",
        "now",
        "on",
        "take",
        "for",
        "the",
        "pain",
        "drink",
        "plenty",
        "of",
        "water",
        "rest",
        "ankle",
    ]
    inner = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({word: number for number, word in enumerate(words)}, unk_token="[UNK]")
    )
    inner.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    inner.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=inner, unk_token="[UNK]", pad_token="[PAD]", cls_token="[CLS]", sep_token="[SEP]"
    )
    torch.manual_seed(0)
    config = transformers.DebertaV2Config(
        vocab_size=len(words),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
        id2label=dict(enumerate(labels)),
        label2id={label: number for number, label in enumerate(labels)},
    )
    model = transformers.DebertaV2ForSequenceClassification(config)
    with torch.no_grad():
        model.classifier.weight.zero_()
        model.classifier.bias.zero_()
        model.classifier.bias[favoured] = 6.0
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)


@pytest.mark.parametrize(
    ("labels", "favoured"),
    [(["contradiction", "entailment", "neutral"], 0), (["ENTAILMENT", "NEUTRAL", "CONTRADICTION"], 2)],
)
def test_label_is_found_by_name(tmp_path: Path, labels: list[str], favoured: int) -> None:
    """Whatever its place and capitals, the label called contradiction counts; a softmax over 6, 0, 0 gives 0.995."""
    judge = NliJudge(build(tmp_path, labels, favoured))
    verdict = judge.judge(EARLIER, LATER)
    assert verdict.contradiction
    assert verdict.probability == pytest.approx(0.995, abs=0.001)
    assert verdict.quotes == ("Avoid ibuprofen from now on", "Take ibuprofen for the pain")


def test_other_label_is_no_contradiction(tmp_path: Path) -> None:
    """A model that calls everything entailment contradicts nothing."""
    judge = NliJudge(build(tmp_path, ["entailment", "neutral", "contradiction"], 0))
    verdict = judge.judge(EARLIER, LATER)
    assert not verdict.contradiction
    assert verdict.probability == pytest.approx(0.0025, abs=0.001)


def test_only_confident_contradiction_counts(tmp_path: Path) -> None:
    """Below the threshold a contradiction is not counted."""
    judge = NliJudge(build(tmp_path, ["contradiction", "entailment", "neutral"], 0), threshold=0.999)
    assert not judge.judge(EARLIER, LATER).contradiction


def test_batch_equals_single(tmp_path: Path) -> None:
    """Many pairs in one call give what each gives alone, in order."""
    judge = NliJudge(build(tmp_path, ["contradiction", "entailment", "neutral"], 0), batch_size=2)
    pairs = [(EARLIER, LATER), ("Drink plenty of water.", "Take ibuprofen."), (LATER, EARLIER), ("Hello.", LATER)]
    assert judge.judge_many(pairs) == [judge.judge(*pair) for pair in pairs]
    assert [verdict.contradiction for verdict in judge.judge_many(pairs)] == [True, False, True, False]


def test_turns_can_be_compared_by_it(tmp_path: Path) -> None:
    """The judge takes the place of the rules for the rate."""
    judge = NliJudge(build(tmp_path, ["contradiction", "entailment", "neutral"], 0))
    evidence = compare_turns([EARLIER, LATER], judge)
    assert [(found.kind, found.earlier_turn) for found in evidence.contradictions] == [("nli", 1)]


def test_only_sentences_on_one_topic_are_shown() -> None:
    """Unrelated directives never reach the model; conditions and news are excused before it."""
    assert same_topic("Drink plenty of water.", "Take ibuprofen.") == []
    assert same_topic("Avoid ibuprofen.", "Take ibuprofen.") == [("Avoid ibuprofen", "Take ibuprofen")]
    assert same_topic("Keep taking ramipril.", "Your potassium has come back at 6.3, so stop the ramipril.") == []


def test_missing_weights_say_what_to_do(tmp_path: Path) -> None:
    """One sentence that names the model and the way out."""
    pytest.importorskip("transformers", reason="the nli judge needs transformers")
    with pytest.raises(MissingDependency, match="nli:FOLDER"):
        NliJudge(str(tmp_path / "nothing-here")).judge(EARLIER, LATER)


def test_missing_package_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without transformers the sentence gives the pip command."""
    import sys

    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(MissingDependency, match=r"pip install 'pytest-clinical-drift\[hf\]'"):
        NliJudge("anything").judge(EARLIER, LATER)


def test_model_without_such_a_label_is_refused() -> None:
    """A sentiment classifier is no judge."""
    with pytest.raises(InputError, match="LABEL_0, LABEL_1"):
        label_index({0: "LABEL_0", 1: "LABEL_1"}, "contradiction", "some/model")


def test_judges_share_the_protocol() -> None:
    """Both are chosen by name and offer the same methods."""
    assert isinstance(load_judge("rules"), RulesJudge)
    assert isinstance(load_judge("rules"), Judge)
    judge = load_judge("nli:some/model")
    assert isinstance(judge, Judge)
    assert judge.name == "nli:some/model"
    assert load_judge("nli").name == "nli:cross-encoder/nli-deberta-v3-base"
