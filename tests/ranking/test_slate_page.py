"""Charts and page of a slate: well-formed, complete, and silent about what was not evaluated."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from pytest_clinical_drift.ranking.figure_types import Figure, SlateCode, SlateReason
from pytest_clinical_drift.ranking.gate import SlateJudgement, SlateRun
from pytest_clinical_drift.ranking.page import render_slate
from pytest_clinical_drift.ranking.slate_charts import calibration, forest, time_to_event
from pytest_clinical_drift.report.page import environment
from pytest_clinical_drift.verdict.bands import PRIMARY


def drawn(name: str, chart: Any) -> ElementTree.Element:
    """The chart as the template draws it; parsing it at all shows that it is well-formed."""
    macros: Any = environment().get_template("slate_charts.html.j2").module
    return ElementTree.fromstring(str(getattr(macros, name)("Title", chart)).strip())


def enrichment(value: float | None, *interval: float) -> dict[str, Any]:
    figure = {"value": value, "n": 1, **({"interval": list(interval)} if interval else {})}
    return {"enrichment_vs_popularity": figure}


def test_forest_shows_what_is_known() -> None:
    """A dot per value, a whisker per interval; a row without value says so; names are text; 2.3 ends below 5."""
    cells = [("<b>high</b>", enrichment(1.7, 1.2, 2.3)), ("low", enrichment(0.8)), ("none", enrichment(None))]
    chart = forest(cells)
    assert chart.top == 5.0
    svg = drawn("forest", chart)
    assert [circle.get("cx") for circle in svg.iter("circle")] == ["366.0", "294.0"]  # 230 + 400 × 1.7 / 5, × 0.8 / 5
    (whisker,) = [line for line in svg.iter("line") if line.get("class") == "whisker"]
    assert (whisker.get("x1"), whisker.get("x2")) == ("326.0", "414.0")
    texts = [item.text for item in svg.iter("text")]
    assert "<b>high</b>" in texts
    assert "not evaluated" in texts


def test_no_bar_mixes_before_and_after_the_freeze() -> None:
    """Events before day 0 and from day 0 on fall in different bars, whatever the span; every event is in one."""
    svg = drawn("time_to_event", time_to_event([-4000, -700, -1, 0, 3, 90, 91]))
    counts = {"before": 0, "after": 0}
    for bar in svg.iter("rect"):
        counts[str(bar.get("class"))] += int(str(bar.findtext("title")).rpartition(": ")[2])
    assert counts == {"before": 3, "after": 4}
    assert "4 on or before the day of the freeze, 3 after it" in str(svg.get("aria-label"))
    assert len(list(drawn("time_to_event", time_to_event([5])).iter("rect"))) == 1
    assert time_to_event([]) is None


def test_calibration_chart() -> None:
    """One dot per bin, higher for a higher rate; equal scores and no hit at all can be drawn too."""
    bins = [{"mean_score": 0.2, "predictions": 20, "hits": 2}, {"mean_score": 0.9, "predictions": 20, "hits": 10}]
    dots = list(drawn("calibration", calibration(bins)).iter("circle"))
    assert [dot.get("cx") for dot in dots] == ["52.0", "704.0"]
    assert float(str(dots[0].get("cy"))) > float(str(dots[1].get("cy")))
    flat = calibration([{"mean_score": 0.5, "predictions": 3, "hits": 0}])
    assert len(list(drawn("calibration", flat).iter("circle"))) == 1
    assert calibration([]) is None


def test_page_tells_figures_and_reasons(write_folder: Callable[..., Path], tmp_path: Path) -> None:
    """Both readings stand on the page, with intervals, reasons for what is missing, and remarks on the data."""
    (slate,) = SlateRun(write_folder(), tmp_path).slates.values()
    temporal = SlateJudgement("temporal_auc", "PASS", Figure(0.9, 2, per_year={"2016": 0.9, "2017": None}))
    why = SlateReason(SlateCode.BY_DISEASE, {"reasons": "for a reason"})
    slate.judged = {PRIMARY: SlateJudgement(PRIMARY, "CAUTION", Figure(2 / 3, 2), "", why), "temporal_auc": temporal}
    slate.tests = (PRIMARY, "temporal_auc")
    record = slate.record()
    assert record["prospective"]["tiers"]["high"]["enrichment_vs_popularity"]["value"] == pytest.approx(2 / 3)
    assert [item["disease"] for item in record["prospective"]["by_disease"]] == ["Xanthosis", "Ypsilosis"]
    page = render_slate(record)
    for words in ("CAUTION", "for a reason", "0.667", "Ypsilosis (high)", "2016: 0.900", "2017: not evaluated"):
        assert words in page
    assert "no candidate in the same breadth deciles" not in page  # true of one disease only, not of a tier
    assert page.count("<svg") == 8
