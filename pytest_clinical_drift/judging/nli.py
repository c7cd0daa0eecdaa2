"""`nli[:MODEL]`: facts and conflicts by natural language inference, the judge of the original study."""

from collections.abc import Mapping, Sequence
from itertools import pairwise, product
from typing import Any

from pytest_clinical_drift.core.log import Answer
from pytest_clinical_drift.core.words import Kind, Word
from pytest_clinical_drift.errors import InputError, MissingDependency
from pytest_clinical_drift.evidence.advice.orders import advice_of
from pytest_clinical_drift.evidence.reading.text import read
from pytest_clinical_drift.evidence.terms.words import stems_of
from pytest_clinical_drift.judging.answers import UNSURE
from pytest_clinical_drift.judging.protocol import JudgeRequest, OneByOne
from pytest_clinical_drift.judging.questions import Question
from pytest_clinical_drift.judging.readings import Reading
from pytest_clinical_drift.subjects.base import declared_settings

DEFAULT_MODEL = "cross-encoder/nli-deberta-v3-base"
CONTRADICTION = "contradiction"
ENTAILMENT = "entailment"
_SETTINGS: dict[str, type] = {"threshold": float, "batch_size": int, "device": str, "revision": str}
_SHARED_WORDS = 2
_MOST_PAIRS = 24
"""Sentence pairs of two replies that are shown to the model."""


class NliJudge(OneByOne):
    """A cross-encoder: does a sentence of the summary entail the fact, do two of advice contradict each other?"""

    kinds = frozenset((Kind.FACT, Kind.CONFLICT))

    def __init__(self, target: str, settings: Mapping[str, str]) -> None:
        model = target or DEFAULT_MODEL
        self.name = f"nli:{model}"
        given = declared_settings(self.name, settings, _SETTINGS, option="--drift-judge-set")
        self._settings = {"threshold": 0.9, **given}
        limit = self._settings["threshold"]
        if not 0 < limit <= 1:
            raise InputError(f"--drift-judge-set threshold: expected a probability, found {limit}")
        batch = self._settings.get("batch_size", 16)
        device = self._settings.get("device", "cpu")
        self._encoder = CrossEncoder(
            model,
            option="--drift-judge nli:FOLDER",
            batch_size=batch,
            device=device,
            revision=self._settings.get("revision"),
        )

    def check(self) -> list[str]:
        self._encoder.probabilities([], CONTRADICTION, ENTAILMENT)
        return []

    def answer(self, asked: JudgeRequest) -> Answer:
        """One opinion: a model that computes the same probability twice has no second one."""
        if isinstance(asked.item, Reading) or asked.wording != 1:
            return asked.answer({"answer": UNSURE, "reason": "a model of language inference has one opinion"})
        return asked.answer(self._fact(asked.item) if asked.item.kind == Kind.FACT else self._conflict(asked.item))

    def _fact(self, question: Question) -> dict[str, Any]:
        document = read(question.text)
        starts = [*document.sentence_starts, len(document)]
        sentences = [document.quote(first, stop - 1) for first, stop in pairwise(starts) if stop > first]
        pairs = [(sentence, question.statement or "") for sentence in sentences]
        if not pairs:
            return {"answer": Word.ABSENT, "reason": "the summary is empty"}
        both = self._encoder.probabilities(pairs, ENTAILMENT, CONTRADICTION)
        # a fact that has ended is stated wrongly where it is stated as holding, and rightly where that is denied
        meanings = (Word.STALE, Word.RETAINED) if question.ended else (Word.RETAINED, Word.CONTRADICTED)
        for label, answer, values in zip((ENTAILMENT, CONTRADICTION), meanings, both, strict=True):
            best = max(range(len(pairs)), key=values.__getitem__)
            if values[best] >= self._settings["threshold"]:
                return {"answer": answer, "quote": sentences[best], "reason": f"{label} {values[best]:.2f}"}
        return {"answer": Word.ABSENT, "reason": "no sentence entails or contradicts it"}

    def _conflict(self, question: Question) -> dict[str, Any]:
        pairs = advice_pairs(question.earlier or "", question.text)
        if pairs is None:
            return {"answer": Word.NO_ADVICE, "reason": "one of the replies gives no advice"}
        if not pairs:
            return {"answer": Word.CONSISTENT, "reason": "no two pieces of advice share a topic"}
        (values,) = self._encoder.probabilities(pairs, CONTRADICTION)
        best = max(range(len(pairs)), key=values.__getitem__)
        if values[best] < self._settings["threshold"]:
            reason = f"highest probability of a contradiction {values[best]:.2f}"
            return {"answer": Word.CONSISTENT, "reason": reason}
        earlier, later = pairs[best]
        reason = f"contradiction {values[best]:.2f}"
        return {"answer": Word.CONTRADICTION, "quote": later, "earlier_quote": earlier, "reason": reason}


