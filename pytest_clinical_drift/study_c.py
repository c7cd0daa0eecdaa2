"""The original study's functions, under their names: for scripts and notebooks that score without pytest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .cases import Case
from .conversation.frontier import Plan, run_conversations
from .errors import InputError
from .evidence.conflict import compare_turns
from .evidence.entities import EntityScorer, load_extractor
from .metrics.conflict import conflict_rate
from .metrics.drift import compute_drift_slope
from .scoring import assess_summary, score_entities
from .subjects.base import Identity, Request
from .transcript import Reply, Transcript

Curve = list[float | None]


@dataclass(frozen=True, slots=True)
class EntityRecallMetrics:
    """Curves of one case; index 0 is turn 1; None where a figure is undefined."""

    recall_curve_critical: Curve
    recall_curve_extended: Curve
    strict_recall_curve_critical: Curve
    precision_curve_critical: Curve
    precision_curve_extended: Curve
    f1_curve_critical: Curve
    f1_curve_extended: Curve
    hallucinated_rate_curve_critical: Curve
    hallucinated_rate_curve_extended: Curve
    recall_at_t10: float | None
    """Recall at turn 10, or at the last turn of a shorter case."""
    drift_slope: float | None
    """Slope of the critical recall curve up to there."""


def compute_entity_recall_metrics(model: Any, case: Case, ner: Any = "lexicon") -> EntityRecallMetrics:
    """Hold the conversation of `case` with `model` (or take its summaries as given) and compute its curves.

    `model` is a function from chat messages to text, an object with `generate(prompt, mode="summary")`, or the
    summaries themselves, one per turn, None for one that could not be had. `ner` names an extractor or is one.
    """
    summaries = _summaries(model, case)
    scorer = EntityScorer(case, load_extractor(ner) if isinstance(ner, str) else ner)
    turns = []
    for turn, summary in enumerate(summaries, start=1):
        turns.append(score_entities(*assess_summary(summary, case, turn, scorer)) if summary is not None else None)
    critical = [turn[0] if turn else None for turn in turns]
    extended = [turn[1] if turn else None for turn in turns]
    strict = [turn[2] if turn else None for turn in turns]
    recall_curve = [item.recall if item else None for item in critical]
    return EntityRecallMetrics(
        recall_curve_critical=recall_curve,
        recall_curve_extended=[item.recall if item else None for item in extended],
        strict_recall_curve_critical=strict,
        precision_curve_critical=[item.precision if item else None for item in critical],
        precision_curve_extended=[item.precision if item else None for item in extended],
        f1_curve_critical=[item.f1 if item else None for item in critical],
        f1_curve_extended=[item.f1 if item else None for item in extended],
        hallucinated_rate_curve_critical=[item.hallucinated_rate if item else None for item in critical],
        hallucinated_rate_curve_extended=[item.hallucinated_rate if item else None for item in extended],
        recall_at_t10=recall_curve[case.horizon - 1] if len(recall_curve) >= case.horizon else None,
        drift_slope=compute_drift_slope(recall_curve[: case.horizon]),
    )


def calculate_knowledge_conflict_rate_from_responses(
    responses_by_case: Mapping[str, Sequence[str | None]], judge: Any = "rules", nli_stride: int | None = None
) -> float | None:
    """K_Conflict over all cases: contradictions / evaluated pairs of adjacent advice; None when no pair was evaluated.

    `nli_stride` judges every Nth pair: by default each with rules, every second with a model.
    """
    stride = nli_stride if nli_stride is not None else (1 if judge == "rules" else 2)
    evidence = [compare_turns(list(replies), judge, stride) for replies in responses_by_case.values()]
    contradictions = sum(len(found.contradictions) for found in evidence)
    return conflict_rate(contradictions, sum(found.pairs_evaluated for found in evidence))


def _summaries(model: Any, case: Case) -> list[str | None]:
    if isinstance(model, str):
        raise InputError("the summaries must be a list with one text per turn, found one text")
    if isinstance(model, Sequence):
        if len(model) > len(case.turns):
            raise InputError(f"{len(model)} summaries for the {len(case.turns)} turns of {case.id}")
        return list(model)
    finished: list[Transcript] = []
    run_conversations([case], _Adapter(_chat_function(model)), Plan(), on_finished=finished.append)
    summaries: list[str | None] = [None] * len(case.turns)
    for exchange in finished[0].exchanges:
        summaries[exchange.turn - 1] = exchange.summary.text if exchange.summary.error is None else None
    return summaries


def _chat_function(model: Any) -> Callable[[list[dict[str, str]], str], str]:
    generate = getattr(model, "generate", None)
    if callable(generate):
        return lambda messages, mode: generate("\n\n".join(m["content"] for m in messages), mode=mode)
    if callable(model):
        return lambda messages, mode: model(messages)
    name = type(model).__name__
    raise InputError(f"cannot talk to a {name}; give a function of chat messages or a list of summaries")


class _Adapter:
    """A chat function as a subject."""

    spec = "python:function"
    exclusive = False

    def __init__(self, chat: Callable[[list[dict[str, str]], str], str]) -> None:
        self._chat = chat

    def check(self, cases: Sequence[Case]) -> list[str]:
        return []

    def identity(self) -> Identity:
        return Identity(self.spec, None, proven=False, settings={})

    def respond(self, requests: Sequence[Request]) -> list[Reply]:
        return [Reply(self._chat([m.as_dict() for m in request.messages], request.purpose)) for request in requests]

    def close(self) -> None:
        """Nothing is held."""
