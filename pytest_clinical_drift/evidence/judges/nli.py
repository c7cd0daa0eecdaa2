"""The judge by natural language inference: a cross-encoder reads sentence pairs on the same topic.

Whole paragraphs mislead such models, so only two directives that share an object or several words are shown to it, and
only a confident "contradiction" counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytest_clinical_drift.errors import InputError, MissingDependency
from pytest_clinical_drift.evidence.advice import advice_of
from pytest_clinical_drift.evidence.guidance.record import Advice
from pytest_clinical_drift.evidence.judges.excuses import Excuses
from pytest_clinical_drift.evidence.judges.opposition import Opposition
from pytest_clinical_drift.evidence.judges.oppositions import shared_object
from pytest_clinical_drift.evidence.judges.protocol import Conflict

DEFAULT_MODEL = "cross-encoder/nli-deberta-v3-base"
THRESHOLD = 0.9
"""Probability from which a contradiction counts."""
_MOST_PAIRS = 24
"""Sentence pairs of two replies that are shown to the model, those with most in common first."""
_SHARED_WORDS = 2
_ANY = Opposition("nli", "", False)


class NliJudge:
    """Asks a sequence classifier whether a later directive contradicts an earlier one."""

    def __init__(
        self, model: str = DEFAULT_MODEL, *, threshold: float = THRESHOLD, batch_size: int = 16, device: str = "cpu"
    ) -> None:
        self.name = f"nli:{model}"
        self._model_name = model
        self._threshold = threshold
        self._batch_size = batch_size
        self._device = device
        self._loaded: tuple[Any, Any, int] | None = None

    def prepare(self) -> None:
        """Load the weights now, so that what is missing is said before the first conversation."""
        self._load()

    def judge(self, earlier: str, later: str) -> Conflict:
        """The verdict on one pair."""
        return self.judge_many([(earlier, later)])[0]

    def judge_many(self, pairs: Sequence[tuple[str, str]]) -> list[Conflict]:
        """The verdicts on many pairs, in order; all sentence pairs go through the model in shared batches."""
        candidates = [same_topic(earlier, later) for earlier, later in pairs]
        sentences = list(dict.fromkeys(pair for group in candidates for pair in group))
        probabilities = dict(zip(sentences, self._contradiction(sentences), strict=True))
        return [self._verdict(group, probabilities) for group in candidates]

    def _verdict(self, group: Sequence[tuple[str, str]], probabilities: dict[tuple[str, str], float]) -> Conflict:
        if not group:
            return Conflict(False, "no two directives are about the same topic")
        best = max(group, key=lambda pair: probabilities[pair])
        value = probabilities[best]
        if value < self._threshold:
            reason = f"the highest probability of a contradiction over {len(group)} sentence pairs is {value:.2f}"
            return Conflict(False, reason, probability=value)
        reason = f"{self._model_name} calls it a contradiction (probability {value:.2f})"
        return Conflict(True, reason, best, severe=False, kind="nli", probability=value)

    def _contradiction(self, sentences: Sequence[tuple[str, str]]) -> list[float]:
        """Probability of a contradiction for each sentence pair."""
        if not sentences:
            return []
        tokenizer, model, label = self._load()
        import torch

        # Pairs of like length share a batch, so that little is padded.
        order = sorted(range(len(sentences)), key=lambda index: len(sentences[index][0]) + len(sentences[index][1]))
        values = [0.0] * len(sentences)
        for start in range(0, len(order), self._batch_size):
            batch = order[start : start + self._batch_size]
            inputs = tokenizer(
                [sentences[index][0] for index in batch],
                [sentences[index][1] for index in batch],
                padding=True,
                truncation=True,
                max_length=256,
                return_tensors="pt",
            ).to(self._device)
            with torch.inference_mode():
                scores = torch.softmax(model(**inputs).logits.float(), dim=-1)[:, label].tolist()
            for index, score in zip(batch, scores, strict=True):
                values[index] = float(score)
        return values

    def _load(self) -> tuple[Any, Any, int]:
        """Tokenizer, model and the index of its contradiction label, loaded once."""
        if self._loaded is None:
            try:
                from transformers import AutoModelForSequenceClassification, AutoTokenizer
            except ImportError as error:
                raise MissingDependency(
                    "the nli judge needs torch and transformers: pip install 'pytest-clinical-drift[hf]'"
                ) from error
            try:
                tokenizer = AutoTokenizer.from_pretrained(self._model_name)
                model = AutoModelForSequenceClassification.from_pretrained(self._model_name)
            except (OSError, ValueError, ImportError) as error:
                raise MissingDependency(
                    f"the weights of the nli judge {self._model_name!r} could not be loaded; "
                    "download them once with network access, or name a local folder: --drift-judge nli:FOLDER"
                ) from error
            model.eval()
            label = contradiction_label(model.config.id2label, self._model_name)
            self._loaded = tokenizer, model.to(self._device), label
        return self._loaded


def contradiction_label(labels: dict[Any, str], model: str) -> int:
    """Index of the label that means contradiction, whatever its place and capitals."""
    found = [int(index) for index, name in labels.items() if "contradict" in str(name).lower()]
    if len(found) != 1:
        names = ", ".join(str(name) for name in labels.values())
        raise InputError(f"the model {model!r} has no single label for contradiction among {names}; use an NLI model")
    return found[0]


def same_topic(earlier: str, later: str) -> list[tuple[str, str]]:
    """Sentence pairs of two replies that are about one topic and that nothing excuses, most in common first."""
    before, after = advice_of(earlier), advice_of(later)
    if not before or not after:
        return []
    excuses = Excuses(earlier, later, whole=True)
    weights: dict[tuple[str, str], float] = {}
    for first in before:
        for second in after:
            weight = _in_common(first, second)
            if weight > 0 and first.quote != second.quote and not excuses.excused(first, second, _ANY):
                pair = (first.quote, second.quote)
                weights[pair] = max(weight, weights.get(pair, 0.0))
    return sorted(weights, key=lambda pair: -weights[pair])[:_MOST_PAIRS]


def _in_common(first: Advice, second: Advice) -> float:
    shared = len(first.topic & second.topic)
    if shared_object(first, second) is not None:
        return 3.0 + shared
    return float(shared) if shared >= _SHARED_WORDS else 0.0
