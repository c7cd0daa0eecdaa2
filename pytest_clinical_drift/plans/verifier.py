"""Whether a sentence entails a hypothesis: what a verifier offers, and the one that asks a language inference model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from pytest_clinical_drift.judging.cross_encoder import DEFAULT_MODEL, ENTAILMENT, CrossEncoder


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
        self._encoder = CrossEncoder(model, option="--nli FOLDER", batch_size=batch_size)

    @property
    def name(self) -> str:
        """The kind of verifier with its model."""
        return f"nli:{self._model_name}"

    def entailment(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """For each pair the probability that the sentence entails the hypothesis."""
        return self._encoder.probabilities(pairs, ENTAILMENT)
