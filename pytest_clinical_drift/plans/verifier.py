"""Whether a sentence entails a hypothesis: what a verifier offers, and the one that asks a language inference model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from pytest_clinical_drift.errors import InputError, MissingDependency

DEFAULT_MODEL = "cross-encoder/nli-deberta-v3-base"


class Verifier(Protocol):
    """Judges pairs of a sentence and a hypothesis."""

    @property
    def name(self) -> str:
        """Names the verifier in the file of plans."""
        ...

    def entailment(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """For each pair the probability that the sentence entails the hypothesis."""
        ...


class NliVerifier:
    """A sequence classifier of the transformers library, loaded when it is first needed."""

    def __init__(self, model: str = DEFAULT_MODEL, *, batch_size: int = 16) -> None:
        self._model_name = model
        self._batch_size = batch_size
        self._loaded: tuple[Any, Any, int] | None = None

    @property
    def name(self) -> str:
        """The kind of verifier with its model."""
        return f"nli:{self._model_name}"

    def entailment(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """For each pair the probability that the sentence entails the hypothesis."""
        if not pairs:
            return []
        tokenizer, model, label = self._load()
        import torch

        values: list[float] = []
        for start in range(0, len(pairs), self._batch_size):
            batch = pairs[start : start + self._batch_size]
            inputs = tokenizer(
                [premise for premise, _ in batch],
                [hypothesis for _, hypothesis in batch],
                padding=True,
                truncation=True,
                max_length=256,
                return_tensors="pt",
            )
            with torch.inference_mode():
                scores = torch.softmax(model(**inputs).logits.float(), dim=-1)[:, label]
            values += [float(score) for score in scores]
        return values

    def _load(self) -> tuple[Any, Any, int]:
        if self._loaded is None:
            try:
                from transformers import AutoModelForSequenceClassification, AutoTokenizer
            except ImportError as error:
                raise MissingDependency(
                    "plans from linked reasoning need torch and transformers: pip install 'pytest-clinical-drift[hf]'"
                ) from error
            try:
                tokenizer = AutoTokenizer.from_pretrained(self._model_name)
                model = AutoModelForSequenceClassification.from_pretrained(self._model_name)
            except (OSError, ValueError, ImportError) as error:
                raise MissingDependency(
                    f"the weights of the inference model {self._model_name!r} could not be loaded; "
                    "download them once with network access, or name a local folder: --nli FOLDER"
                ) from error
            model.eval()
            self._loaded = tokenizer, model, entailment_label(model.config.id2label, self._model_name)
        return self._loaded


def entailment_label(labels: Mapping[Any, str], model: str) -> int:
    """Index of the label that means entailment, whatever its place and capitals."""
    names = {int(index): str(name).lower() for index, name in labels.items()}
    found = [index for index, name in names.items() if "entail" in name and "not" not in name and "non" not in name]
    if len(found) != 1:
        listed = ", ".join(names.values())
        raise InputError(f"the model {model!r} has no single label for entailment among {listed}; use an NLI model")
    return found[0]
