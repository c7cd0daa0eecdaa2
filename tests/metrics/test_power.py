"""What a number of cases can show."""

from __future__ import annotations

import pytest

from pytest_clinical_drift.metrics.paired import RECALL, Odds, case_sd, comparison_odds, estimate_power
from pytest_clinical_drift.report.page import text_lines


def test_case_sd_by_hand() -> None:
    """0.9 · 0.1 / 6 · (1 + 5 · 0.2) = 0.03; independent facts: 0.015."""
    assert case_sd(0.9, 6, 0.2) == pytest.approx(0.03**0.5)
    assert case_sd(0.9, 6, 0.0) == pytest.approx(0.015**0.5)


def test_a_loss_of_exactly_the_margin_is_let_through_by_alpha() -> None:
    """By construction, for many cases: 2.5 %."""
    odds = comparison_odds(cases=5000, drop=0.05, margin=0.05, error_sd=0.15)
    assert odds.not_worse == pytest.approx(0.025, abs=0.001)
    assert odds.worse + odds.undecided + odds.not_worse == pytest.approx(1.0)


def test_power_agrees_with_statsmodels() -> None:
    """One metric, one-sided, many cases: the power of the paired t test."""
    power = pytest.importorskip("statsmodels.stats.power")
    expected = power.TTestPower().power(effect_size=0.02 / 0.15, nobs=400, alpha=0.025, alternative="larger")
    found = comparison_odds(cases=400, drop=0.02, margin=0.02, error_sd=0.15, claims=1)
    # the stretch of the interval costs a little power
    assert expected - 0.02 < found.worse < expected


def test_more_cases_catch_more() -> None:
    """The chance of catching rises with cases and with the drop; the false alarm stays small."""
    caught = [estimate_power(cases=cases, drop=0.08).caught.worse for cases in (20, 60, 200)]
    assert caught == sorted(caught)
    assert estimate_power(cases=60, drop=0.2).caught.worse > 0.99
    assert estimate_power(cases=60, drop=0.08).unchanged.worse < 0.025


def test_pairing_halves_the_cases() -> None:
    """At correlation 0.6 the difference of two models has 0.4 of the variance that it has on different cases."""
    paired = estimate_power(cases=60, drop=0.1, sd=0.2, correlation=0.6).needed
    unpaired = estimate_power(cases=60, drop=0.1, sd=0.2, correlation=0.0).needed
    assert paired is not None
    assert unpaired is not None
    assert paired <= unpaired / 2
    by_hand = [n for n in range(2, 500) if estimate_power(cases=n, drop=0.1, sd=0.2).caught.worse >= 0.8]
    assert paired == by_hand[0]


def test_a_drop_within_the_margin_cannot_be_caught_by_more_cases() -> None:
    """With ever more cases a loss of 0.01 is shown to be within the margin of 0.05."""
    found = estimate_power(cases=60, drop=0.01)
    assert found.needed is None
    assert "lies within the margin" in " ".join(text_lines("power.txt.j2", "lines", power=found))


def test_text_names_chance_and_false_alarm() -> None:
    """The sentence a user came for."""
    text = " ".join(text_lines("power.txt.j2", "lines", power=estimate_power(cases=60, drop=0.1)))
    assert "60 cases" in text
    assert "called worse (FAIL) in 9" in text
    assert "false alarm" in text


@pytest.mark.parametrize("cases", [0, 1])
def test_no_cases_decide_nothing(cases: int) -> None:
    """Fewer than two cases are always undecided."""
    assert estimate_power(cases=cases, drop=0.1).caught == Odds(worse=0.0, undecided=1.0, not_worse=0.0)


@pytest.mark.parametrize(("given", "before", "after"), [(None, case_sd(), case_sd(RECALL - 0.1)), (0.2, 0.2, 0.2)])
def test_a_worse_model_scatters_more_unless_its_spread_is_given(
    given: float | None, before: float, after: float
) -> None:
    """The variance of a paired difference by hand: before² + after² - 2 · correlation · before · after."""
    error = (before**2 + after**2 - 2 * 0.6 * before * after) ** 0.5
    found = estimate_power(cases=60, drop=0.1, sd=given, correlation=0.6).caught
    assert found == pytest.approx(comparison_odds(cases=60, drop=0.1, margin=0.05, error_sd=error))


@pytest.mark.parametrize("cases", [2, 60, 400])
@pytest.mark.parametrize("drop", [0.0, 0.03, 0.08])
def test_odds_are_those_of_the_normal_curve(cases: int, drop: float) -> None:
    """One-sided limits by Student's t, stretched by six units as the bootstrap's are; a claim at a third of alpha."""
    from scipy.stats import norm, t

    error = 0.15 / cases**0.5
    reach = error * ((cases + 6) / (cases - 1)) ** 0.5
    wing, claim = (t.ppf(1 - tail, cases - 1) * reach for tail in (0.025, 0.025 / 3))
    found = comparison_odds(cases=cases, drop=drop, margin=0.05, error_sd=0.15)
    not_worse = norm.cdf((0.05 - drop - wing) / error)
    worse = norm.cdf((min(-claim, wing - 0.05) + drop) / error)
    assert (found.not_worse, found.worse) == pytest.approx((not_worse, worse), abs=1e-9)
    assert found.undecided == pytest.approx(max(0.0, 1 - worse - not_worse), abs=1e-9)


def test_an_estimate_says_what_it_rests_on() -> None:
    """Unless told otherwise: margin 0.05, alpha 0.025, correlation 0.6, a typical case."""
    found = estimate_power(cases=60, drop=0.1)
    assert (found.cases, found.drop, found.margin, found.correlation) == (60, 0.1, 0.05, 0.6)
    assert found.case_sd == case_sd() == pytest.approx(0.03**0.5)
    assert found == estimate_power(cases=60, drop=0.1, margin=0.05, correlation=0.6)
    same = (2 * 0.03 * (1 - 0.6)) ** 0.5
    assert found.unchanged == pytest.approx(comparison_odds(cases=60, drop=0.0, margin=0.05, error_sd=same))
    usual, told, stricter = (
        comparison_odds(cases=60, drop=0.1, margin=0.05, error_sd=same, **alpha)
        for alpha in ({}, {"alpha": 0.025}, {"alpha": 0.001})
    )
    assert stricter.worse < usual.worse == told.worse


def test_a_model_that_loses_everything_scatters_no_more() -> None:
    """A drop beyond the baseline's own recall leaves 0 in every case, not a negative recall."""
    found = estimate_power(cases=60, drop=0.95)
    assert found.caught == pytest.approx(comparison_odds(cases=60, drop=0.95, margin=0.05, error_sd=case_sd()))


def test_without_scatter_two_cases_are_enough() -> None:
    """Two are the fewest that have an error at all."""
    found = estimate_power(cases=2, drop=0.1, sd=0.0)
    assert (found.needed, found.caught.worse, found.unchanged.worse) == (2, pytest.approx(1.0), pytest.approx(0.0))
