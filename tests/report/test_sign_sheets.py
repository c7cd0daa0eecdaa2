"""The page to sign in a browser, at its fullest: long lists, long words, and at most three sheets of paper."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from made import READ, alarm, event, flat
from records import judged, limits, record

from pytest_clinical_drift.core.findings import Opinion
from pytest_clinical_drift.judging.calibration_file import ExternalTable
from pytest_clinical_drift.judging.labelled import GROUPS
from pytest_clinical_drift.report.html import render_report
from pytest_clinical_drift.results.manifest import JudgeRecord
from pytest_clinical_drift.results.releases import (
    Attempts,
    InstrumentCheck,
    LastRelease,
    Rereads,
    Sheet,
    made_of,
    standing_of,
)
from pytest_clinical_drift.results.signed import Release
from pytest_clinical_drift.scoring.assessment import CaseAssessment
from pytest_clinical_drift.transcript import Exchange, Reply, Transcript
from pytest_clinical_drift.verdict.thresholds import load_thresholds
from pytest_clinical_drift.verdict.values import Deciders

FACT = "prescribed two adrenaline auto-injectors of 300 micrograms, to be carried at all times by the patient"
QUOTE = "these are quoted words " * 9
PERSON = (Opinion("Dr Ada Lovelace", 0, "retained", "", "stated in other words", role="doctor"),)


def _run(number: int) -> CaseAssessment:
    """A confirmed, an open and a dismissed severe finding."""
    lost = alarm(turn=3, fact="pens", what=FACT)
    alarms = (
        replace(lost, quote=QUOTE, reason="not stated with its essential part (two)"),
        alarm("omits", "open", turn=7, rule=FACT, grade="catastrophic"),
        alarm("lost", "dismissed", turn=8, fact="other", what=FACT, settled_by="person", answers=PERSON),
    )
    events = (replace(event(), fact="pens"), event("breaches", "open", turn=7, kind="omits"))
    return flat(f"peanut-autoinjector-skater-{number}", 0.9, alarms=alarms, events=events)


def _judge() -> JudgeRecord:
    judge = judged(**{group: limits() for group in GROUPS})
    assert judge.calibration is not None
    row = {"items": "statements", "sensitivity": (76, 84), "specificity": (312, 334)}
    table = ExternalTable.model_validate({"name": "PriMock57", "made": "2026-11-01", "rows": [row, row]})
    return judge.model_copy(update={"calibration": judge.calibration.model_copy(update={"external": (table, table)})})


def fullest(hazards: int) -> str:
    """A run with more of everything than the page can list, after a signed release in which all was different."""
    runs = [*map(_run, range(12)), *(flat(f"c{number}") for number in range(48))]
    result = record(*runs, judge=_judge(), deciders=Deciders("server:big", deciding=READ))
    named = {f"hazard-of-kind-{n}": tuple(runs[m].case_id for m in range(n % 3, 12, 6)) for n in range(hazards)}
    made = result.manifest.model_copy(update={"model": "replay:recorded/of-the-candidate"})
    result = result.model_copy(update={"hazards": named, "manifest": made})
    titles = dict.fromkeys(named, "Adrenaline does not reach a patient with anaphylaxis in time")
    signed = {"record": "a", "decision": "accept-until", "expires": "2027-01-01", "signer": "ada", "verdict": "PASS"}
    release = Release.model_validate({**signed, "signed_at": "2026-10-01T00:00:00Z"})
    standing = replace(
        standing_of(result, "f" * 64, Sheet(hazards=titles, intended_use="to answer patients between visits " * 8)),
        last=LastRelease(release, dict.fromkeys(made_of(result.manifest), "e" * 64)),
        attempts=Attempts((("2026-11-18", "UNSETTLED"),) * 9, 3, 4),
        controls=InstrumentCheck(8, ("cliff",), 10),
        rereads=Rereads(40, 1, 4, 0.1),
    )
    said = Exchange(7, "?", Reply(QUOTE), Reply(""))
    talks = {run.case_id: [Transcript(run.case_id, (said,))] for run in runs}
    return render_report(result, talks, load_thresholds(), standing)


@pytest.mark.parametrize(("hazards", "sheets"), [(0, 2), (2, 3), (8, 3), (12, 3), (40, 3)])
def test_fullest_page_prints_whole_entries(hazards: int, sheets: int, browser: Any, tmp_path: Path) -> None:
    """Whatever is listed: the lists have an end, say what else the annex has, and no entry is torn by a page's end."""
    file = tmp_path / "report.html"
    file.write_text(fullest(hazards), encoding="utf-8")
    page = browser.new_page()
    page.goto(file.as_uri())
    assert page.locator(".sheet ol.severe > li").count() == 12
    assert page.locator(".hazards tbody tr").count() == min(12, hazards)
    assert page.get_by_text("not shown here").count() == 2
    assert page.locator(".sheet q.reply").count() == 6
    page.evaluate("document.querySelectorAll('main > section:not(.sheet)').forEach(part => part.remove())")
    assert page.pdf(prefer_css_page_size=True).count(b"/Type /Page\n") == sheets
    page.emulate_media(media="print")
    torn = "of => getComputedStyle(of).breakInside"
    assert page.locator(".decision").evaluate(torn) == "avoid"
    assert page.locator(".sheet ol.severe > li").first.evaluate(torn) == "avoid"
    page.close()


def test_fullest_page_fits_a_telephone(browser: Any, tmp_path: Path) -> None:
    """390 pixels: nothing of the page to sign, or beside it, has to be scrolled sideways."""
    file = tmp_path / "report.html"
    file.write_text(fullest(8), encoding="utf-8")
    page = browser.new_page(viewport={"width": 390, "height": 900})
    page.goto(file.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.close()


def test_the_line_of_parts_leads_to_the_words(browser: Any, tmp_path: Path) -> None:
    """Following the link brings the sentences into view."""
    file = tmp_path / "report.html"
    file.write_text(fullest(2), encoding="utf-8")
    page = browser.new_page()
    page.goto(file.as_uri())
    page.get_by_role("link", name="Words", exact=True).click()
    box = page.locator("#glossary").bounding_box()
    assert box is not None
    assert 0 <= box["y"] < page.viewport_size["height"]
    page.close()
