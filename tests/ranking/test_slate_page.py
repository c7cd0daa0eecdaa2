"""The page of a slate: complete, and silent about what was not evaluated."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_clinical_drift.ranking.figures import Figure, SlateCode, SlateReason
from pytest_clinical_drift.ranking.gate import SlateJudgement, SlateVerdict
from pytest_clinical_drift.ranking.run import SlateRun


def test_page_tells_figures_and_reasons(write_folder: Callable[..., Path], tmp_path: Path) -> None:
    """Both readings are on the page, with intervals, reasons for what is missing, and remarks on the data."""
    run = SlateRun(write_folder(labels=None), tmp_path, model="python:a:b")
    run.judged["temporal_auc"] = SlateJudgement(
        "temporal_auc", "PASS", Figure(0.9, 2), per_year={"2016": 0.9, "2017": None}
    )
    record = run.record(SlateVerdict("CAUTION", (SlateReason(SlateCode.NO_INTERVAL),)))
    assert record["prospective"]["tiers"]["high"]["enrichment_vs_random"]["value"] == pytest.approx(1.0)
    page = run.write(record)[1].read_text(encoding="utf-8")
    for words in ("CAUTION", "too few diseases", "0.500", "0.667", "2016: 0.900", "2017: not evaluated"):
        assert words in page
    assert "high, not evaluated: no labels are there" in page
