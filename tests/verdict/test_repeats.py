"""Repeats under sampled decoding: the spread within a case, and the flaky ones by name."""

from __future__ import annotations

import datetime

import pytest
from made import flat

from pytest_clinical_drift.verdict.repeats import repeat_figures
from pytest_clinical_drift.verdict.thresholds import load_thresholds

TODAY = datetime.date(2026, 5, 1)


def test_flaky_case_is_named() -> None:
    """Repeats at 0.9, 0.9 and 0.6: two PASS, one FAIL; a case that always fails is not flaky."""
    flaky = [flat("a", level, repeat=number) for number, level in enumerate((0.9, 0.9, 0.6))]
    bad = [flat("b", 0.5, repeat=number) for number in range(3)]
    figures = repeat_figures([flaky, bad], load_thresholds(), TODAY)
    assert figures is not None
    assert [case.case_id for case in figures.flaky] == ["a"]
    assert figures.flaky[0].recalls == (0.9, 0.9, 0.6)
    # squares around 0.8: 0.01 + 0.01 + 0.04 = 0.06, over 6 conversations less 2 cases
    assert figures.recall.within_sd == pytest.approx((0.06 / 4) ** 0.5)
    assert figures.flaky[0].verdicts == ("PASS", "PASS", "FAIL")


def test_single_conversations_have_no_spread() -> None:
    """Without repeats there is nothing to tell."""
    assert repeat_figures([[flat("a")], [flat("b")]], load_thresholds(), TODAY) is None
