"""The judge by natural language inference: a cross-encoder reads sentence pairs on the same topic.

Whole paragraphs mislead such models, so only two directives that share an object or several words are shown to it, and
only a confident "contradiction" counts.
"""

from __future__ import annotations

from collections.abc import Sequence

from pytest_clinical_drift.evidence.advice import advice_of
from pytest_clinical_drift.evidence.guidance.record import Advice
from pytest_clinical_drift.evidence.judges.cross_encoder import CONTRADICTION, DEFAULT_MODEL, CrossEncoder
from pytest_clinical_drift.evidence.judges.excuses import Excuses
from pytest_clinical_drift.evidence.judges.opposition import Opposition
from pytest_clinical_drift.evidence.judges.protocol import Conflict
from pytest_clinical_drift.evidence.judges.sharing import shared_object

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
        self._encoder = CrossEncoder(model, option="--drift-judge nli:FOLDER", batch_size=batch_size, device=device)

    def prepare(self) -> None:
        """Load the weights now, so that what is missing is said before the first conversation."""
        self._encoder.require(CONTRADICTION)

    def judge(self, earlier: str, later: str) -> Conflict:
        """The verdict on one pair."""
        return self.judge_many([(earlier, later)])[0]

    def judge_many(self, pairs: Sequence[tuple[str, str]]) -> list[Conflict]:
        """The verdicts on many pairs, in order; all sentence pairs go through the model in shared batches."""
        candidates = [same_topic(earlier, later) for earlier, later in pairs]
        sentences = list(dict.fromkeys(pair for group in candidates for pair in group))
        values = self._encoder.probabilities(sentences, CONTRADICTION)
        probabilities = dict(zip(sentences, values, strict=True))
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
