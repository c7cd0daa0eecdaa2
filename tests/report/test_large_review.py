"""The page of a large review: it lists the questions, and the texts are in files beside it, one for each case."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from reviewing import DENIAL, KEPT, UNCLEAR, answer, introduce, lay_out, results_of, run, saved

from benchmarks.large_sets import CASES, FIRST_PAGE_MB
from pytest_clinical_drift import cli
from pytest_clinical_drift.judging.questions import Question
from pytest_clinical_drift.judging.reviews import read_reviews
from pytest_clinical_drift.report import review_page
from pytest_clinical_drift.report.review_page import ReviewItem, is_large, render_review, render_texts

ALL = ("Anna.Lee", "bela", "cleo", "dora")
FACT = "penicillin allergy with anaphylaxis"
HOSTILE = "</script><script>document.title='owned'</script><!--<script> \u2028 ${alert(1)} `*/ "

Write = Callable[..., Path]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One severe alarm in each of four cases."""
    folder = tmp_path_factory.mktemp("large")
    lay_out(folder, {name: (KEPT, KEPT, (HOSTILE if name == "dora" else "") + UNCLEAR) for name in ALL})
    code, output = run(folder)
    assert code == 7, output
    return results_of(folder)


@pytest.fixture
def write(results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Writes the page as for a large review, though it is a small one."""
    monkeypatch.setattr(review_page, "ONE_PAGE", 0)

    def writer(name: str = "review.html", *options: str) -> Path:
        assert cli.main(["review", str(results), "--out", str(tmp_path / name), *options]) == 0
        return tmp_path / name

    return writer


def names(page: Any) -> list[str]:
    found: list[str] = page.locator("#list summary").all_inner_texts()
    return found


def test_page_lists_and_the_files_tell(results: Path, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """No text, no fact and no reason is on the page; each case has a file; a smaller review leaves none of them."""
    file = write()
    told = file.read_text(encoding="utf-8")
    assert [text for text in ("Takes metformin", FACT, "contradicted (open)", "owned") if text in told] == []
    beside = {path.name: path.read_text(encoding="utf-8") for path in (file.parent / "review_texts").iterdir()}
    assert set(beside) == {f"{name}.js" for name in ALL}
    assert all(FACT in script and "contradicted (open)" in script for script in beside.values())
    monkeypatch.undo()
    assert cli.main(["review", str(results), "--out", str(file)]) == 0
    assert not (file.parent / "review_texts").exists()
    assert "Takes metformin" in file.read_text(encoding="utf-8")


def test_the_command_names_the_folder_of_texts(
    results: Path, write: Write, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever sends the page on has to send the folder too; a page that holds its texts names none."""
    file = write()
    told = capsys.readouterr().out
    assert f"written: {file.parent / 'review_texts'}, the texts that the page shows" in told
    monkeypatch.undo()
    assert cli.main(["review", str(results), "--out", str(file)]) == 0
    assert "review_texts" not in capsys.readouterr().out


def test_files_hold_one_call_with_plain_json(results: Path, write: Write) -> None:
    """Nothing in a text ends the string that it stands in, or the element of a page that would hold the script."""
    script = (write().parent / "review_texts" / "dora.js").read_text(encoding="utf-8")
    assert script.isascii()
    assert "<" not in script
    head, _, rest = script.partition("(")
    assert (head, rest[-3:]) == ("reviewTexts", ");\n")
    name, texts = json.loads(f"[{rest[:-3]}]")
    assert name == "dora"
    assert any("<script>document.title='owned'" in "".join(entry["text"]) for entry in texts.values())


def test_case_is_loaded_when_it_comes_up(write: Write, browser: Any) -> None:
    """Only then; hostile words stay words; a file that is gone, or of another review, is said each time."""
    file = write("review #1: a%20b.html")
    folder = file.parent / "review #1: a%20b_texts"
    (folder / "bela.js").unlink()
    (folder / "cleo.js").write_text('reviewTexts("cleo", {"' + "0" * 32 + '": {}});\n', encoding="utf-8")
    page = browser.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(file.as_uri())
    page.locator("#asked").wait_for()
    assert set(asked) == {file.as_uri(), (folder / "Anna.Lee.js").as_uri()}
    told = {}
    for _ in range(2):
        for name in ALL:
            page.fill("#case", name)
            page.press("#case", "Tab")
            assert page.locator(".where span").nth(1).inner_text() == name
            page.locator("#card", has_text=DENIAL).or_(page.locator("#card", has_text="The texts of")).wait_for()
            told[name] = page.locator("#card").inner_text()
        assert f"The texts of this case are missing: keep the folder {folder.name} beside this page." in told["bela"]
        assert f"The texts of this case in {folder.name} are of another review" in told["cleo"]
        assert DENIAL in told["Anna.Lee"]
        assert "</script><script>document.title='owned'</script><!--<script>" in told["dora"]
    assert page.title().startswith("Review of")
    page.close()


def test_the_list_is_folded_by_case(write: Write, browser: Any) -> None:
    """A case is read when it is unfolded, and a reason half written stays; its questions lead to their card."""
    page = browser.new_page()
    said: list[str] = []
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(write().as_uri())
    introduce(page)
    page.locator("#overview > summary").click()
    assert names(page) == [f"{name}: 0 of 1 answered" for name in ALL]
    assert page.locator("#list button").count() == 0
    page.fill("#reason", "half a rea")
    page.locator("#list summary").nth(2).click()
    page.locator("#list button", has_text=f"– open · cleo, turn 3 · {FACT}").wait_for()
    assert page.locator("#reason").input_value() == "half a rea"
    page.locator("#list button").click()
    assert page.locator(".where span").nth(1).inner_text() == "cleo"
    answer(page, "3")
    assert names(page)[1:3] == ["bela: 0 of 1 answered", "cleo: 1 of 1 answered"]
    assert page.locator("#list button").inner_text().startswith("✓ stays")
    page.fill("#case", "ANNA")
    page.press("#case", "Tab")
    assert names(page) == ["Anna.Lee: 0 of 1 answered"]
    assert said == []
    page.close()


def test_parts_of_a_split_review_load_their_own_files(
    results: Path, write: Write, browser: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two people answer all that their page shows; the files together settle the run, one screen read by both."""
    write("review.html", "--split", "2")
    files, read = [], []
    for number, name in ((1, "Ada"), (2, "Bo")):
        page = browser.new_context(accept_downloads=True).new_page()
        page.goto((tmp_path / f"review-{number}.html").as_uri())
        introduce(page, name)
        while "0 severe left" not in page.locator("#count").inner_text():
            answer(page, "1", "read in full")
            page.keyboard.press("Enter")
        files.append(saved(page, tmp_path / f"{name}.jsonl"))
        read.append({record.case_id for record in read_reviews(files[-1]).records})
        beside = {path.stem for path in (tmp_path / f"review-{number}_texts").iterdir()}
        assert beside == read[-1]
        page.context.close()
    assert read[0] | read[1] == set(ALL)
    assert len(read[0] & read[1]) == 1  # a fifth of four screens, rounded up
    given = [part for file in files for part in ("--reviews", str(file))]
    assert cli.main(["verdict", str(results), *given, "--out", str(tmp_path / "reviewed")]) == 7  # no judge has read
    said = capsys.readouterr().out
    assert "after 4 dismissals\n" in said
    assert ": 0 open findings, 0 severe" in said
    assert "5 records by Ada (clinician), Bo (clinician)" in said


def made(case_id: str, number: int) -> ReviewItem:
    """A question of ordinary size."""
    text, statement = f"Summary {number} of {case_id}. " + KEPT * 5, f"metformin {number} mg twice daily with breakfast"
    asked = Question("fact", case_id, 1 + number % 20, text, statement=statement, fact=f"fact-{number}")
    return ReviewItem(asked, group=number, screen=number // 3, severe=number % 2 == 0, record=KEPT * 3, why="unclear")


def test_a_thousand_cases_are_listed_within_the_limit() -> None:
    """Thirty questions each, more than a small model left open in the cases of the package."""
    items = [made(f"an-ordinary-name-of-a-case-{number // 30:04}", number) for number in range(30 * CASES)]
    page = render_review(items, manifest="m" * 64, slug="s", headline="h", beside="review_texts")
    assert len(page.encode()) <= FIRST_PAGE_MB * 1e6
    assert is_large(items)


@pytest.mark.parametrize(("letter", "large"), [("a", False), ("<", True), ("界", True)])
def test_size_is_that_of_the_page_as_written(monkeypatch: pytest.MonkeyPatch, letter: str, large: bool) -> None:
    """A letter that is escaped counts with its six bytes: a thousand of them exceed five thousand."""
    monkeypatch.setattr(review_page, "ONE_PAGE", 5000)
    assert is_large([ReviewItem(Question("fact", "anna", 1, letter * 1000))]) is large


def test_rows_and_files_together_are_the_questions() -> None:
    """What the small page holds of a question is in the row or in the file of the large one, and not in both."""
    item = ReviewItem(Question("conflict", "anna", 7, "Later.", earlier_turn=4, earlier="Before."), 3, 2, False, True)

    def data(beside: str) -> Any:
        page = render_review([item], manifest="m", slug="s", headline="h", beside=beside)
        return json.loads(page.partition('id="data">')[2].partition("</script>")[0])

    [(_, script)] = render_texts([item])
    [told] = json.loads(f"[{script.partition('(')[2][:-3]}]")[1].values()
    small, large = data("")["items"][0], data("review_texts")
    assert (large["kinds"], large["cases"]) == (["conflict"], ["anna"])
    assert large["rows"] == [[item.question.id, 0, 0, 7, 4, 3, 2, 0, 1]]
    listed = {name: value for name, value in small.items() if name not in told}
    assert listed == {
        "question": item.question.id,
        "kind": "conflict",
        "case_id": "anna",
        "turn": 7,
        "earlier_turn": 4,
        "group": 3,
        "screen": 2,
        "lead": False,
        "severe": True,
    }
    assert {**listed, **told} == small
