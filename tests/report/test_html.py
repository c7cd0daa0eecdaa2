"""The dossier in a real browser: self-contained, complete, accessible, and deaf to hostile text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_clinical_drift.report.html import highlight
from pytest_clinical_drift.report.svg import Level, Line, curve_chart, sparkline


def open_page(browser: Any, file: Path, width: int = 1200, **context: Any) -> tuple[Any, list[str], list[str]]:
    """The page with what it said on the console and what it asked the network for."""
    page = browser.new_context(viewport={"width": width, "height": 900}, **context).new_page()
    console: list[str] = []
    requests: list[str] = []
    page.on("console", lambda message: console.append(message.text))
    page.on("pageerror", lambda error: console.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(file.as_uri())
    return page, console, requests


def report_of(run: Any) -> Path:
    return Path(run.results / "report.html")


def test_page_is_self_contained_and_shows_the_verdict(hostile_run: Any, browser: Any) -> None:
    """No console message, no request but the file itself; banner, hard stop and case are there."""
    file = report_of(hostile_run)
    page, console, requests = open_page(browser, file)
    assert console == []
    assert requests == [file.as_uri()]
    assert page.locator(".banner").inner_text().startswith("FAIL")
    assert "penicillin allergy with anaphylaxis" in page.locator("section:has(#first) > ul").first.inner_text()
    assert page.locator("details.case").count() == 1


def test_model_text_stays_text(hostile_run: Any, browser: Any) -> None:
    """Scripts, tags and handlers in the model's words neither run nor become elements."""
    page, _, _ = open_page(browser, report_of(hostile_run))
    assert page.title() != "owned"
    assert page.locator("main img").count() == 0
    assert page.locator("main script").count() == 0
    page.locator("details.case > summary").click()
    page.locator("details.case details summary").click()
    shown = page.locator("details.case pre").all_inner_texts()
    assert any("<script>document.title='owned'</script>" in text for text in shown)
    assert any("\\x1b[31mred" in text for text in shown)


def test_evidence_is_marked_where_it_was_found(hostile_run: Any, browser: Any) -> None:
    """The words that retained and the words that contradicted a fact are marked in the summary."""
    page, _, _ = open_page(browser, report_of(hostile_run))
    marks = page.locator("mark.retained").all_text_contents()
    assert any("enicillin" in text for text in marks)
    assert page.locator("mark.contradicted").count() >= 1


def test_filter_hides_other_verdicts(hostile_run: Any, browser: Any) -> None:
    """The filter shows the cases of one verdict; without scripts everything is simply there."""
    page, _, _ = open_page(browser, report_of(hostile_run))
    page.get_by_role("button", name="PASS (0)").click()
    assert not page.locator("details.case").is_visible()
    page.get_by_role("button", name="all").click()
    assert page.locator("details.case").is_visible()
    silent, _, _ = open_page(browser, report_of(hostile_run), java_script_enabled=False)
    assert silent.locator("details.case").is_visible()
    assert not silent.locator(".filter").is_visible()


@pytest.mark.parametrize(("width", "scheme"), [(1200, "light"), (1200, "dark"), (390, "light")])
def test_page_is_accessible(hostile_run: Any, browser: Any, width: int, scheme: str) -> None:
    """axe finds nothing serious, in light and dark and on a phone; nothing is wider than the window."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    page, _, _ = open_page(browser, report_of(hostile_run), width, color_scheme=scheme, bypass_csp=True)
    for summary in page.locator("summary").all():
        if summary.is_visible():
            summary.click()
    found = axe.Axe().run(page).response["violations"]
    assert [(item["id"], item["nodes"][0]["html"]) for item in found if item["impact"] in ("serious", "critical")] == []
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_sign_off_sheet_shows_empty_fields(hostile_run: Any, browser: Any) -> None:
    """Fields of dossier.yaml are shown, the empty ones visibly empty."""
    page, _, _ = open_page(browser, report_of(hostile_run))
    sheet = page.locator("section:has(#signoff)").inner_text()
    assert "triage <script>" in sheet
    assert sheet.count("empty") == 5  # hazard_ids and the four fields that were never written


def test_highlight_escapes_and_skips_overlaps() -> None:
    """Marks keep the order of the text; a span inside another is not opened twice."""
    findings = [
        {"status": "retained", "text": "a & b", "quotes": [{"start": 4, "end": 9}, {"start": 5, "end": 7}]},
        {"status": "absent", "text": "c", "quotes": []},
    ]
    assert str(highlight("<i> hello & bye", findings)) == (
        '&lt;i&gt; <mark class="retained" title="retained: a &amp; b">hello</mark> &amp; bye'
    )


def test_chart_has_a_text_alternative_and_keeps_gaps() -> None:
    """A missing turn breaks the line; the label reads the values aloud."""
    chart = curve_chart(
        "Recall", [Line("mean", [1.0, None, 0.5, 0.25], "line-main")], levels=[Level("0.8", 0.8)], marker=4
    )
    assert 'aria-label="Recall. mean: 1.00, not evaluated, 0.50, 0.25"' in chart
    assert chart.count("<polyline") == 1
    assert chart.count("<circle") == 3
    assert curve_chart("Recall", [Line("mean", [], "line-main")]) == ""
    assert "recall by turn: 0.50, not evaluated" in sparkline([0.5, None])
