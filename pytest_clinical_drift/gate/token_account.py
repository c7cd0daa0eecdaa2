"""Tokens: what a run used and what that costs, context per turn, and recall lost per token."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_clinical_drift.metrics.drift import token_decay_rate
from pytest_clinical_drift.metrics.recall import mean, mean_curve
from pytest_clinical_drift.scoring.assessment import CaseAssessment


def token_figures(runs: Sequence[CaseAssessment]) -> dict[str, Any]:
    """Mean context per turn and the token-normalised truth decay rate; None where tokens were not counted."""
    complete = [run for run in runs if run.incomplete is None]
    return {
        "average_context_tokens_curve": mean_curve([_context(run) for run in complete]),
        "truth_decay_rate_per_1000_tokens": mean(
            token_decay_rate(run.recall_curve[: run.horizon], _context(run)[: run.horizon]) for run in complete
        ),
    }


def spent(runs: Sequence[CaseAssessment], prices: tuple[float, float] | None) -> dict[str, Any] | None:
    """The model's tokens in a run, reused replies included, and their cost by prices per million tokens.

    None where some were not counted: half of a sum is no sum.
    """
    prompt, completion = [run.prompt_tokens for run in runs], [run.completion_tokens for run in runs]
    if None in prompt or None in completion:
        return None
    used = {"prompt": sum(filter(None, prompt)), "completion": sum(filter(None, completion))}
    if prices is None:
        return {**used, "prices_per_million": None, "cost": None}
    cost = (used["prompt"] * prices[0] + used["completion"] * prices[1]) / 1_000_000
    return {**used, "prices_per_million": list(prices), "cost": round(cost, 4)}


def spent_line(tokens: Mapping[str, Any] | None) -> list[str]:
    """The account as a line for the terminal; nothing where it was not counted."""
    if tokens is None:
        return []
    cost = f", cost {tokens['cost']:,.2f} by the prices given" if tokens["cost"] is not None else ""
    return [f"tokens of the model: {tokens['prompt']:,} prompt, {tokens['completion']:,} completion{cost}"]


def _context(run: CaseAssessment) -> list[int | None]:
    """What the model had to read for the summary of each turn."""
    return [turn.prompt_tokens for turn in run.turns]
