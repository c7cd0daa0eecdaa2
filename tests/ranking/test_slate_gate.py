"""From figures to a verdict: limits, doubt, and what was not observed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from small_slate import OUTCOMES, ROWS

from pytest_clinical_drift.metrics.intervals import Interval
from pytest_clinical_drift.ranking.figure_types import Figure, SlateCode, SlateJudgement, SlateReason
from pytest_clinical_drift.ranking.gate import judge, judge_prospective, judge_slate, slate_figure
from pytest_clinical_drift.ranking.prospective import ViewFigures, evaluate
from pytest_clinical_drift.ranking.slate import Slate
from pytest_clinical_drift.ranking.view import prospective
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
    assert judge(PRIMARY, figure, LIMITS, needs_interval=True).verdict == verdict


@pytest.mark.parametrize(("gap", "verdict"), [(0.01, "PASS"), (0.0, "CAUTION"), (-0.01, "FAIL")])
def test_inverted_calibration_fails(gap: float, verdict: str) -> None:
    """Hits must score above misses."""
    assert RULES is not None
    figure = Figure(gap, 100, "", Interval(gap - 0.001 if gap < 0 else gap / 2, gap + 0.01, "bootstrap", 7))
    assert judge("score_gap", figure, RULES.metrics["score_gap"], needs_interval=True).verdict == verdict


def gate(write_slate: Callable[..., Slate], *arguments: object) -> ViewFigures:
    return evaluate(prospective(write_slate(*arguments)))


def test_nothing_prospective_is_never_judged(write_slate: Callable[..., Slate]) -> None:
    """No outcome after the freeze anywhere: not evaluated, and the reason says so."""
    judged = judge_prospective(gate(write_slate, ROWS, []), PRIMARY, LIMITS, followed=True)
    assert (judged.verdict, judged.detail) == ("not evaluated", SlateReason(SlateCode.NOTHING_OBSERVED))


def test_outcomes_outside_the_slate_only_are_a_failure(write_slate: Callable[..., Slate]) -> None:
    """Something happened, to drugs of the same popularity, and the slate foresaw none of it."""
    elsewhere = [("s1", "Xanthosis", "Cora", "first_trial_seen", "2025-06-01", "x", "")]
    judged = judge_prospective(gate(write_slate, ROWS, elsewhere), PRIMARY, LIMITS, followed=True)
    assert judged.verdict == "FAIL"
    assert judged.figure.value == 0.0


def test_missing_baseline_is_not_evaluated(write_slate: Callable[..., Slate], tmp_path: Path) -> None:
    """Without candidates the primary figure has no value, however many outcomes there are."""
    judged = judge_prospective(gate(write_slate, ROWS, OUTCOMES, None, None), PRIMARY, LIMITS, followed=False)
    assert judged.verdict == "not evaluated"
    assert "no candidates" in str(judged.detail)


def test_followed_only_in_the_slate_is_not_a_pass(write_slate: Callable[..., Slate]) -> None:
    """If nobody looked outside the slate the baseline is too low; that caps a PASS."""
    figures = gate(write_slate)
    cell = figures.tiers["high"]
    good = Figure(2.0, 2, "", Interval(1.5, 2.5, "bootstrap", 9))
    tiers = {**figures.tiers, "high": replace(cell, figures={**cell.figures, "enrichment_vs_popularity": good})}
    figures = replace(figures, tiers=tiers)
    assert judge_prospective(figures, PRIMARY, LIMITS, followed=True).verdict == "PASS"
    capped = judge_prospective(figures, PRIMARY, LIMITS, followed=False)
    assert capped.verdict == "CAUTION"
    assert "outside the slate" in str(capped.detail)


def test_names_of_figures(write_slate: Callable[..., Slate]) -> None:
    """A tier at the end means that tier, none the whole slate; a tier the slate has not is told."""
    figures = gate(write_slate)
    assert slate_figure(figures, "enrichment_vs_popularity_high").value == pytest.approx(2 / 3)
    assert slate_figure(figures, "score_gap").value == pytest.approx(0.15)
    assert "no open prediction in the exploratory tier" in str(slate_figure(figures, "hit_rate_exploratory").reason)


def judged(verdict: str, metric: str = PRIMARY) -> SlateJudgement:
    value = None if verdict == "not evaluated" else 1.0
    return SlateJudgement(metric, verdict, Figure(value, 1), "", "why")


@pytest.mark.parametrize(
    ("judgements", "integrity", "proven", "expected"),
    [
        ([judged("PASS")], [], True, "PASS"),
        ([judged("PASS")], [], False, "CAUTION"),
        ([judged("PASS")], ["predictions.csv was changed"], True, "FAIL"),
        ([judged("PASS"), judged("CAUTION", "a")], [], True, "CAUTION"),
        ([judged("PASS"), judged("not evaluated", "a")], [], True, "CAUTION"),
        ([judged("PASS"), judged("FAIL", "a")], [], True, "FAIL"),
        ([judged("not evaluated"), judged("PASS", "a")], [], True, "not evaluated"),
        ([judged("not evaluated"), judged("FAIL", "a")], [], True, "FAIL"),
        ([], [], True, "not evaluated"),
    ],
)
def test_verdict_of_a_slate(
    judgements: list[SlateJudgement], integrity: list[str], proven: bool, expected: str
) -> None:
    """The worst of what was evaluated; a changed slate fails, an unproven one or a gap never passes."""
    found = judge_slate(judgements, integrity, proven=proven, expected={PRIMARY: None})
    assert found.verdict == expected
    assert found.reasons or expected == "PASS"
