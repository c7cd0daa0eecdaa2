"""A sequence classifier that reads pairs of sentences, loaded once and asked in batches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_clinical_drift.errors import InputError, MissingDependency

DEFAULT_MODEL = "cross-encoder/nli-deberta-v3-base"
CONTRADICTION = "contradiction"
ENTAILMENT = "entailment"


class CrossEncoder:
    """A model of natural language inference: probability of one of its labels for each sentence pair."""

    def __init__(self, model: str, *, option: str, batch_size: int = 16, device: str = "cpu") -> None:
        """`option` is how a user names a local folder, said when the weights are missing."""
        self._name = model
        self._option = option
        self._batch_size = batch_size
        self._device = device
        self._loaded: tuple[Any, Any] | None = None

    def probabilities(self, pairs: Sequence[tuple[str, str]], *labels: str) -> list[list[float]]:
        """For each label the probability of it for each pair of sentences, all from one reading."""
        if not pairs:
            return [[] for _ in labels]
        tokenizer, model = self.load()
        wanted = [label_index(model.config.id2label, label, self._name) for label in labels]
        import torch

        # Pairs of like length share a batch, so that little is padded.
        order = sorted(range(len(pairs)), key=lambda index: len(pairs[index][0]) + len(pairs[index][1]))
        values: list[list[float]] = [[] for _ in pairs]
        for start in range(0, len(order), self._batch_size):
            batch = order[start : start + self._batch_size]
            inputs = tokenizer(
                [pairs[index][0] for index in batch],
                [pairs[index][1] for index in batch],
                padding=True,
                truncation=True,
                max_length=256,
                return_tensors="pt",
            ).to(self._device)
            with torch.inference_mode():
                scores = torch.softmax(model(**inputs).logits.float(), dim=-1).tolist()
            for index, row in zip(batch, scores, strict=True):
                values[index] = [float(row[place]) for place in wanted]
        return [list(column) for column in zip(*values, strict=True)]

    def load(self) -> tuple[Any, Any]:
        """Tokenizer and model, loaded once; MissingDependency in one sentence where they are not at hand."""
        if self._loaded is None:
            try:
                from transformers import AutoModelForSequenceClassification, AutoTokenizer
            except ImportError as error:
                raise MissingDependency(
                    f"{self._option.split()[0]} needs torch and transformers: pip install 'pytest-clinical-drift[hf]'"
                ) from error
            try:
                # A gate talks to nobody but the model under test: weights must be on this machine already.
                tokenizer = AutoTokenizer.from_pretrained(self._name, local_files_only=True)
                model = AutoModelForSequenceClassification.from_pretrained(self._name, local_files_only=True)
            except (OSError, ValueError, ImportError) as error:
                raise MissingDependency(
                    f"the weights of {self._name!r} could not be loaded from this machine; fetch them once "
                    f"(hf download NAME), or name a local folder: {self._option}"
                ) from error
            model.eval()
            self._loaded = tokenizer, model.to(self._device)
        return self._loaded

    def require(self, *labels: str) -> None:
        """Load the model now and see that it has the labels."""
        _, model = self.load()
        for label in labels:
            label_index(model.config.id2label, label, self._name)


def label_index(labels: Mapping[Any, str], wanted: str, model: str) -> int:
    """Index of the one label that means something, whatever its place and capitals ("not_entailment" does not)."""
    names = {int(index): str(name).lower() for index, name in labels.items()}
    found = [index for index, name in names.items() if wanted in name and not name.startswith(("not", "non"))]
    if len(found) != 1:
        listed = ", ".join(str(name) for name in labels.values())
        raise InputError(f"the model {model!r} has no single label for {wanted} among {listed}; use an NLI model")
    return found[0]
