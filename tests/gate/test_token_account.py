"""Token figures of a run, from assessed conversations."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import pytest
from made import conversation

from pytest_clinical_drift.gate.token_account import spent, spent_line, token_figures
from pytest_clinical_drift.scoring.assessment import CaseAssessment


def assessed(
    recalls: Sequence[float | None], tokens: Sequence[int | None], incomplete: str | None = None
) -> CaseAssessment:
    run = conversation("a", recalls, incomplete=incomplete)
    turns = [dataclasses.replace(turn, prompt_tokens=count) for turn, count in zip(run.turns, tokens, strict=True)]
    return dataclasses.replace(run, turns=tuple(turns))


def test_figures_are_means_over_complete_conversations() -> None:
    """-0.2 and 0.0 per thousand tokens give -0.1; a conversation that broke off does not count."""
    runs = [
        assessed([1.0, 0.8], [1000, 2000]),
        assessed([1.0, 1.0], [3000, 4000]),
        assessed([1.0, 0.0], [10, 20], incomplete="turn 3, reply: down"),
    ]
    figures = token_figures(runs)
    assert figures["truth_decay_rate_per_1000_tokens"] == pytest.approx(-0.1)
    assert figures["average_context_tokens_curve"] == [2000, 3000]


def test_turns_past_the_horizon_do_not_count() -> None:
    """Recall that is lost only at turn 11 leaves the rate at 0."""
    run = assessed([1.0] * 10 + [0.0], [1000 * turn for turn in range(1, 12)])
    assert token_figures([run])["truth_decay_rate_per_1000_tokens"] == pytest.approx(0.0)


def test_without_counts_there_is_no_rate() -> None:
    """None, not 0."""
    figures = token_figures([assessed([1.0, 0.5], [None, None])])
    assert figures == {"average_context_tokens_curve": [None, None], "truth_decay_rate_per_1000_tokens": None}


def used(prompt: int | None, completion: int | None) -> CaseAssessment:
    return dataclasses.replace(conversation("a", [1.0]), prompt_tokens=prompt, completion_tokens=completion)


def test_cost_is_tokens_times_prices() -> None:
    """1.5 million prompt tokens at 2 and 0.25 million completion tokens at 8 are 3 and 2: together 5."""
    account = spent([used(1_000_000, 200_000), used(500_000, 50_000)], (2.0, 8.0))
    assert account == {"prompt": 1_500_000, "completion": 250_000, "prices_per_million": [2.0, 8.0], "cost": 5.0}
    assert spent_line(account) == [
        "tokens of the model: 1,500,000 prompt, 250,000 completion, cost 5.00 by the prices given"
    ]


def test_without_prices_there_is_no_cost_and_without_counts_no_account() -> None:
    """None, not 0: a single conversation that was not counted makes the sum unknown."""
    account = spent([used(1000, 10)], None)
    assert account is not None
    assert account["cost"] is None
    assert spent_line(account) == ["tokens of the model: 1,000 prompt, 10 completion"]
    assert spent([used(1000, 10), used(None, None)], (1.0, 1.0)) is None
    assert spent_line(None) == []
