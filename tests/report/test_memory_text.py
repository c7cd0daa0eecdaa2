"""Horizons in words, and the chart with turns below and tokens above."""

from __future__ import annotations

import pytest

from pytest_clinical_drift.metrics.horizon import Horizon
from pytest_clinical_drift.report.memory import horizon_text
from pytest_clinical_drift.report.svg import Line, curve_chart


@pytest.mark.parametrize(
    ("horizon", "text"),
    [
        (None, "not evaluated"),
        (Horizon(None, 160, None, 160, 60), "at least 160"),
        (Horizon(None, 80, None, 160, 60), "at least 160 (80 to beyond 160)"),
        (Horizon(71.4, 60, 100, 160, 60), "turn 71 (60 to 100)"),
        (Horizon(1.0, 0, 2, 160, 60), "turn 1 (before 1 to 2)"),
        (Horizon(150.2, 120, None, 160, 60), "turn 150 (120 to beyond 160)"),
        (Horizon(33.0, None, None, 40, 6), "turn 33 (no interval below 17 cases)"),
        (Horizon(None, None, None, 40, 6), "at least 40 (no interval below 17 cases)"),
    ],
)
def test_a_horizon_in_words(horizon: Horizon | None, text: str) -> None:
    """An interval with its point; the point alone where there are too few cases."""
    assert horizon_text(horizon) == text


def test_a_long_chart_has_both_axes() -> None:
    """Some ten turns are named, each with the tokens of the last probe up to it; the line joins the probes."""
    values = [1.0] * 20 + [None] * 140
    values[39] = values[159] = 0.5
    probed = [*range(1, 21), 40, 160]
    chart = curve_chart(
        "t", [Line("recall", values, "line-main")], probed=probed, tokens={turn: 100.0 * turn for turn in probed}
    )
    assert chart.count("<polyline") == 1
    assert ">160</text>" in chart
    assert ">16.0k</text>" in chart
    assert ">4.0k</text>" in chart
    assert "prompt tokens" in chart
    assert "turn 160 0.50" in chart
    assert chart.count('class="axis"') < 40


def test_a_short_chart_has_one_axis() -> None:
    """Every turn is named; a turn without a value breaks the line."""
    chart = curve_chart("t", [Line("recall", [1.0, 0.9, None, 0.8, 0.7], "line-main")])
    assert "prompt tokens" not in chart
    assert chart.count("<polyline") == 2
