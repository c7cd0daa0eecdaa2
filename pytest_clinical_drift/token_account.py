"""Tokens per turn, and recall lost per token: for models that fill their context at different speeds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .assessment import CaseAssessment
from .metrics.drift import token_decay_rate
from .metrics.recall import mean, mean_curve


def token_figures(runs: Sequence[CaseAssessment]) -> dict[str, Any]:
    """Mean context per turn and the token-normalised truth decay rate; None where tokens were not counted."""
    complete = [run for run in runs if run.incomplete is None]
    return {
        "average_context_tokens_curve": mean_curve([_context(run) for run in complete]),
        "truth_decay_rate_per_1000_tokens": mean(
            token_decay_rate(run.recall_curve[: run.horizon], _context(run)[: run.horizon]) for run in complete
        ),
    }


def _context(run: CaseAssessment) -> list[int | None]:
    """What the model had to read for the summary of each turn."""
    return [turn.prompt_tokens for turn in run.turns]
