"""Horizons in words, and the chart with turns below and tokens above."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import pytest
from made import conversation, flat
from records import record

from pytest_clinical_drift.metrics.horizon import Horizon
from pytest_clinical_drift.report.charts import Extras, Line, curve_chart
from pytest_clinical_drift.report.compare import render_markdown
from pytest_clinical_drift.report.html import render_report
from pytest_clinical_drift.report.memory import horizon_text, memory_lines
from pytest_clinical_drift.report.terminal import render_summary
from pytest_clinical_drift.results.comparing import NamedRun
from pytest_clinical_drift.results.releases import Sheet, standing_of
from pytest_clinical_drift.scoring.assessment import CaseAssessment, EntityScores
from pytest_clinical_drift.verdict.thresholds import load_thresholds


@pytest.mark.parametrize(
    ("horizon", "text"),
    [
        (None, "not evaluated"),
        (Horizon(None, 160, None, 160, 60), "at least 160"),
        (Horizon(None, 80, None, 160, 60), "at least 160 (80 to beyond 160)"),
        (Horizon(71.4, 60, 100, 160, 60), "turn 71 (60 to 100)"),
        (Horizon(1.0, 0, 2, 160, 60), "before turn 1 (before 1 to 2)"),
        (Horizon(1.0, 0, 1, 160, 60), "before turn 1"),
        (Horizon(150.2, 120, None, 160, 60), "turn 150 (120 to beyond 160)"),
        (Horizon(70.8, 60, 100, 160, 60), "turn 70 (60 to 100)"),
        (Horizon(33.0, None, None, 40, 6), "turn 32 (no interval below 17 cases)"),
        (Horizon(None, None, None, 40, 6), "at least 40 (no interval below 17 cases)"),
    ],
)
def test_a_horizon_in_words(horizon: Horizon | None, text: str) -> None:
    """An interval with its point, the last turn above the limit (on it is not above); too few cases: the point."""
    assert horizon_text(horizon) == text


def test_recall_at_the_end_is_told_apart_from_the_last_summary() -> None:
    """A fact lost at the last summary alone is not lost at the end: two figures for one turn, and a line that says why.

    Of 20 facts 2 are lost at turns 11 and 12, and 8 more at turn 12: 0.90 at the end, 0.50 at the last summary.
    """
    shown = record(conversation("a", [1.0] * 10 + [0.9, 0.5]))
    at_end = shown.judgement("recall_at_end")
    assert at_end is not None
    assert at_end.value == pytest.approx(0.9)
    told = (
        "recall at the end (0.90) counts a fact as lost only where the last two summaries lack it; the last one alone"
    )
    assert f"{told}: 0.50" in " ".join(" ".join(memory_lines(shown)).split())
    page = render_report(shown, {}, thresholds=load_thresholds(), standing=standing_of(shown, "f" * 64, Sheet()))
    assert f"R{told[1:]}: 0.50" in page
    assert "counts a fact as lost" not in " ".join(memory_lines(record(flat("a", 0.5))))


def test_a_long_chart_has_both_axes() -> None:
    """Some ten turns are named, each with the tokens of the last probe up to it; the line joins the probes."""
    values = dict.fromkeys(range(1, 21), 1.0) | {40: 0.5, 160: 0.5}
    chart = curve_chart(
        "t", 160, [Line("recall", values, "line-main")], Extras(tokens={turn: 100.0 * turn for turn in values})
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
    chart = curve_chart("t", 5, [Line("recall", {1: 1.0, 2: 0.9, 3: None, 4: 0.8, 5: 0.7}, "line-main")])
    assert "prompt tokens" not in chart
    assert chart.count("<polyline") == 2


def probed(case_id: str, curve: Sequence[float], schedule: Sequence[int]) -> CaseAssessment:
    """A conversation that is probed on these turns, after a hundred tokens a turn."""
    run = conversation(case_id, curve)
    turns = [dataclasses.replace(t, scheduled=t.turn in schedule, prompt_tokens=100 * t.turn) for t in run.turns]
    return dataclasses.replace(run, turns=tuple(turns))


def test_a_long_run_shows_its_probes() -> None:
    """Turns 1, 5, 10 and 20, then every scheduled one, with recall, interval, tokens and cases; none of a short run.

    Of twenty cases two keep half of their facts from turn 30 on: the mean is 0.95.
    """
    schedule = [*range(1, 21), 30, 40]
    cases = [probed(f"c{number}", [1.0] * 29 + [0.5 if number < 2 else 1.0] * 11, schedule) for number in range(20)]
    result = record(*cases)
    shown = [line.split() for line in render_summary(result, "m", width=100)]
    place = next(at for at, cells in enumerate(shown) if cells[:2] == ["turn", "recall"])
    rows = shown[place + 1 : place + 7]
    assert [cells[0] for cells in rows] == ["1", "5", "10", "20", "30", "40"]
    assert [cells[1] for cells in rows] == ["1.00"] * 4 + ["0.95"] * 2
    assert [cells[-2:] for cells in rows][-2:] == [["3,000", "20"], ["4,000", "20"]]
    assert result.memory is not None
    low, high = result.memory.probes[-1].low, result.memory.probes[-1].high
    assert rows[-1][2:5] == [f"{low:.2f}", "to", f"{high:.2f}"]
    short = record(*[probed(f"c{number}", [1.0] * 20, range(1, 21)) for number in range(20)])
    assert not [line for line in render_summary(short, "m", width=100) if line.split()[:2] == ["turn", "recall"]]


def test_a_comparison_has_recall_by_turn_in_figures() -> None:
    """A column per scheduled probe."""
    run = probed("x", [1.0] * 11 + [0.8], [1, 10, 12])
    scored = [dataclasses.replace(turn, critical=EntityScores(turn.recall, None, None, None)) for turn in run.turns]
    runs = [NamedRun("a", record(dataclasses.replace(run, turns=tuple(scored))))]
    text = " ".join(render_markdown(runs, []).split())
    assert "| mean recall, turn | 1 | 10 | 12 |" in text
    assert "| a | 1.00 | 1.00 | 0.80 |" in text
