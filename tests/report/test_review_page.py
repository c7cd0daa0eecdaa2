"""The review page in a real browser, from opening it to the changed verdict; and how texts are marked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from reviewing import (
    DENIAL,
    KEPT,
    UNCLEAR,
    alarms_of,
    answer,
    chained,
    introduce,
    lay_out,
    manifest_of,
    results_of,
    run,
    saved,
)

from pytest_clinical_drift import cli
from pytest_clinical_drift.gate.reopened import reopen
from pytest_clinical_drift.gate.reviewed import rejudge
from pytest_clinical_drift.gate.reviewing import MIXED_IN, review_items
from pytest_clinical_drift.judging.answers import KINDS, PEOPLE_ONLY, UNSURE
from pytest_clinical_drift.judging.questions import Question
from pytest_clinical_drift.judging.reviews import read_reviews
from pytest_clinical_drift.report import review_page
from pytest_clinical_drift.report.review_page import ReviewItem, render_review
from pytest_clinical_drift.report.words import words

HOSTILE = (
    "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\"> <!-- \x1b[31m "
)
AWKWARD = 'Steht da: “Penizillin” – 😀 \\ " \x7f é'
"""A reason that two ways of escaping would have to agree on."""


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four severe alarms; the words of one text are an attack; the last fact but one is lost on two turns in a row."""
    folder = tmp_path_factory.mktemp("page")
    told = dict.fromkeys(("anna", "bela", "cleo"), (KEPT, KEPT, UNCLEAR))
    lay_out(folder, {**told, "dora": (KEPT, UNCLEAR, HOSTILE + UNCLEAR)})
    code, output = run(folder)
    assert code == 7, output
    assert cli.main(["review", str(results_of(folder))]) == 0
    return results_of(folder)


