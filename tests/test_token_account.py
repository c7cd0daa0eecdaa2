"""Token figures of a run, from assessed conversations."""

from __future__ import annotations

import dataclasses

import pytest
from engine_cases import make_case

from pytest_clinical_drift.assessment import CaseAssessment, ConflictFigures, EntityScores, TurnAssessment
from pytest_clinical_drift.token_account import token_figures


def assessed(recalls: list[float | None], tokens: list[int | None], incomplete: str | None = None) -> CaseAssessment:
    nothing = EntityScores(None, None, None, None)
    turns = tuple(
        TurnAssessment(number, (), recall, recall, nothing, nothing, prompt_tokens=count)
        for number, (recall, count) in enumerate(zip(recalls, tokens, strict=True), start=1)
    )
    case = make_case(1)
    return CaseAssessment(
        case_id=case.id,
        persona_id=case.persona_id,
        group=case.persona_id,
        repeat=0,
        horizon=min(len(turns), 10),
        turns=turns,
        slope=None,
        slope_extended=None,
        conflict=ConflictFigures(0, 0, None, "no pair", ()),
        breaches=(),
        hard_stops=(),
        hard_stop_slips=(),
        stale_facts=(),
        contradicted_facts=(),
        incomplete=incomplete,
    )


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
    figures = token_figures([dataclasses.replace(assessed([1.0, 0.5], [None, None]))])
    assert figures == {"average_context_tokens_curve": [None, None], "truth_decay_rate_per_1000_tokens": None}
