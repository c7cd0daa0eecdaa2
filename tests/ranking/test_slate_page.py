"""Charts and page of a slate: well-formed, complete, and silent about what was not evaluated."""

from __future__ import annotations

from collections.abc import Callable
from xml.etree import ElementTree

from pytest_clinical_drift.ranking.gate import SlateVerdict
from pytest_clinical_drift.ranking.prospective import evaluate
from pytest_clinical_drift.ranking.reading import Slate
from pytest_clinical_drift.ranking.report_html import render_slate
from pytest_clinical_drift.ranking.report_json import slate_results
from pytest_clinical_drift.ranking.report_svg import ForestRow, calibration, forest, time_to_event
from pytest_clinical_drift.ranking.view import all_outcomes, prospective


def drawn(svg: str, tag: str) -> list[ElementTree.Element]:
    """Elements of the chart; parsing it at all shows that it is well-formed."""
    return [item for item in ElementTree.fromstring(svg).iter() if item.tag == tag]


def test_forest_shows_what_is_known() -> None:
    """A dot per value, a whisker per interval; a row without value says so; names are text."""
    rows = [ForestRow("<b>high</b>", 1.7, 1.2, 2.3), ForestRow("low", 0.8), ForestRow("none", None)]
    svg = forest("Enrichment", rows, reference=1.0, limit=1.3)
    assert len(drawn(svg, "circle")) == 2
    assert len([line for line in drawn(svg, "line") if line.get("class") == "whisker"]) == 1
    texts = [item.text for item in drawn(svg, "text")]
    assert "<b>high</b>" in texts
    assert "not evaluated" in texts
    assert forest("Enrichment", [], reference=1.0) == ""


def test_no_bar_mixes_before_and_after_the_freeze() -> None:
    """Events before day 0 and from day 0 on fall in different bars, whatever the span; every event is in one."""
    days = [-4000, -700, -1, 0, 3, 90, 91]
    bars = drawn(time_to_event("Days", days), "rect")
    counts = {"before": 0, "after": 0}
    for bar in bars:
        title = bar.find("title")
        assert title is not None
        counts[str(bar.get("class"))] += int(str(title.text).rpartition(": ")[2])
    assert counts == {"before": 3, "after": 4}
    assert drawn(time_to_event("Days", [5]), "rect")
    assert time_to_event("Days", []) == ""


def test_calibration_chart() -> None:
    """One dot per bin; equal scores and no hit at all can be drawn too."""
    assert len(drawn(calibration("Scores", [(0.2, 0.1, 20), (0.9, 0.5, 20)]), "circle")) == 2
    assert len(drawn(calibration("Scores", [(0.5, 0.0, 3)]), "circle")) == 1


def test_page_tells_figures_and_reasons(write_slate: Callable[..., Slate]) -> None:
    """Both readings stand on the page, with intervals, reasons for what is missing, and remarks on the data."""
    slate = write_slate()
    record = slate_results(
        slate,
        SlateVerdict("CAUTION", ("for a reason",)),
        [],
        prospective=evaluate(prospective(slate)),
        everything=evaluate(all_outcomes(slate)),
        temporal={"2016": 0.9, "2017": None},
        manifest={"versions": {"numpy": "2"}, "slate": None, "ranker": None, "thresholds": ""},
    )
    assert record["prospective"]["tiers"]["high"]["enrichment_vs_popularity"]["value"] == 2 / 3
    assert [item["disease"] for item in record["prospective"]["by_disease"]] == ["Xanthosis", "Ypsilosis"]
    page = render_slate(record)
    for words in ("CAUTION", "for a reason", "0.667", "Ypsilosis (high)", "2016: 0.900", "2017: not evaluated"):
        assert words in page
    assert "no candidate in the same breadth deciles" not in page  # true of one disease only, not of a tier
    assert page.count("<svg") == 8
