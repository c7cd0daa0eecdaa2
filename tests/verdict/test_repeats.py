"""What is shown beside the verdict: the set's curve and line, and repeats that disagree."""

from __future__ import annotations

import datetime

import pytest
from made import READ, conversation, flat

from pytest_clinical_drift.scoring.assessment import CaseAssessment
from pytest_clinical_drift.verdict.memory import Memory, memory_of
from pytest_clinical_drift.verdict.thresholds import load_thresholds
from pytest_clinical_drift.verdict.ungated import repeat_figures

TODAY = datetime.date(2026, 5, 1)
CLIFF = [0.95] * 5 + [0.40] * 5


def memory(cases: list[list[CaseAssessment]]) -> Memory | None:
    return memory_of(cases, (), limit=0.8, confidence=0.95)


def test_line_of_the_mean_curve() -> None:
    """Least squares through a cliff: the sum of products is -0.55 · 12.5, of squares 82.5."""
    found = memory([[conversation(f"c{number}", CLIFF)] for number in range(3)])
    assert found is not None
    assert found.line is not None
    assert found.line.slope == pytest.approx(-0.55 * 12.5 / 82.5)


def test_repeats_are_averaged_before_cases() -> None:
    """A case run three times counts once: (0.4 + 1.0) / 2, not (3 · 0.4 + 1.0) / 4."""
    thrice = [flat("a", 0.4, repeat=number) for number in range(3)]
    found = memory([thrice, [flat("b")]])
    assert found is not None
    assert found.probes[0].recall == pytest.approx(0.7)


def test_nothing_to_tell() -> None:
    """No case, no figures of memory."""
    assert memory([]) is None


def test_the_probes_run_to_the_last_turn() -> None:
    """A loss at turn 12 is among them."""
    found = memory([[conversation("a", [1.0] * 11 + [0.0])]])
    assert found is not None
    assert [probe.recall for probe in found.probes] == [*(1.0,) * 11, 0.0]
    assert found.turns == 12


def test_flaky_case_is_named() -> None:
    """Repeats at 0.9, 0.9 and 0.6: two PASS, one FAIL; a case that always fails is not flaky."""
    flaky = [flat("a", level, repeat=number) for number, level in enumerate((0.9, 0.9, 0.6))]
    bad = [flat("b", 0.5, repeat=number) for number in range(3)]
    figures = repeat_figures([flaky, bad], load_thresholds(), TODAY, READ)
    assert figures is not None
    assert [case.case_id for case in figures.flaky] == ["a"]
    assert figures.flaky[0].recalls == (0.9, 0.9, 0.6)
    # squares around 0.8: 0.01 + 0.01 + 0.04 = 0.06, over 6 conversations less 2 cases
    assert figures.recall_sd == pytest.approx((0.06 / 4) ** 0.5)
    assert figures.flaky[0].verdicts == ("PASS", "PASS", "FAIL")


def test_single_conversations_have_no_spread() -> None:
    """Without repeats there is nothing to tell."""
    assert repeat_figures([[flat("a")], [flat("b")]], load_thresholds(), TODAY) is None
