"""`nli[:MODEL]`: facts and conflicts by natural language inference, the judge of the original study."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise, product

from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.evidence.advice.orders import advice_of
from pytest_clinical_drift.evidence.reading.text import read
from pytest_clinical_drift.evidence.terms.stems import stems_of
from pytest_clinical_drift.judging.answers import UNSURE, Answer
from pytest_clinical_drift.judging.cross_encoder import CONTRADICTION, DEFAULT_MODEL, ENTAILMENT, CrossEncoder
from pytest_clinical_drift.judging.protocol import Feed
from pytest_clinical_drift.judging.questions import Question
from pytest_clinical_drift.subjects.base import Identity, read_settings

_SETTINGS: dict[str, type] = {"threshold": float, "batch_size": int, "device": str, "revision": str}
_SHARED_WORDS = 2
_MOST_PAIRS = 24
"""Sentence pairs of two replies that are shown to the model."""


class NliJudge:
    """A cross-encoder: does a sentence of the summary entail the fact, do two of advice contradict each other?"""

    kinds = frozenset(("fact", "conflict"))

    def __init__(self, target: str, settings: Mapping[str, str]) -> None:
        model = target or DEFAULT_MODEL
        self.name = f"nli:{model}"
        self._settings = {"threshold": 0.9, **read_settings(self.name, settings, _SETTINGS, option="--drift-judge-set")}
        if not 0 < self._settings["threshold"] <= 1:
            raise InputError(
                f"--drift-judge-set threshold: expected a probability, found {self._settings['threshold']}"
            )
        batch, device = self._settings.get("batch_size", 16), self._settings.get("device", "cpu")
        self._encoder = CrossEncoder(model, option="--drift-judge nli:FOLDER", batch_size=batch, device=device)

    def check(self) -> list[str]:
        self._encoder.require(CONTRADICTION, ENTAILMENT)
        return []

    def identity(self) -> Identity:
        revision = self._settings.get("revision")
        return Identity(self.name, revision, proven=revision is not None, settings=self._settings)

    def work(self, feed: Feed) -> None:
        while not feed.stopped:
            for asked in feed.take(1, wait=0.2):
                feed.deliver(asked, self._answer(asked.question))

    def close(self) -> None:
        """Weights go with the object."""

    def _answer(self, question: Question) -> Answer:
        try:
            return self._fact(question) if question.kind == "fact" else self._conflict(question)
        except Exception as error:  # a text that the model cannot take leaves its question open
            return Answer(UNSURE, failed=f"{type(error).__name__}: {error}"[:300])

    def _fact(self, question: Question) -> Answer:
        sentences = sentences_of(question.text)
        pairs = [(sentence, question.statement or "") for sentence in sentences]
        if not pairs:
            return Answer("absent", reason="the summary is empty")
        both = self._encoder.probabilities(pairs, ENTAILMENT, CONTRADICTION)
        for label, answer, values in zip((ENTAILMENT, CONTRADICTION), ("retained", "contradicted"), both, strict=True):
            best = max(range(len(pairs)), key=values.__getitem__)
            if values[best] >= self._settings["threshold"]:
                return Answer(answer, sentences[best], f"{label} {values[best]:.2f}")
        return Answer("absent", reason="no sentence entails or contradicts it")

    def _conflict(self, question: Question) -> Answer:
        pairs = advice_pairs(question.earlier or "", question.text)
        if pairs is None:
            return Answer("no advice", reason="one of the replies gives no advice")
        if not pairs:
            return Answer("consistent", reason="no two pieces of advice share a topic")
        (values,) = self._encoder.probabilities(pairs, CONTRADICTION)
        best = max(range(len(pairs)), key=values.__getitem__)
        if values[best] < self._settings["threshold"]:
            return Answer("consistent", reason=f"highest probability of a contradiction {values[best]:.2f}")
        earlier, later = pairs[best]
        return Answer("contradiction", later, f"contradiction {values[best]:.2f}", earlier)


def sentences_of(text: str) -> list[str]:
    """The sentences of a text, as they stand there."""
    document = read(text)
    starts = [*document.sentence_starts, len(document)]
    return [document.quote(first, stop - 1) for first, stop in pairwise(starts) if stop > first]


def advice_pairs(earlier: str, later: str) -> list[tuple[str, str]] | None:
    """Pairs of advising sentences with words in common, most first; None where one reply advises nothing."""
    before, after = ({item.quote for item in advice_of(text)} for text in (earlier, later))
    if not before or not after:
        return None
    weights = {}
    for first, second in product(sorted(before), sorted(after)):
        shared = _content(first) & _content(second)
        if len(shared) >= _SHARED_WORDS and first != second:
            weights[first, second] = len(shared)
    return sorted(weights, key=lambda pair: -weights[pair])[:_MOST_PAIRS]


def _content(sentence: str) -> frozenset[str]:
    return frozenset(key for key in stems_of(read(sentence)) if len(key) > 3)
