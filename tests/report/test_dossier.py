"""The dossier in a real browser: self-contained, complete, readable, accessible, and deaf to hostile text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_clinical_drift.report.compare import render_html
from pytest_clinical_drift.results.comparing import NamedRun, paired_differences
from pytest_clinical_drift.results.files import read_results
from pytest_clinical_drift.verdict.thresholds import BaselineRules


def open_page(browser: Any, file: Path, width: int = 1280, **context: Any) -> tuple[Any, list[str], list[str]]:
    """The page with what it said on the console and what it asked the network for."""
    page = browser.new_context(viewport={"width": width, "height": 900}, **context).new_page()
    console: list[str] = []
    requests: list[str] = []
    page.on("console", lambda message: console.append(message.text))
    page.on("pageerror", lambda error: console.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(file.as_uri())
    return page, console, requests


@pytest.mark.parametrize("run", ["hostile_run", "rules_run", "judged_run"])
def test_page_is_self_contained(run: str, browser: Any, request: pytest.FixtureRequest) -> None:
    """No console message, no request but the file itself, whatever the run."""
    file = request.getfixturevalue(run).page
    page, console, requests = open_page(browser, file)
    page.evaluate("document.querySelectorAll('details').forEach(item => { item.open = true })")
    page.wait_for_timeout(50)
    assert console == []
    assert requests == [file.as_uri()]


def test_model_and_judge_text_stays_text(hostile_run: Any, judged_run: Any, browser: Any) -> None:
    """Scripts, tags and handlers in anybody's words neither run nor become elements."""
    for run in (hostile_run, judged_run):
        page, _, _ = open_page(browser, run.page)
        page.evaluate("document.querySelectorAll('details').forEach(item => { item.open = true })")
        assert page.title() != "owned"
        assert page.locator("main img, main script, main i:not(.margin i), #cases ~ b").count() == 0
    page, _, _ = open_page(browser, hostile_run.page)
    replies = page.locator(".reply .text").all_text_contents()
    assert all("<script>document.title='owned'</script>" in text and "\\x1b[31mred" in text for text in replies)


@pytest.mark.parametrize("run", ["hostile_run", "rules_run", "judged_run"])
def test_page_to_sign_prints_on_two_sheets(run: str, browser: Any, request: pytest.FixtureRequest) -> None:
    """Two sheets of A4 at most; the annex begins on a new one."""
    page, _, _ = open_page(browser, request.getfixturevalue(run).page)
    whole = page.pdf(prefer_css_page_size=True).count(b"/Type /Page\n")
    page.evaluate("document.querySelectorAll('main > section:not(.sheet)').forEach(part => part.remove())")
    sheets = page.pdf(prefer_css_page_size=True).count(b"/Type /Page\n")
    assert 1 <= sheets <= 2
    assert whole > sheets


def test_open_questions_come_first_and_the_severe_before_others(rules_run: Any, browser: Any) -> None:
    """As many groups as the verdict counts; open before confirmed on the page."""
    page, _, _ = open_page(browser, rules_run.page)
    groups = page.locator("section:has(> #open) details.alarm")
    assert groups.count() == rules_run.record["open_findings"] > 0
    severe = ["severe" in (group.get_attribute("class") or "").split() for group in groups.all()]
    assert severe == sorted(severe, reverse=True)
    headings = page.locator("main > section:not(.sheet) h2").all_inner_texts()
    assert headings.index("Open questions") < headings.index("Confirmed alarms") < headings.index("Cases")


def test_words_are_marked_in_the_full_text_of_the_reply(rules_run: Any, browser: Any) -> None:
    """A forbidden medicine: what is recommended, what rules it out, and the words in the whole reply, a link away."""
    page, _, _ = open_page(browser, rules_run.page)
    page.evaluate("document.querySelectorAll('details').forEach(item => { item.open = true })")
    alarm = page.locator("details.alarm", has_text="recommends ibuprofen, ruled out by diclofenac intolerance").first
    assert "ibuprofen" in alarm.locator("blockquote").inner_text().lower()
    place = alarm.locator(".jump a, .each a").first.get_attribute("href") or ""
    reply = page.locator(f"[id='{place.lstrip('#')}'] .reply .text")
    marked = reply.locator("mark.state-open").all_inner_texts()
    assert any("ibuprofen" in text.lower() for text in marked)
    assert len(reply.inner_text()) > len(max(marked, key=len)) * 2


