"""Facts and conflicts by natural language inference, on tiny DeBERTa classifiers built on disk."""

from __future__ import annotations

from pathlib import Path

import pytest
from asked import question

from pytest_clinical_drift.core.findings import Opinion
from pytest_clinical_drift.core.log import Answer
from pytest_clinical_drift.errors import InputError, MissingDependency
from pytest_clinical_drift.judging.nli import NliJudge, advice_pairs, label_index
from pytest_clinical_drift.judging.protocol import Feed, JudgeRequest
from pytest_clinical_drift.judging.questions import Question, opinion_of

EARLIER = "Avoid ibuprofen for the pain. Drink plenty of water."
LATER = "Take ibuprofen for the pain. Rest the ankle."
WORDS = ["avoid", "ibuprofen", "take", "for", "the", "pain", "drink", "plenty", "of", "water", "rest", "ankle"]


def build(folder: Path, labels: list[str], favoured: int, strength: float = 6.0) -> str:
    """A DeBERTa with two small layers whose head always favours one label, and a word-level tokenizer, on disk."""
    torch = pytest.importorskip("torch", reason="the nli judge needs torch")
    transformers = pytest.importorskip("transformers", reason="the nli judge needs transformers")
    tokenizers = pytest.importorskip("tokenizers")
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *WORDS]
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
        model.classifier.bias[favoured] = strength
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)


def answer_of(judge: NliJudge, asked: Question) -> Opinion:
    """What the judge says to one question."""
    found: list[Answer] = []

    def deliver(one: JudgeRequest, answer: Answer) -> list[JudgeRequest]:
        found.append(answer)
        feed.stop()
        return []

    feed = Feed(deliver)
    feed.put([JudgeRequest(asked, 1)])
    judge.work(feed)
    return opinion_of(asked, found[0])


def pair(earlier: str = EARLIER, later: str = LATER) -> Question:
    return question("conflict", later, earlier=earlier)


@pytest.mark.torch
@pytest.mark.parametrize(
    ("labels", "favoured"),
    [(["contradiction", "entailment", "neutral"], 0), (["ENTAILMENT", "NEUTRAL", "CONTRADICTION"], 2)],
)
def test_the_label_is_found_by_name(tmp_path: Path, labels: list[str], favoured: int) -> None:
    """Whatever its place and capitals, the label called contradiction counts; a softmax over 6, 0, 0 gives 0.995."""
    judge = NliJudge(build(tmp_path, labels, favoured), {})
    assert judge.check() == []
    found = answer_of(judge, pair())
    assert (found.answer, found.reason) == ("contradiction", "contradiction 1.00")
    assert "Avoid ibuprofen" in found.earlier_quote
    assert "Take ibuprofen" in found.quote


@pytest.mark.torch
def test_facts_are_entailed_contradicted_or_absent(tmp_path: Path) -> None:
    """A fact is what some sentence of the summary entails or contradicts, and absent where no sentence does either."""
    asked = question("fact", "Takes lithium nightly. Rest.")
    expected = {"entailment": "retained", "contradiction": "contradicted", "neutral": "absent"}
    for number, (label, answer) in enumerate(expected.items()):
        judge = NliJudge(build(tmp_path / label, list(expected), number), {})
        assert answer_of(judge, asked).answer == answer
    assert answer_of(judge, question("fact", "")).answer == "absent"


@pytest.mark.torch
def test_only_a_confident_contradiction_counts(tmp_path: Path) -> None:
    """Below the threshold a contradiction is not counted."""
    labels = ["contradiction", "entailment", "neutral"]
    judge = NliJudge(build(tmp_path, labels, 0), {"threshold": "0.999"})
    assert answer_of(judge, pair()).answer == "consistent"


def test_replies_without_advice_or_topic_never_reach_the_model() -> None:
    """Nothing is loaded for them: no advice leaves the denominator, unrelated advice is consistent."""
    judge = NliJudge("no/such-model", {})
    assert answer_of(judge, pair(later="Good morning.")).answer == "no advice"
    assert answer_of(judge, pair(earlier="Drink plenty of water.", later="Take ibuprofen.")).answer == "consistent"
    assert advice_pairs("Drink plenty of water.", "Take ibuprofen.") == []


def test_what_it_cannot_judge_it_does_not_claim() -> None:
    """Demands, harm and inventions are no questions for a sentence classifier."""
    assert NliJudge.kinds == {"fact", "conflict"}


@pytest.mark.torch
def test_a_fault_in_the_model_leaves_the_question_open(tmp_path: Path) -> None:
    """Weights that are gone when they are needed are an outage, not an opinion."""
    opinion = answer_of(NliJudge(str(tmp_path / "nothing"), {}), pair())
    assert (opinion.answer, opinion.doubt) == ("unsure", "failed")


@pytest.mark.torch
def test_missing_weights_say_what_to_do(tmp_path: Path) -> None:
    """One sentence that names the model and the way out, before anything runs."""
    pytest.importorskip("transformers", reason="the nli judge needs transformers")
    with pytest.raises(MissingDependency, match="nli:FOLDER"):
        NliJudge(str(tmp_path / "nothing-here"), {}).check()


def test_a_model_without_such_a_label_is_refused() -> None:
    """A sentiment classifier is no judge."""
    with pytest.raises(InputError, match="LABEL_0, LABEL_1"):
        label_index({0: "LABEL_0", 1: "LABEL_1"}, "contradiction", "some/model")


def test_settings_are_checked() -> None:
    """An unknown setting names the valid ones; a threshold is a probability."""
    with pytest.raises(InputError, match="--drift-judge-set strides"):
        NliJudge("", {"strides": "2"})
    with pytest.raises(InputError, match="expected a probability"):
        NliJudge("", {"threshold": "2"})