@pytest.fixture(params=["small", "large"])
def made(results: Path, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The page of that run: everything in one file, or, as for a large review, with files beside it."""
    if request.param == "small":
        return results / "review.html"
    file = tmp_path / "large" / "review.html"
    with monkeypatch.context() as large:
        large.setattr(review_page, "ONE_PAGE", 0)
        assert cli.main(["review", str(results), "--out", str(file)]) == 0
    assert len(list((file.parent / "review_texts").iterdir())) == 4
    return file


@pytest.fixture
def page(made: Path, browser: Any) -> Iterator[Any]:
    """The page, freshly opened; when the test is over it has said nothing on the console and asked nobody."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True)
    opened = context.new_page()
    said: list[str] = []
    asked: list[str] = []
    opened.on("console", lambda message: said.append(message.text))
    opened.on("pageerror", lambda error: said.append(str(error)))
    opened.on("request", lambda request: asked.append(request.url))
    opened.goto(made.as_uri())
    yield opened
    assert said == []
    assert {url.partition(":")[0] for url in asked} <= {"file", "blob"}
    files = {url for url in asked if url.startswith("file")}
    beside = {file.as_uri() for file in made.parent.glob("review_texts/*.js")}
    assert files - beside == {made.as_uri()}
    assert bool(files & beside) == bool(beside)
    context.close()


def test_session_from_the_page_to_the_verdict(
    page: Any, results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Three alarms dismissed, one confirmed, by keyboard; the file saved takes UNSETTLED to FAIL, for that one case."""
    introduce(page)
    for _ in range(3):
        answer(page, "1", AWKWARD)
        assert page.locator("#status").inner_text() == "Recorded: goes: the summary states it, whole."
        page.keyboard.press("Enter")
    case_id = page.locator(".where span").nth(1).inner_text()
    answer(page, "3")
    file = saved(page, tmp_path / "reviews.jsonl")
    records = read_reviews(file).records
    assert [record.answer for record in records] == ["retained"] * 3 + ["contradicted"]
    assert {record.reason for record in records} == {AWKWARD, ""}
    assert all('"severe":true' in line for line in file.read_text(encoding="utf-8").splitlines())
    assert {(record.reviewer, record.role) for record in records} == {("Ada Brühl", "clinician")}
    code = cli.main(["verdict", str(results), "--reviews", str(file), "--out", str(tmp_path / "reviewed")])
    said = capsys.readouterr().out
    assert said.startswith("UNSETTLED → FAIL by 3 dismissals and 1 confirmation\n")
    assert f"{case_id}: UNSETTLED → FAIL" in said
    assert code == 1
    confirmed = [alarm for alarm in alarms_of(tmp_path / "reviewed") if alarm["state"] == "confirmed"]
    assert [(alarm["case_id"], alarm["settled_by"]) for alarm in confirmed] == [(case_id, "person")]


def focused(page: Any) -> str:
    return str(page.evaluate("document.activeElement.id"))


@pytest.mark.parametrize("by", ["Tab", "click"])
def test_saying_who_one_is_moves_no_focus(page: Any, by: str) -> None:
    """What is typed into name and role stays there: no letter or digit of it answers, saves or turns the page."""
    page.locator("#asked").wait_for()
    page.locator("#reviewer").click()
    page.keyboard.type("Dr 1 Grs")
    page.keyboard.press("Tab") if by == "Tab" else page.locator("#role").click()
    assert focused(page) == "role"
    page.keyboard.type("rsg 103")
    assert (focused(page), page.locator("#role").input_value()) == ("role", "rsg 103")
    assert page.locator("#count").inner_text().startswith("0 of 5 answered")
    assert page.locator(".where span").first.inner_text() == "1 of 4"
    page.locator('.answers button[data-key="3"]').click()  # straight from the field: the first click counts
    assert page.locator("#count").inner_text().startswith("1 of 5 answered")


def test_another_name_shows_that_persons_answers_and_moves_no_focus(page: Any) -> None:
    """Where answers were given under one name, those of another are open; the first name shows them again."""
    introduce(page, "Ada")
    answer(page, "3")
    page.locator("#reviewer").click()
    page.keyboard.press("End")
    for typed, told in (("m", "0 of 5 answered"), ("Backspace", "1 of 5 answered")):
        page.keyboard.press(typed)
        assert page.locator("#count").inner_text().startswith(told)
        assert focused(page) == "reviewer"


def test_severe_alarm_is_dismissed_with_a_reason_only(page: Any) -> None:
    """Without one nothing is recorded, and the page asks for it; confirming needs none."""
    introduce(page)
    page.keyboard.press("1")
    assert "give a reason" in page.locator("#status").inner_text()
    assert page.evaluate("document.activeElement.id") == "reason"
    page.keyboard.press("Enter")
    assert page.locator("#count").inner_text().startswith("0 of ")
    page.keyboard.press("Escape")
    page.locator("#asked").focus()
    page.keyboard.press("3")
    assert page.locator("#count").inner_text().startswith("1 of ")


def test_a_reason_does_not_stay_with_another_answer(page: Any, tmp_path: Path) -> None:
    """Dismissed with a reason, then confirmed on the same card: the last answer has none."""
    introduce(page)
    answer(page, "1", "in other words")
    page.locator("#asked").focus()
    page.keyboard.press("3")
    records = read_reviews(saved(page, tmp_path / "reviews.jsonl")).records
    assert [(record.answer, record.reason) for record in records] == [
        ("retained", "in other words"),
        ("contradicted", ""),
    ]


def test_nobody_answers_without_a_name(page: Any) -> None:
    """The page asks who is there before it records anything."""
    page.locator("#asked").focus()
    page.keyboard.press("3")
    assert "who you are" in page.locator("#status").inner_text()
    assert page.evaluate("document.activeElement.id") == "reviewer"
    assert page.locator("#save").is_disabled()


def test_why_it_was_asked_is_hidden_until_answered(page: Any) -> None:
    """Neither the alarm's kind nor any opinion stands on the card before."""
    introduce(page)
    assert page.locator(".revealed").count() == 0
    assert "also: denied" not in page.locator("#card").inner_text()
    answer(page, "3")
    assert "contradicted (open)" in page.locator(".revealed").inner_text()


def test_last_release_is_shown_after_the_answer(results: Path, browser: Any, tmp_path: Path) -> None:
    """Who decided what on this fact then, in the words of the page; nothing of it before."""
    said = [{"question": alarm["question"], "case_id": alarm["case_id"]} for alarm in alarms_of(results)]
    reviews = tmp_path / "reviews.jsonl"
    reviews.write_text(chained(*said, manifest=manifest_of(results), reason="as the ward saw it"), encoding="utf-8")
    cli.main(["verdict", str(results), "--reviews", str(reviews), "--out", str(tmp_path / "then")])
    made = tmp_path / "review.html"
    assert cli.main(["review", str(results), "--last", str(tmp_path / "then"), "--out", str(made)]) == 0
    page = browser.new_page()
    page.goto(made.as_uri())
    introduce(page, "Bo")
    assert "Last release" not in page.locator("#card").inner_text()
    answer(page, "3")
    before, _, last = page.locator(".revealed").inner_text().partition("Last release")
    assert "Ada" not in before
    assert "Ada" in last
    assert "as the ward saw it" in last
    page.close()


def test_progress_survives_a_reload_and_answers_can_be_changed(page: Any, tmp_path: Path) -> None:
    """Name, answers and place come back; a changed answer is one more record, and the last one counts."""
    introduce(page)
    answer(page, "3")
    page.wait_for_timeout(1500)  # the browser writes down what it keeps a moment later
    page.reload()
    assert page.locator("#reviewer").input_value() == "Ada Brühl"
    assert page.locator("#count").inner_text().startswith("1 of ")
    page.locator("#asked").focus()
    answer(page, "2", "the reaction is missing")
    assert page.locator("#count").inner_text().startswith("1 of ")
    records = read_reviews(saved(page, tmp_path / "r.jsonl")).records
    assert [record.answer for record in records] == ["contradicted", "partial"]
    assert len({record.question for record in records}) == 1


def test_second_reviewer_starts_anew_in_the_same_chain(page: Any, tmp_path: Path) -> None:
    """Another name sees no answer of the first; the records of both follow each other."""
    introduce(page)
    answer(page, "3")
    page.keyboard.press("ArrowLeft")
    introduce(page, "Bo", "nurse")
    assert page.locator("#count").inner_text().startswith("0 of ")
    assert page.locator(".revealed").count() == 0
    answer(page, "4")
    records = read_reviews(saved(page, tmp_path / "r.jsonl")).records
    assert [(record.reviewer, record.answer) for record in records] == [("Ada Brühl", "contradicted"), ("Bo", "both")]


def test_two_tabs_share_one_chain(page: Any, made: Path, tmp_path: Path) -> None:
    """What one tab records the other knows, so that neither overwrites the other."""
    introduce(page)
    other = page.context.new_page()
    other.goto(made.as_uri())
    answer(page, "3")
    other.locator("#count", has_text="1 of ").wait_for()  # a script to wait for would break the page's policy
    other.keyboard.press("ArrowRight")
    answer(other, "3")
    assert len(read_reviews(saved(other, tmp_path / "r.jsonl")).records) == 2


def test_answers_that_another_tab_dropped_no_longer_count(page: Any, made: Path) -> None:
    """The count follows the records that are kept, not those that were once read."""
    introduce(page)
    answer(page, "3")
    other = page.context.new_page()
    other.goto(made.as_uri())
    other.locator("#count", has_text="1 of ").wait_for()
    other.evaluate(
        "for (const key of Object.keys(localStorage))"
        " localStorage.setItem(key, JSON.stringify({...JSON.parse(localStorage.getItem(key)), records: [], saved: 0}))"
    )
    page.locator("#count", has_text="0 of ").wait_for()
    assert page.locator("#count").inner_text().startswith("0 of ")


def test_one_answer_for_turns_in_a_row(page: Any, tmp_path: Path) -> None:
    """`g` repeats the answer on the other turns of the same fact, each with a record of its own."""
    introduce(page)
    while "turns in a row" not in page.locator("#card").inner_text():
        page.keyboard.press("ArrowRight")
        page.locator("#asked").wait_for()
    answer(page, "3")
    page.keyboard.press("g")
    records = read_reviews(saved(page, tmp_path / "r.jsonl")).records
    assert [record.case_id for record in records] == ["dora", "dora"]
    assert len({record.question for record in records}) == 2


def test_saved_file_is_opened_and_a_changed_one_refused(page: Any, tmp_path: Path) -> None:
    """Answers come back from the file in a browser that has kept nothing; one changed byte, and it is refused."""
    introduce(page)
    answer(page, "3")
    file = saved(page, tmp_path / "reviews.jsonl")
    changed = tmp_path / "changed.jsonl"
    changed.write_text(file.read_text(encoding="utf-8").replace("contradicted", "retained"), encoding="utf-8")
    fresh = page.context.browser.new_context().new_page()
    fresh.goto(page.url)
    fresh.set_input_files("#open", changed)
    fresh.locator("#status", has_text="changed.jsonl was changed after it was written.").wait_for()
    assert fresh.locator("#count").inner_text().startswith("0 of ")
    fresh.set_input_files("#open", file)
    fresh.locator("#status", has_text="Opened 1 record from reviews.jsonl.").wait_for()
    assert fresh.locator("#count").inner_text().startswith("1 of ")
    assert fresh.locator("#reviewer").input_value() == "Ada Brühl"
    fresh.context.close()


def test_filter_shows_what_fits(page: Any) -> None:
    """By case, and by what has no answer yet."""
    introduce(page)
    page.fill("#case", "bela")
    page.press("#case", "Tab")
    assert page.locator(".where span").first.inner_text() == "1 of 1"
    assert page.locator(".where span").nth(1).inner_text() == "bela"
    page.locator("#asked").focus()
    answer(page, "3")
    page.select_option("#filter", "open")
    assert "Nothing fits" in page.locator("#status").inner_text()


def test_model_text_stays_text(page: Any) -> None:
    """Scripts and handlers in a summary neither run nor become elements; they are shown as written."""
    page.fill("#case", "dora")
    page.press("#case", "Tab")
    page.locator("summary", has_text="on the other turns").click()
    shown = " ".join(page.locator(".text").all_inner_texts())
    assert "<img src=x onerror=" in shown
    assert "\\x1b[31m" in shown
    assert page.locator("main img").count() == 0
    assert page.title().startswith("Review of")


def test_words_in_question_are_marked(page: Any) -> None:
    """The text is shown whole, the words that gave rise to the alarm are marked in it."""
    assert DENIAL.removesuffix(".") in page.locator(".text").first.inner_text()
    assert page.locator(".text mark").count() > 0


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_page_is_accessible_and_fits(made: Path, browser: Any, width: int, scheme: str) -> None:
    """axe finds nothing serious before and after an answer; nothing is wider than the window."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    context = browser.new_context(viewport={"width": width, "height": 844}, color_scheme=scheme)
    page = context.new_page()
    page.goto(made.as_uri())

    def check() -> None:
        found = axe.Axe().run(page).response["violations"]
        assert [item["id"] for item in found if item["impact"] in ("serious", "critical")] == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width

    check()
    introduce(page)
    answer(page, "3")
    page.locator("#overview > summary").click()
    page.locator("#list > li").last.wait_for()
    for case in page.locator("#list summary").all():  # a large page folds its list by case
        case.click()
    page.locator("#list button").nth(3).wait_for()
    check()
    context.close()


def test_reviews_overrule_a_judge_both_ways(judged_run: Any, tmp_path: Path) -> None:
    """A breach that the judge confirmed is dismissed, an answer that it cleared is held against the model."""
    run, then = reopen(judged_run.results)
    items = review_items(run)
    drawn = [item for item in items if "cleared" in item.why]
    assert len(drawn) == MIXED_IN
    confirmed = {alarm.question for _, alarm in run.alarms if alarm.kind == "omits" and alarm.settled_by == "judge"}
    breach = next(item for item in items if item.question.id in confirmed)
    against = {"fact": "absent", "must": "missing", "must_not": "violated", "forbidden": "violated", "harm": "harm"}
    cleared = next(item for item in drawn if item.question.kind in against)
    file = tmp_path / "reviews.jsonl"
    wanted = {"manifest": run.inputs.name, "reason": "read twice"}
    said = [
        {"question": i.id, "kind": i.kind, "case_id": i.case_id, **wanted} for i in (breach.question, cleared.question)
    ]
    file.write_text(
        chained({**said[0], "answer": "met"}, {**said[1], "answer": against[cleared.question.kind]}), encoding="utf-8"
    )
    collected, result = rejudge(run, then, read_reviews(file))
    reviewed = result.reviewed
    assert reviewed is not None
    assert (reviewed.dismissed, reviewed.cleared_upheld) == (1, 1)
    states = {a.question: (a.state, a.settled_by) for assessed in collected.runs for a in assessed.alarms}
    assert states[breach.question.id] == ("dismissed", "person")
    assert states[cleared.question.id] == ("confirmed", "person")


# ---- texts


def test_every_kind_of_question_can_be_shown() -> None:
    """Each kind has its question, each answer its words."""
    kinds = {**KINDS, **PEOPLE_ONLY}
    assert {kind for kind, told in words("kinds").items() if told["question"]} == set(kinds)
    known = {UNSURE, *(answer for answers in kinds.values() for answer in answers)}
    assert {name.rpartition(".")[2] for name in words("answers")} == known


def shown(text: str, quote: str) -> list[str]:
    item = ReviewItem(Question("fact", "anna", 1, text, statement="fact"), quote=quote)
    page = render_review([item], manifest="m", slug="s", headline="h")
    data = page.partition('id="data">')[2].partition("</script>")[0]
    pieces: list[str] = json.loads(data)["items"][0]["text"]
    return pieces


@pytest.mark.parametrize(
    ("text", "quote", "marked"),
    [
        ("Takes **metformin** 500 mg daily.", "metformin 500 mg", ["metformin** 500 mg"]),
        ("One. Two. Three.", "one … three", ["One", "Three"]),
        ("One.\nTwo.", "One. Two.", ["One.\nTwo."]),
        ("One.", "Something else", []),
        ("One.", "", []),
        ("a a", "a … a", ["a", "a"]),
        ("x (y) z", "(y)", ["(y)"]),
    ],
)
def test_marks_find_the_quoted_words(text: str, quote: str, marked: list[str]) -> None:
    """Whatever emphasis, spacing and case lie between; the pieces together are the text."""
    pieces = shown(text, quote)
    assert pieces[1::2] == marked
    assert "".join(pieces) == text
