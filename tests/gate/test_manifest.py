"""The account of tokens in a run's manifest."""

from __future__ import annotations

import dataclasses

from made import conversation

from pytest_clinical_drift.gate.set_result import counts_of
from pytest_clinical_drift.results.manifest import TokenCounts
from pytest_clinical_drift.scoring.assessment import CaseAssessment


def used(prompt: int | None, completion: int | None) -> CaseAssessment:
    return dataclasses.replace(conversation("a", [1.0]), prompt_tokens=prompt, completion_tokens=completion)


def test_cost_is_tokens_times_prices() -> None:
    """1.5 million prompt tokens at 2 and 0.25 million completion tokens at 8 are 3 and 2: together 5."""
    account = counts_of([used(1_000_000, 200_000), used(500_000, 50_000)], (2.0, 8.0))["tokens"]
    assert account == TokenCounts(prompt=1_500_000, completion=250_000, prices_per_million=(2.0, 8.0), cost=5.0)


def test_without_prices_there_is_no_cost_and_without_counts_no_account() -> None:
    """None, not 0: a single conversation that was not counted makes the sum unknown."""
    account = counts_of([used(1000, 10)], None)["tokens"]
    assert account is not None
    assert account.cost is None
    assert counts_of([used(1000, 10), used(None, None)], (1.0, 1.0))["tokens"] is None
