"""The token-normalised truth decay rate."""

from __future__ import annotations

import pytest

from pytest_clinical_drift.metrics.recall import token_decay_rate


def test_recall_lost_per_thousand_tokens() -> None:
    """From 1.0 at 1,000 tokens to 0.8 at 2,000 and 0.6 at 3,000: a fifth per thousand."""
    assert token_decay_rate([1.0, 0.8, 0.6], [1000, 2000, 3000]) == pytest.approx(-0.2)


def test_the_same_loss_over_a_faster_growing_context_is_slower_decay() -> None:
    """Verbose replies fill the context: per turn both lose 0.1, per token the verbose one loses half as much."""
    curve = [1.0, 0.9, 0.8]
    assert token_decay_rate(curve, [500, 1000, 1500]) == pytest.approx(-0.2)
    assert token_decay_rate(curve, [500, 1500, 2500]) == pytest.approx(-0.1)


def test_turns_without_recall_or_count_are_left_out() -> None:
    """The points (1k, 1.0) and (3k, 0.5) remain: minus a quarter per thousand."""
    assert token_decay_rate([1.0, None, 0.5, 0.1], [1000, 2000, 3000, None]) == pytest.approx(-0.25)


@pytest.mark.parametrize(
    ("curve", "tokens"),
    [([], []), ([1.0], [1000]), ([1.0, 0.5], [None, None]), ([1.0, 0.5], [1000, 1000]), ([1.0, None], [1000, 2000])],
)
def test_undefined_is_none(curve: list[float | None], tokens: list[int | None]) -> None:
    """Fewer than two points, or a context that did not grow: there is no rate."""
    assert token_decay_rate(curve, tokens) is None


def test_curve_and_counts_belong_to_the_same_turns() -> None:
    """Different lengths are a mistake of the caller."""
    with pytest.raises(ValueError, match="argument 2 is shorter"):
        token_decay_rate([1.0, 0.5], [1000])
