"""From figures to a verdict: limits, doubt, and what was not observed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from small_slate import OUTCOMES, ROWS

from pytest_clinical_drift.metrics.intervals import Interval
from pytest_clinical_drift.ranking.figure_types import Figure, SlateCode, SlateReason
from pytest_clinical_drift.ranking.gate import INTEGRITY, GatedSlate, SlateJudgement, SlateRun, judge, slate_figure
from pytest_clinical_drift.verdict.bands import PRIMARY
from pytest_clinical_drift.verdict.thresholds import load_thresholds

RULES = load_thresholds().slate
assert RULES is not None
LIMITS = RULES.metrics[PRIMARY]


@pytest.mark.parametrize(
    ("value", "interval", "verdict"),
    [
        (1.7, (1.31, 2.2), "PASS"),
        (1.7, (1.3, 2.2), "PASS"),
        (1.7, (1.2, 2.2), "CAUTION"),
        (1.3, (1.0, 1.6), "CAUTION"),
        (1.7, (0.9, 2.5), "CAUTION"),
        (1.7, None, "CAUTION"),
        (1.7, (1.7, 1.7), "CAUTION"),
        (1.29, (1.1, 1.5), "CAUTION"),
        (1.0, (0.5, 1.5), "CAUTION"),
        (0.99, (0.5, 3.0), "FAIL"),
        (0.0, (0.0, 0.0), "FAIL"),
    ],
)
def test_bands(value: float, interval: tuple[float, float] | None, verdict: str) -> None:
    """1.3 passes, below 1.0 fails; a good value with an interval that reaches below 1.3, or without one, is CAUTION."""
    figure = Figure(value, 100, "", Interval(*interval, "bootstrap", 7) if interval else None)
    assert judge(PRIMARY, figure, LIMITS).verdict == verdict


@pytest.mark.parametrize(("gap", "verdict"), [(0.01, "PASS"), (0.0, "CAUTION"), (-0.01, "FAIL")])
def test_inverted_calibration_fails(gap: float, verdict: str) -> None:
    """Hits must score above misses."""
    assert RULES is not None
    figure = Figure(gap, 100, "", Interval(gap - 0.001 if gap < 0 else gap / 2, gap + 0.01, "bootstrap", 7))
    assert judge("score_gap", figure, RULES.metrics["score_gap"]).verdict == verdict


@pytest.fixture
def gated(write_folder: Callable[..., Path], tmp_path: Path) -> Callable[..., GatedSlate]:
    """The small slate under test; what is not given is the small example."""

    def gate(*arguments: object) -> GatedSlate:
        (slate,) = SlateRun(write_folder(*arguments), tmp_path).slates.values()
        return slate

    return gate


def test_nothing_prospective_is_never_judged(gated: Callable[..., GatedSlate]) -> None:
    """No outcome after the freeze anywhere: not evaluated, and the reason says so."""
    judged = gated(ROWS, []).run_test(PRIMARY)
    assert (judged.verdict, judged.detail) == ("not evaluated", SlateReason(SlateCode.NOTHING_OBSERVED))


def test_outcomes_outside_the_slate_only_are_a_failure(gated: Callable[..., GatedSlate]) -> None:
    """Something happened, to drugs of the same popularity, and the slate foresaw none of it."""
    elsewhere = [("s1", "Xanthosis", "Cora", "first_trial_seen", "2025-06-01", "x", "")]
    judged = gated(ROWS, elsewhere).run_test(PRIMARY)
    assert judged.verdict == "FAIL"
    assert judged.figure.value == 0.0


def test_missing_baseline_is_not_evaluated(gated: Callable[..., GatedSlate]) -> None:
    """Without candidates the primary figure has no value, however many outcomes there are."""
    judged = gated(ROWS, OUTCOMES, None, None).run_test(PRIMARY)
    assert judged.verdict == "not evaluated"
    assert "no candidates" in str(judged.detail)


@pytest.mark.parametrize(("followed", "verdict"), [(True, "PASS"), (False, "CAUTION")])
def test_followed_only_in_the_slate_is_not_a_pass(
    gated: Callable[..., GatedSlate], followed: bool, verdict: str
) -> None:
    """If nobody looked outside the slate the baseline is too low; that caps a PASS."""
    slate = gated()
    cell = slate.prospective.tiers["high"]
    good = Figure(2.0, 2, "", Interval(1.5, 2.5, "bootstrap", 9))
    high = replace(cell, figures={**cell.figures, "enrichment_vs_popularity": good})
    tiers = {**slate.prospective.tiers, "high": high}
    slate.prospective = replace(slate.prospective, tiers=tiers, followed=followed)
    judged = slate.run_test(PRIMARY)
    assert judged.verdict == verdict
    assert followed or "outside the slate" in str(judged.detail)


def test_names_of_figures(gated: Callable[..., GatedSlate]) -> None:
    """A tier at the end means that tier, none the whole slate; a tier the slate has not is told."""
    figures = gated().prospective
    assert slate_figure(figures, "enrichment_vs_popularity_high").value == pytest.approx(2 / 3)
    assert slate_figure(figures, "score_gap").value == pytest.approx(0.15)
    assert "no open prediction in the exploratory tier" in str(slate_figure(figures, "hit_rate_exploratory").reason)


def judged(verdict: str, metric: str = PRIMARY) -> SlateJudgement:
    value = None if verdict == "not evaluated" else 1.0
    return SlateJudgement(metric, verdict, Figure(value, 1), "", "why")


@pytest.mark.parametrize(
    ("judgements", "integrity", "expected"),
    [
        ([judged("PASS")], "PASS", "PASS"),
        ([judged("PASS")], "not evaluated", "CAUTION"),
        ([judged("PASS")], "FAIL", "FAIL"),
        ([judged("PASS"), judged("CAUTION", "a")], "PASS", "CAUTION"),
        ([judged("PASS"), judged("not evaluated", "a")], "PASS", "CAUTION"),
        ([judged("PASS"), judged("FAIL", "a")], "PASS", "FAIL"),
        ([judged("not evaluated"), judged("PASS", "a")], "PASS", "not evaluated"),
        ([judged("not evaluated"), judged("FAIL", "a")], "PASS", "FAIL"),
        ([], "PASS", "not evaluated"),
    ],
)
def test_verdict_of_a_slate(
    gated: Callable[..., GatedSlate], judgements: list[SlateJudgement], integrity: str, expected: str
) -> None:
    """The worst of what was evaluated; a changed slate fails, an unproven one or a gap never passes."""
    slate = gated()
    slate.judged = {item.metric: item for item in (judged(integrity, INTEGRITY), *judgements)}
    slate.tests = tuple(slate.judged)
    verdict, reasons = slate.verdict()
    assert verdict == expected
    assert reasons or expected == "PASS"