def test_both_opinions_are_shown(judged_run: Any, browser: Any) -> None:
    """The judge that took back its first answer: the alarm is open, with both answers and their reasons."""
    page, _, _ = open_page(browser, judged_run.page)
    torn = page.locator("section:has(> #open) details.alarm", has_text="weighs").first
    torn.evaluate("item => { item.open = true }")
    opinions = torn.locator(".opinions li").all_inner_texts()
    assert [text.split()[0] for text in opinions[:2]] == ["stale", "retained"]
    assert "reading" in opinions[0]
    assert "wording" in opinions[1]
    assert "<b>as labelled</b>" in opinions[1], opinions


def test_fact_rows_name_the_fact_as_it_was_true(rules_run: Any, browser: Any) -> None:
    """A dose that changed on turn 3 has two rows, each with cells only on the turns on which it held."""
    page, _, _ = open_page(browser, rules_run.page)
    rows = page.locator("#case-digoxin-kidney-lighthouse-keeper table.facts tbody tr")
    doses = [row for row in rows.all() if (row.locator("th").text_content() or "").strip().startswith("digoxin 0.")]
    held = [[bool((cell.text_content() or "").strip()) for cell in row.locator("td").all()] for row in doses]
    assert held == [[True] * 2 + [False] * 8, [False] * 2 + [True] * 8]


def test_jump_from_alarm_to_its_place_by_keyboard(rules_run: Any, browser: Any) -> None:
    """n opens one alarm after the other; its link opens the conversation at the turn, in view."""
    page, _, _ = open_page(browser, rules_run.page)
    page.keyboard.press("n")
    page.keyboard.press("n")
    second = page.locator("section > details.alarm").nth(1)
    assert second.get_attribute("open") is not None
    link = second.locator(".jump a, .each a").first
    place = (link.get_attribute("href") or "").lstrip("#")
    assert not page.locator(f"[id='{place}']").is_visible()
    link.focus()
    page.keyboard.press("Enter")
    turn = page.locator(f"[id='{place}']")
    turn.wait_for(state="visible")
    box = turn.bounding_box()
    assert box is not None
    assert 0 <= box["y"] < 900


def test_transcript_puts_patient_reply_and_summary_side_by_side(rules_run: Any, browser: Any) -> None:
    """Three columns on a desk, one below the other on a phone; a stripe per fact on every turn."""
    place = "#case-digoxin-kidney-lighthouse-keeper"
    for width, together in ((1280, True), (390, False)):
        page, _, _ = open_page(browser, rules_run.page, width)
        page.evaluate("document.querySelectorAll('details').forEach(item => { item.open = true })")
        boxes = [page.locator(f"{place} .{name}").first.bounding_box() for name in ("patient", "reply", "summary")]
        assert (len({round(box["y"]) for box in boxes if box}) == 1) is together
    facts = {finding["fact_id"] for turn in _run(rules_run, place)["turns"] for finding in turn["findings"]}
    assert page.locator(f"{place} .margin").first.locator("i").count() == len(facts)


def _run(run: Any, place: str) -> dict[str, Any]:
    case = next(case for case in run.record["cases"] if f"#case-{case['case_id']}" == place)
    found: dict[str, Any] = case["repeats"][0]
    return found


def test_an_alarm_on_a_fact_shows_it_on_every_turn(rules_run: Any, browser: Any) -> None:
    """A cell per probed turn of its conversation, with the turn and what the summary says of the fact."""
    page, _, _ = open_page(browser, rules_run.page)
    page.evaluate("document.querySelectorAll('details').forEach(item => { item.open = true })")
    alarm = page.locator("details.alarm", has=page.locator(".cells")).first
    name = (alarm.get_attribute("id") or "").removeprefix("alarm-").rpartition("-r")[0]
    turns = [turn["turn"] for turn in _run(rules_run, f"#case-{name}")["turns"] if turn["findings"]]
    assert alarm.locator(".cells .number").all_inner_texts() == [str(turn) for turn in turns]


def test_fact_button_picks_its_words(rules_run: Any, browser: Any) -> None:
    """Pressing a fact outlines its words in the summaries of its case, and nothing else."""
    page, _, _ = open_page(browser, rules_run.page)
    page.evaluate("document.querySelectorAll('details').forEach(item => { item.open = true })")
    case = page.locator("#case-digoxin-kidney-lighthouse-keeper")
    button = case.locator("button.fact").first
    button.click()
    fact = button.get_attribute("data-fact")
    assert button.get_attribute("aria-pressed") == "true"
    assert case.locator("mark.picked").count() == case.locator(f"mark[data-fact='{fact}']").count() > 0
    button.click()
    assert page.locator("mark.picked").count() == 0


