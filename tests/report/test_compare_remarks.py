"""What is remarked of two runs stands in every form of their comparison."""

from __future__ import annotations

from pathlib import Path

from compared_runs import UP_AND_DOWN, reopened, write

from pytest_clinical_drift.report.compare import render_html, render_markdown, render_text
from pytest_clinical_drift.results.comparing import load_runs, paired_differences
from pytest_clinical_drift.verdict.thresholds import BaselineRules


def test_the_remark_stands_beside_not_worse(tmp_path: Path) -> None:
    """In every form of the comparison: 36.5 of 40, and 0.8 less with what is open in the first case."""
    runs = load_runs([reopened(write(tmp_path / name, UP_AND_DOWN), 0.1, "unread") for name in ("old", "new")])
    differences = paired_differences(runs, BaselineRules())
    assert differences[0].recall is not None
    assert differences[0].recall.verdict == "not worse"
    told = "recall not read to the end: old 0.91, 0.89 with open alarms; new 0.91, 0.89 with open alarms"
    assert told in " ".join(render_markdown(runs, differences).split())
    assert told in render_html(runs, differences)
    assert "recall not read to" in render_text(runs, differences, 120)