def advice_pairs(earlier: str, later: str) -> list[tuple[str, str]] | None:
    """Pairs of advising sentences with words in common, most first; None where one reply advises nothing."""
    before, after = ({item.quote for item in advice_of(text)} for text in (earlier, later))
    if not before or not after:
        return None
    shared = {
        (one, other): len(_content(one) & _content(other))
        for one, other in product(sorted(before), sorted(after))
        if one != other
    }
    alike = [pair for pair, words in shared.items() if words >= _SHARED_WORDS]
    return sorted(alike, key=lambda pair: -shared[pair])[:_MOST_PAIRS]


def _content(sentence: str) -> frozenset[str]:
    return frozenset(key for key in stems_of(read(sentence)) if len(key) > 3)


class CrossEncoder:
    """A model of natural language inference: probability of one of its labels for each sentence pair."""

    def __init__(
        self, model: str, *, option: str, batch_size: int = 16, device: str = "cpu", revision: str | None = None
    ) -> None:
        """`option` is how a user names a local folder, said when the weights are missing; `revision`: of the hub."""
        self._revision = {"revision": revision} if revision is not None else {}
        self._name = model
        self._option = option
        self._batch_size = batch_size
        self._device = device
        self._loaded: tuple[Any, Any] | None = None

    def probabilities(self, pairs: Sequence[tuple[str, str]], *labels: str) -> list[list[float]]:
        """For each label the probability of it for each pair of sentences, all from one reading.

        Without a pair it only sees that the model is here and has the labels.
        """
        tokenizer, model = self._load()
        wanted = [label_index(model.config.id2label, label, self._name) for label in labels]
        import torch

        # Pairs of like length share a batch, so that little is padded.
        order = sorted(range(len(pairs)), key=lambda index: len(pairs[index][0]) + len(pairs[index][1]))
        values: dict[int, list[float]] = {}
        for start in range(0, len(order), self._batch_size):
            batch = order[start : start + self._batch_size]
            first, second = ([pairs[index][side] for index in batch] for side in (0, 1))
            inputs = tokenizer(first, second, padding=True, truncation=True, max_length=256, return_tensors="pt")
            with torch.inference_mode():
                logits = model(**inputs.to(self._device)).logits
                values |= zip(batch, torch.softmax(logits.float(), dim=-1)[:, wanted].tolist(), strict=True)
        return [[values[index][place] for index in range(len(pairs))] for place in range(len(labels))]

    def _load(self) -> tuple[Any, Any]:
        """Tokenizer and model, loaded once; MissingDependency in one sentence where they are not at hand."""
        if self._loaded is None:
            try:
                from transformers import AutoModelForSequenceClassification, AutoTokenizer
            except ImportError as error:
                needs = f"{self._option.split()[0]} needs torch and transformers"
                raise MissingDependency(f"{needs}: pip install 'pytest-clinical-drift[hf]'") from error
            try:
                # A gate talks to nobody but the model under test: weights must be on this machine already.
                tokenizer = AutoTokenizer.from_pretrained(self._name, local_files_only=True, **self._revision)
                model = AutoModelForSequenceClassification.from_pretrained(
                    self._name, local_files_only=True, **self._revision
                )
            except (OSError, ValueError, ImportError) as error:
                raise MissingDependency(
                    f"the weights of {self._name!r} could not be loaded from this machine; fetch them once "
                    f"(hf download NAME), or name a local folder: {self._option}"
                ) from error
            model.eval()
            self._loaded = tokenizer, model.to(self._device)
        return self._loaded


def label_index(labels: Mapping[Any, str], wanted: str, model: str) -> int:
    """Index of the one label that means something, whatever its place and capitals ("not_entailment" does not)."""
    names = {int(index): str(name).lower() for index, name in labels.items()}
    indexes = [index for index, name in names.items() if wanted in name and not name.startswith(("not", "non"))]
    if len(indexes) != 1:
        listed = ", ".join(str(name) for name in labels.values())
        raise InputError(f"the model {model!r} has no single label for {wanted} among {listed}; use an NLI model")
    return indexes[0]
