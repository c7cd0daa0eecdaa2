"""Context per turn and recall lost per token, as the results file has them."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import pytest
from made import conversation
from records import record

from pytest_clinical_drift.scoring.assessment import CaseAssessment

RATE, CURVE = "truth_decay_rate_per_1000_tokens", "average_context_tokens_curve"


def assessed(
    recalls: Sequence[float | None], tokens: Sequence[int | None], case_id: str = "a", incomplete: str | None = None
) -> CaseAssessment:
    run = conversation(case_id, recalls, incomplete=incomplete)
    turns = [dataclasses.replace(turn, prompt_tokens=count) for turn, count in zip(run.turns, tokens, strict=True)]
    return dataclasses.replace(run, turns=tuple(turns))


def test_figures_are_means_over_complete_conversations() -> None:
    """-0.2 and 0.0 per thousand tokens give -0.1; a conversation that broke off does not count."""
    told = record(
        assessed([1.0, 0.8], [1000, 2000]),
        assessed([1.0, 1.0], [3000, 4000], "b"),
        assessed([1.0, 0.0], [10, 20], "c", incomplete="turn 3, reply: down"),
    )
    assert getattr(told, RATE) == pytest.approx(-0.1)
    assert getattr(told, CURVE) == (2000, 3000)


def test_the_rate_runs_to_the_last_turn() -> None:
    """Recall that is lost only at turn 11: the sum of (turn - 6) * recall is -5, over a spread of 110."""
    told = record(assessed([1.0] * 10 + [0.0], [1000 * turn for turn in range(1, 12)]))
    assert getattr(told, RATE) == pytest.approx(-5 / 110)


def test_without_counts_there_is_no_rate() -> None:
    """None, not 0."""
    told = record(assessed([1.0, 0.5], [None, None]))
    assert (getattr(told, CURVE), getattr(told, RATE)) == ((None, None), None)
