"""What a number of cases can show."""

import pytest

from pytest_clinical_drift.metrics.paired import (
    RECALL,
    Comparison,
    Odds,
    Power,
    Spread,
    case_sd,
    comparison_odds,
    estimate_power,
)
from pytest_clinical_drift.report.power_text import power_lines

RULES = Comparison(margin=0.05, alpha=0.025, claims=3)


def power(cases: int, drop: float, baseline: Spread | None = None, correlation: float = 0.6) -> Power:
    return estimate_power(cases=cases, drop=drop, rules=RULES, baseline=baseline, correlation=correlation)


def sentences(found: Power) -> str:
    return " ".join(power_lines(found))


def test_case_sd_by_hand() -> None:
    """0.9 · 0.1 / 6 · (1 + 5 · 0.2) = 0.03; independent facts: 0.015."""
    assert case_sd(0.9, 6, 0.2) == pytest.approx(0.03**0.5)
    assert case_sd(0.9, 6, 0.0) == pytest.approx(0.015**0.5)


def test_a_loss_of_exactly_the_margin_is_let_through_by_alpha() -> None:
    """By construction, for many cases: 2.5 %."""
    odds = comparison_odds(cases=5000, drop=0.05, error_sd=0.15, rules=RULES)
    assert odds.not_worse == pytest.approx(0.025, abs=0.001)
    assert odds.worse + odds.undecided + odds.not_worse == pytest.approx(1.0)


def test_power_agrees_with_statsmodels() -> None:
    """One metric, one-sided, many cases: the power of the paired t test."""
    statsmodels = pytest.importorskip("statsmodels.stats.power")
    expected = statsmodels.TTestPower().power(effect_size=0.02 / 0.15, nobs=400, alpha=0.025, alternative="larger")
    found = comparison_odds(cases=400, drop=0.02, error_sd=0.15, rules=Comparison(margin=0.02))
    # the stretch of the interval costs a little power
    assert expected - 0.02 < found.worse < expected


def test_more_cases_catch_more() -> None:
    """The chance of catching rises with cases and with the drop; the false alarm stays small."""
    caught = [power(cases, 0.08).caught.worse for cases in (20, 60, 200)]
    assert caught[0] < caught[1] < caught[2]
    assert power(60, 0.2).caught.worse > 0.99
    assert power(60, 0.08).unchanged.worse < 0.025


def test_pairing_halves_the_cases() -> None:
    """At correlation 0.6 the difference of two models has 0.4 of the variance that it has on different cases."""
    baseline = Spread(0.9, 0.25)
    paired, unpaired = (power(60, 0.1, baseline, correlation).needed for correlation in (0.6, 0.0))
    assert paired is not None
    assert unpaired is not None
    assert paired <= unpaired / 2
    assert paired == next(n for n in range(2, 500) if power(n, 0.1, baseline).caught.worse >= 0.8)


def test_a_drop_within_the_margin_cannot_be_caught_by_more_cases() -> None:
    """With ever more cases a loss of 0.01 is shown to be within the margin of 0.05."""
    found = power(60, 0.01)
    assert found.needed is None
    assert "lies within the margin" in sentences(found)


def test_text_names_chance_and_false_alarm() -> None:
    """The sentence a user came for."""
    text = sentences(power(60, 0.1))
    assert "60 cases" in text
    assert "called worse (FAIL) in 9" in text
    assert "false alarm" in text
    assert "min_cases" not in text


def test_below_min_cases_nothing_is_called_not_worse() -> None:
    """As in a run: the chance of `not worse` becomes `undecided`, that of `worse` stays."""
    many, few = (
        estimate_power(cases=30, drop=0.1, rules=RULES._replace(min_cases=needed)).unchanged for needed in (30, 31)
    )
    assert many.not_worse > 0.2
    assert few == Odds(many.worse, pytest.approx(many.undecided + many.not_worse), 0.0)
    assert "With fewer than 31 cases (min_cases) no model is called not worse." in sentences(
        estimate_power(cases=30, drop=0.1, rules=RULES._replace(min_cases=31))
    )


@pytest.mark.parametrize("cases", [0, 1])
def test_no_cases_decide_nothing(cases: int) -> None:
    """Fewer than two cases are always undecided."""
    assert power(cases, 0.1).caught == Odds(worse=0.0, undecided=1.0, not_worse=0.0)


@pytest.mark.parametrize(
    ("baseline", "before", "after"),
    [
        (None, case_sd(), case_sd(RECALL - 0.1)),
        # a baseline that scatters more than a typical model after the drop: its successor does too
        (Spread(0.9, 0.3), 0.3, 0.3),
        # one that lost nothing does not scatter, its successor does: 0.9 * 0.1 / 6 * 2 = 0.03
        (Spread(1.0, 0.0), 0.0, 0.03**0.5),
        # a model that loses everything has recall 0, not less
        (Spread(0.5, 0.1), 0.1, 0.1),
    ],
)
def test_a_worse_model_scatters_as_a_typical_one_at_least(baseline: Spread | None, before: float, after: float) -> None:
    """The variance of a paired difference by hand: before² + after² - 2 · correlation · before · after."""
    drop = 0.6 if baseline and baseline.mean == 0.5 else 0.1
    error = (before**2 + after**2 - 2 * 0.6 * before * after) ** 0.5
    found = power(60, drop, baseline)
    assert found.caught == pytest.approx(comparison_odds(cases=60, drop=drop, error_sd=error, rules=RULES))
    unchanged = (2 * before**2 * (1 - 0.6)) ** 0.5
    assert found.unchanged == pytest.approx(comparison_odds(cases=60, drop=0.0, error_sd=unchanged, rules=RULES))


@pytest.mark.parametrize("cases", [2, 60, 400])
@pytest.mark.parametrize("drop", [0.0, 0.03, 0.08])
def test_odds_are_those_of_the_normal_curve(cases: int, drop: float) -> None:
    """One-sided limits by Student's t, stretched by six units as the bootstrap's are; a claim at a third of alpha."""
    from scipy.stats import norm, t

    error = 0.15 / cases**0.5
    reach = error * ((cases + 6) / (cases - 1)) ** 0.5
    wing, claim = (t.ppf(1 - tail, cases - 1) * reach for tail in (0.01, 0.01 / 3))
    found = comparison_odds(cases=cases, drop=drop, error_sd=0.15, rules=Comparison(0.05, alpha=0.01, claims=3))
    not_worse = norm.cdf((0.05 - drop - wing) / error)
    worse = norm.cdf((min(-claim, wing - 0.05) + drop) / error)
    assert (found.not_worse, found.worse) == pytest.approx((not_worse, worse), abs=1e-9)
    assert found.undecided == pytest.approx(max(0.0, 1 - worse - not_worse), abs=1e-9)


def test_an_estimate_says_what_it_rests_on() -> None:
    """Cases, drop, rules, and the spread of a typical case."""
    found = power(60, 0.1)
    assert (found.cases, found.drop, found.rules, found.correlation) == (60, 0.1, RULES, 0.6)
    assert found.case_sd == pytest.approx(0.03**0.5)
