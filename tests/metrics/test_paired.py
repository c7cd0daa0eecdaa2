"""Paired comparison with an earlier model: by hand, and where nothing moved."""

from __future__ import annotations

import pytest

from pytest_clinical_drift.metrics.paired import compare_paired

CASES = [f"c{number}" for number in range(60)]
WAVE = [0.02 * (number % 5 - 2) for number in range(60)]
"""Differences of mean 0."""


@pytest.mark.parametrize(
    ("loss", "verdict"),
    [(0.0, "not worse"), (-0.05, "not worse"), (0.30, "worse"), (0.05, "worse")],
)
def test_verdicts(loss: float, verdict: str) -> None:
    """A small scatter decides clearly; a loss of exactly the margin is a loss, and is not ruled out."""
    old = [0.9] * 60
    new = [before - loss + wave for before, wave in zip(old, WAVE, strict=True)]
    found = compare_paired(new, old, CASES, margin=0.05)
    assert found.verdict == verdict
    assert found.difference == pytest.approx(-loss)
    assert found.pairs == 60


def test_loss_within_the_margin_is_not_worse() -> None:
    """A loss of 0.02, shown beyond doubt, is still within the margin of 0.05."""
    new = [0.88 + wave for wave in WAVE]
    assert compare_paired(new, [0.9] * 60, CASES, margin=0.05).verdict == "not worse"


def test_large_scatter_is_undecided() -> None:
    """Cases that go up and down by 0.5 show nothing at this size."""
    new = [0.5 + (0.5 if number % 2 else -0.5) for number in range(60)]
    assert compare_paired(new, [0.5] * 60, CASES, margin=0.05).verdict == "undecided"


def test_lower_is_better_turns_the_sign() -> None:
    """A conflict rate that rises by 0.2 is worse."""
    new = [0.2 + wave for wave in WAVE]
    found = compare_paired(new, [0.0] * 60, CASES, margin=0.03, higher_is_better=False)
    assert found.verdict == "worse"
    assert found.difference == pytest.approx(-0.2)


def test_nothing_moved() -> None:
    """The same values twice: not worse, with the exact limit for a case that would lose half and was not seen."""
    found = compare_paired([0.9] * 60, [0.9] * 60, CASES, margin=0.05)
    assert found.verdict == "not worse"
    assert found.interval is not None
    assert found.interval.low == pytest.approx(-0.5 * (1 - 0.025 ** (1 / 60)))
    few = compare_paired([0.9] * 5, [0.9] * 5, CASES[:5], margin=0.05)
    assert few.verdict == "undecided"


def test_no_pair_is_undecided() -> None:
    """Nothing to compare decides nothing."""
    found = compare_paired([], [], [], margin=0.05)
    assert (found.verdict, found.difference, found.interval, found.pairs) == ("undecided", None, None, 0)


def test_more_claims_need_more_evidence() -> None:
    """A loss that one metric would call worse is not enough when three may raise the alarm."""
    new = [0.9 - 0.045 + 0.19 * (1 if number % 2 else -1) for number in range(60)]
    alone = compare_paired(new, [0.9] * 60, CASES, margin=0.05, alpha=0.05)
    one_of_three = compare_paired(new, [0.9] * 60, CASES, margin=0.05, alpha=0.05, claims=3)
    assert (alone.verdict, one_of_three.verdict) == ("worse", "undecided")


def test_the_careful_end_is_the_loss() -> None:
    """Differences that lie evenly about 0: the limit on which "not worse" rests reaches further than the other."""
    interval = compare_paired([0.9 + wave for wave in WAVE], [0.9] * 60, CASES, margin=0.05).interval
    assert interval is not None
    assert -interval.low > interval.high > 0


def test_a_loss_of_exactly_the_margin_is_not_ruled_out() -> None:
    """The margin put on the lower limit itself: undecided; a hair wider: not worse."""
    new, old = [0.9 + wave for wave in WAVE], [0.9] * 60
    interval = compare_paired(new, old, CASES, margin=0.05).interval
    assert interval is not None
    assert compare_paired(new, old, CASES, margin=-interval.low).verdict == "undecided"
    assert compare_paired(new, old, CASES, margin=-interval.low + 1e-9).verdict == "not worse"


def test_the_largest_possible_difference_bounds_the_limits() -> None:
    """Slopes differ by 0.3 at most: nothing moved leaves half of it for what was not seen; one that moved all of it."""
    still = compare_paired([0.0] * 60, [0.0] * 60, CASES, margin=0.01, span=0.3).interval
    assert still is not None
    unseen = 0.15 * (1 - 0.025 ** (1 / 60))
    assert (still.low, still.high) == pytest.approx((-unseen, unseen))
    two = compare_paired([0.3, -0.3], [0.0, 0.0], CASES[:2], margin=0.01, span=0.3).interval
    assert two is not None
    assert (two.low, two.high) == pytest.approx((-0.3, 0.3))


def test_the_confidence_is_two_sided() -> None:
    """alpha 0.025 on each side unless told otherwise: 1 - 2 alpha, so 60 equal pairs leave 1 - alpha^(1/60) unseen."""
    for given, alpha in (({}, 0.025), ({"alpha": 0.1}, 0.1)):
        found = compare_paired([0.5] * 60, [0.5] * 60, CASES, margin=0.05, **given).interval
        assert found is not None
        assert found.low == pytest.approx(-0.5 * (1 - alpha ** (1 / 60)))


def test_a_loss_is_shown_only_below_nought() -> None:
    """Losses of 0.2 in some cases and none in others, within a wide margin or a narrow one."""
    new = [0.9 - 0.2 * (number % 2) for number in range(60)]
    assert compare_paired(new, [0.9] * 60, CASES, margin=0.5).verdict == "not worse"
    assert compare_paired(new, [0.9] * 60, CASES, margin=0.05).verdict == "worse"
    assert compare_paired([0.9] * 60, new, CASES, margin=0.05).verdict == "not worse"