def test_filter_hides_other_verdicts(rules_run: Any, browser: Any) -> None:
    """The filter shows the cases of one verdict; without scripts everything is simply there."""
    counts = [case["verdict"] for case in rules_run.record["cases"]]
    page, _, _ = open_page(browser, rules_run.page)
    page.get_by_role("button", name=f"FAIL ({counts.count('FAIL')})").click()
    assert page.locator("details.case:visible").count() == counts.count("FAIL")
    page.get_by_role("button", name="all").click()
    assert page.locator("details.case:visible").count() == len(counts)
    silent, _, _ = open_page(browser, rules_run.page, java_script_enabled=False)
    assert silent.locator("details.case:visible").count() == len(counts)
    assert not silent.locator(".filter").is_visible()


def test_chart_draws_the_limits_in_force(judged_run: Any, browser: Any) -> None:
    """Limits of the project, not the bundled ones."""
    page, _, _ = open_page(browser, judged_run.page)
    labels = page.locator("svg").first.locator("text.note").all_text_contents()
    assert labels[:2] == ["PASS > 0.93", "CAUTION >= 0.61"]


def test_every_line_of_a_chart_has_a_name_below_it(stretched_run: Any, browser: Any) -> None:
    """In the colour of the line, also below the chart of a long conversation."""
    page, _, _ = open_page(browser, stretched_run.page)
    figures = page.locator(".sheet figure").all()
    assert len(figures) == 2
    for figure in figures:
        drawn = figure.locator("svg g").evaluate_all("lines => lines.map(line => line.getAttribute('class'))")
        named = figure.locator("figcaption span").evaluate_all("spans => spans.map(span => span.className)")
        assert drawn == named


@pytest.mark.parametrize(
    ("run", "width", "scheme"),
    [
        ("judged_run", 1280, "light"),
        ("judged_run", 390, "dark"),
        ("hostile_run", 1280, "dark"),
        ("hostile_run", 390, "light"),
        ("stretched_run", 390, "light"),
    ],
)
def test_page_is_accessible(run: str, browser: Any, width: int, scheme: str, request: pytest.FixtureRequest) -> None:
    """axe finds nothing serious, in light and dark, on a desk and on a phone; nothing is wider than the window."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    file = request.getfixturevalue(run).page
    page, _, _ = open_page(browser, file, width, color_scheme=scheme, bypass_csp=True)
    page.evaluate("document.querySelectorAll('details').forEach(item => { item.open = true })")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    found = axe.Axe().run(page).response["violations"]
    assert [(item["id"], item["nodes"][0]["html"]) for item in found if item["impact"] in ("serious", "critical")] == []


def test_sheet_of_the_project_is_shown(hostile_run: Any, browser: Any) -> None:
    """What dossier.yaml says stands on the page to sign; name, role, date and signature have lines to fill in."""
    page, _, _ = open_page(browser, hostile_run.page)
    assert "triage <script>" in page.locator(".sheet").inner_text()
    assert page.locator(".signature .line").count() == 4


def test_comparison_page_is_self_contained_and_accessible(
    rules_run: Any, judged_run: Any, browser: Any, tmp_path: Path
) -> None:
    """Two runs side by side: no console message, no request, nothing serious for axe, no wider than a phone."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    runs = [
        NamedRun("rules <b>", read_results(rules_run.results)),
        NamedRun("judged", read_results(judged_run.results)),
    ]
    file = tmp_path / "compare.html"
    file.write_text(render_html(runs, paired_differences(runs, BaselineRules())), encoding="utf-8")
    _, console, requests = open_page(browser, file)
    assert (console, requests) == ([], [file.as_uri()])
    page, _, _ = open_page(browser, file, 390, color_scheme="dark", bypass_csp=True)
    found = axe.Axe().run(page).response["violations"]
    assert [item["id"] for item in found if item["impact"] in ("serious", "critical")] == []
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    for wide in (320, 390, 768, 1024, 1280, 1920):
        page.set_viewport_size({"width": wide, "height": 900})
        cells = "[...document.querySelectorAll('.wraps td, .wraps tbody th')]"
        inside = "cell.getBoundingClientRect().right <= window.innerWidth && cell.scrollWidth <= cell.clientWidth + 1"
        assert page.evaluate(f"{cells}.every(cell => {inside})"), wide
