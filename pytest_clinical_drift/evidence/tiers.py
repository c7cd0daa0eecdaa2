"""Optional tiers after the rules: a model reads the sentences of a summary for long facts that no rule found.

Off by default, so that a verdict stays deterministic and offline. A tier never changes what the rules decided: it is
asked only about facts of more than four words of which the rules found no trace, and it is shown only sentences that
speak of the patient without denial or doubt.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Protocol

import numpy as np

from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.evidence.alignment import DEFAULT_MODEL as DEFAULT_EMBEDDER
from pytest_clinical_drift.evidence.alignment import Embedder, load_embedder
from pytest_clinical_drift.evidence.contexts.mentions import reading
from pytest_clinical_drift.evidence.facts.outcome import ABSENT, PARTIAL, RETAINED
from pytest_clinical_drift.evidence.judges.cross_encoder import DEFAULT_MODEL as DEFAULT_NLI
from pytest_clinical_drift.evidence.judges.cross_encoder import ENTAILMENT, CrossEncoder
from pytest_clinical_drift.evidence.retention import Retention, Span
from pytest_clinical_drift.evidence.text import Document, read

__all__ = ["EmbeddingTier", "NliTier", "Tier", "ask_tier", "load_tier"]

_FACT_WORDS = 4
"""Facts of no more words are left to the rules, as in the original matcher."""
_SENTENCE_WORDS = 4
"""Shorter stretches say too little for a model to judge."""


class Tier(Protocol):
    """Says how surely a sentence states a fact."""

    name: str
    threshold: float
    status: str
    """What a fact is called that the tier finds."""

    def prepare(self) -> None:
        """Load what is needed; MissingDependency in one sentence where it is not at hand."""
        ...

    def score(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """For each pair of sentence and fact how surely the one states the other."""
        ...


class NliTier:
    """A model of natural language inference: the sentence entails the fact."""

    status = RETAINED

    def __init__(self, model: str = DEFAULT_NLI, *, threshold: float = 0.9) -> None:
        self.name = f"nli:{model}"
        self.threshold = threshold
        self._encoder = CrossEncoder(model, option="--drift-tier nli:FOLDER")

    def prepare(self) -> None:
        """Load the weights and see that the model knows entailment."""
        self._encoder.require(ENTAILMENT)

    def score(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Probability that the sentence entails the fact."""
        hypotheses = [(sentence, f"The patient: {fact}.") for sentence, fact in pairs]
        return self._encoder.probabilities(hypotheses, ENTAILMENT)


class EmbeddingTier:
    """Likeness of embeddings. It knows a topic better than a statement, so what it finds is partial at most."""

    status = PARTIAL

    def __init__(self, model: str = DEFAULT_EMBEDDER, *, threshold: float = 0.75) -> None:
        self.name = f"embedding:{model}"
        self.threshold = threshold
        self._embedder: Embedder = load_embedder(model)

    def prepare(self) -> None:
        """Load the weights."""
        self._embedder.embed(["ready"])

    def score(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Cosine of the sentence and the fact; each text is embedded once."""
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        if not texts:
            return []
        rows = np.asarray(self._embedder.embed(texts), dtype=np.float64)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        rows = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
        place = {text: number for number, text in enumerate(texts)}
        return [float(rows[place[sentence]] @ rows[place[fact]]) for sentence, fact in pairs]


def load_tier(spec: str | None) -> Tier | None:
    """The tier that a `--drift-tier` value names; None for none."""
    name, _, model = (spec or "none").partition(":")
    if name == "none" and not model:
        return None
    if name == "nli":
        return NliTier(model or DEFAULT_NLI)
    if name == "embedding":
        return EmbeddingTier(model or DEFAULT_EMBEDDER)
    raise InputError(f"--drift-tier: there is no tier {spec!r}; use none, nli[:MODEL] or embedding[:MODEL]")


def ask_tier(tier: Tier, summary: str, findings: Sequence[Retention]) -> list[Retention]:
    """The findings of the rules, with those facts found in addition that the tier is sure of."""
    asked = [n for n, item in enumerate(findings) if _is_open(item)]
    document = read(summary)
    sentences = _statements(document) if asked else []
    pairs = [(span.quote, findings[n].entity) for n in asked for span in sentences]
    scores = tier.score(pairs)
    result = list(findings)
    for position, n in enumerate(asked):
        own = scores[position * len(sentences) : (position + 1) * len(sentences)]
        if own and max(own) >= tier.threshold:
            best = own.index(max(own))
            reason = f"not found by the rules; {tier.name} finds it here ({own[best]:.2f})"
            result[n] = replace(findings[n], status=tier.status, evidence=(sentences[best],), reason=reason)
    return result


def _is_open(finding: Retention) -> bool:
    """Whether the rules found no trace: a fact denied, doubted or told of someone else has left one."""
    return finding.status == ABSENT and not finding.evidence and len(finding.entity.split()) > _FACT_WORDS


def _statements(document: Document) -> list[Span]:
    """Sentences about the patient in which nothing is denied, only possible, or told of someone else."""
    found = []
    starts = [*document.sentence_starts, len(document)]
    for first, end in pairwise(starts):
        last = end - 1
        if end - first < _SENTENCE_WORDS or not all(reading(document, n, n).affirmed for n in range(first, end)):
            continue
        start, stop = document.starts[first], document.ends[last]
        found.append(Span(document.raw[start:stop], start, stop))
    return found
