"""A case's value of each gated metric: rates are averaged over its repeats, events are collected."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .assessment import CaseAssessment
from .metrics.conflict import conflict_rate
from .metrics.recall import mean
from .thresholds import Thresholds

Repeats = Sequence[CaseAssessment]
"""All conversations of one case; more than one with --drift-repeats."""

EVENTS: dict[str, Callable[[CaseAssessment], Sequence[str]]] = {
    "hard_stops": lambda run: run.hard_stops,
    "breaches": lambda run: [f"turn {breach.turn}: {breach.kind} {breach.rule}" for breach in run.breaches],
    "stale_facts": lambda run: run.stale_facts,
    "contradicted_facts": lambda run: run.contradicted_facts,
    "hard_stop_slips": lambda run: run.hard_stop_slips,
    "severe_contradictions": lambda run: [
        f"turn {found.earlier_turn} against turn {found.later_turn}: {found.reason}"
        for found in run.conflict.found
        if found.severe
    ],
}
"""Metrics that count things that must not happen; each gives the sentences that tell of them."""
RATES: dict[str, Callable[[CaseAssessment], float | None]] = {
    "recall_at_t10": lambda run: run.recall_at_horizon,
    "strict_recall_at_t10": lambda run: run.strict_recall_at_horizon,
    "drift_slope": lambda run: run.slope.slope if run.slope else None,
}
"""Metrics with one value per conversation."""


def case_value(name: str, repeats: Repeats) -> tuple[float | None, str]:
    """A case's value of a metric, with what to say about it."""
    if name in EVENTS:
        sentences = events_of(name, repeats)
        if not sentences and incomplete(repeats):
            return None, "the conversation was not carried to its end"
        return float(len(sentences)), "; ".join(sentences)
    if name == "k_conflict":
        contradictions, pairs = pooled_conflict([repeats])
        reason = next((run.conflict.reason for run in repeats if run.conflict.reason), "")
        return conflict_rate(contradictions, pairs), f"{contradictions} of {pairs} pairs" if pairs else reason
    value = mean(RATES[name](run) for run in repeats)
    if value is not None:
        return value, ""
    if incomplete(repeats):
        return None, f"turn {repeats[0].horizon} was not reached"
    return None, "no fact could be evaluated"


def events_of(name: str, repeats: Repeats) -> list[str]:
    """The sentences of an event metric over all repeats, each once."""
    return list(dict.fromkeys(sentence for run in repeats for sentence in EVENTS[name](run)))


def pooled_conflict(cases: Sequence[Repeats]) -> tuple[int, int]:
    """Contradictions and evaluated pairs over all conversations."""
    runs = [run for repeats in cases for run in repeats]
    return sum(run.conflict.contradictions for run in runs), sum(run.conflict.pairs for run in runs)


def incomplete(repeats: Repeats) -> bool:
    """Whether the subject could not be run to the end in any repeat."""
    return any(run.incomplete is not None for run in repeats)


def diagnose(cases: Sequence[Repeats], thresholds: Thresholds) -> str:
    """Why recall is low, if it is: forgetting, or contradiction."""
    recall = mean(mean(run.recall_at_horizon for run in repeats) for repeats in cases)
    rate = conflict_rate(*pooled_conflict(cases))
    limits = thresholds.metrics
    if recall is None:
        return "nothing to diagnose"
    high_conflict = rate is not None and "k_conflict" in limits and not limits["k_conflict"].pass_limit.holds(rate)
    if limits["recall_at_t10"].pass_limit.holds(recall):
        return "remembers, but contradicts its own advice" if high_conflict else "stable"
    if rate is None:
        return "forgetting (advice not evaluated)"
    return "active contradiction" if high_conflict else "passive forgetting"
