"""Signatures under cases: tied to what was read, and void once it changes."""

from __future__ import annotations

import datetime
import shutil
from pathlib import Path

import pytest

from pytest_clinical_drift.cases.files import bundled_cases, load_cases, sign_case
from pytest_clinical_drift.cases.model import case_hash, signed
from pytest_clinical_drift.cli import main
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.report.cases_page import render_cases

TODAY = datetime.date(2026, 5, 1)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    copy = tmp_path / "methotrexate-weekly-gardener.yaml"
    shutil.copy(bundled_cases() / copy.name, copy)
    return copy


def test_a_signature_leaves_the_case_as_it_was(file: Path) -> None:
    """The old text stays, the signature follows it, and the hash is that of the content."""
    before, (case,) = file.read_text("utf-8"), load_cases(file)
    assert not signed(case)
    made = sign_case(file, by='Dr "O": #1', role="GP", when=TODAY)
    assert signed(made)
    assert made.reviewed is not None
    assert (made.reviewed.by, made.reviewed.role, made.reviewed.when) == ('Dr "O": #1', "GP", TODAY)
    assert made.model_copy(update={"reviewed": None}) == case
    assert file.read_text("utf-8").startswith(before.rstrip())
    assert load_cases(file) == [made]


def test_a_signed_case_whose_text_changes_is_no_longer_signed(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A dose, a grade, a message: any change of content; validation warns."""
    sign_case(file, by="Dr Quill", role="GP", when=TODAY)
    text = file.read_text("utf-8")
    for old, new in (
        ("once weekly on Mondays", "once weekly on Tuesdays"),
        ("severity: catastrophic", "severity: minor"),
    ):
        assert old in text
        file.write_text(text.replace(old, new, 1), encoding="utf-8")
        assert not signed(load_cases(file)[0])
    assert main(["validate", str(file)]) == 0
    assert "changed since Dr Quill (GP) signed it on 2026-05-01: no longer signed" in capsys.readouterr().out
    file.write_text(text, encoding="utf-8")
    assert signed(load_cases(file)[0])


def test_author_and_layout_are_not_signed(file: Path) -> None:
    """Provenance, comments and line breaks leave the signature valid."""
    sign_case(file, by="Dr Quill", role="GP", when=TODAY)
    text = file.read_text("utf-8").replace("author: project team", "author: somebody else")
    file.write_text(f"# a comment\n{text}", encoding="utf-8")
    assert signed(load_cases(file)[0])


def test_a_second_signature_takes_the_place_of_the_first(file: Path) -> None:
    """One block, and signing twice alike gives the same file."""
    sign_case(file, by="Dr One", role="GP", when=TODAY)
    sign_case(file, by="Dr Two", role="GP", when=TODAY)
    text = file.read_text("utf-8")
    assert text.count("reviewed:") == 1
    assert "Dr One" not in text
    sign_case(file, by="Dr Two", role="GP", when=TODAY)
    assert file.read_text("utf-8") == text


def test_the_page_counts_the_signed_and_names_unsigned_hard_stops(file: Path) -> None:
    """Nobody has signed the bundled cases, of which 56 have a hard stop; a signature does not change what is signed."""
    bundled = load_cases(bundled_cases())
    shown = render_cases(bundled)
    assert f"0 of {len(bundled)} cases clinically signed" in shown
    named = shown.partition("Not signed, with a hard stop: ")[2].partition(".")[0]
    assert len(named.split(", ")) == 56
    made = sign_case(file, by="Dr Quill", role="GP", when=TODAY)
    assert "Not signed, with a hard stop" not in render_cases([made])
    assert f"1 of {len(bundled) + 1} cases clinically signed" in render_cases([made, *bundled])
    assert case_hash(made) == case_hash(next(case for case in bundled if case.id == made.id))


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("two.yaml", "cases: []\n", "no case found"),
        ("flow.yaml", None, "each field on its own line"),
        ("listed.yaml", "listed", "each field on its own line"),
        ("case.json", "{}", "only YAML case files can be signed"),
    ],
)
def test_what_cannot_be_signed_stays_as_it_is(
    file: Path, tmp_path: Path, name: str, text: str | None, expected: str
) -> None:
    """One sentence, and nothing is written."""
    case = load_cases(file)[0].model_dump_json(exclude={"provenance", "reviewed", "late"})
    target = tmp_path / name
    target.write_text(case if text is None else f"cases:\n  - {case}\n" if text == "listed" else text, encoding="utf-8")
    before = target.read_text("utf-8")
    with pytest.raises(InputError, match=expected):
        sign_case(target, by="Dr Quill", role="GP", when=TODAY)
    assert target.read_text("utf-8") == before


def test_nobody_signs_namelessly(file: Path) -> None:
    """Name and role are words."""
    before = file.read_text("utf-8")
    assert main(["sign-case", str(file), "--by", " ", "--role", "GP"]) == 4
    assert main(["sign-case", str(file.parent), "--by", "Dr Quill", "--role", "GP"]) == 4
    assert file.read_text("utf-8") == before


def test_the_page_shows_what_is_signed(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Facts, grades, demands and sources on one page without a script, every text escaped."""
    hostile = file.read_text("utf-8").replace("lives alone", "lives <script>alert(1)</script> alone")
    file.write_text(hostile, encoding="utf-8")
    assert main(["sign-case", str(file), "--by", "<b>Dr</b>", "--role", "GP"]) == 0
    page = tmp_path / "page.html"
    assert main(["review", "--cases", str(file), "--out", str(page)]) == 0
    assert "1 of 1 cases clinically signed" in capsys.readouterr().out
    shown = page.read_text("utf-8")
    (case,) = load_cases(file)
    assert "<script" not in shown
    assert "&lt;script&gt;alert(1)" in shown
    assert "&lt;b&gt;Dr&lt;/b&gt;" in shown
    assert "default-src &#39;none&#39;" in shown or "default-src 'none'" in shown
    assert "://" not in shown
    for words in (case_hash(case), "essential: weekly", "catastrophic", "until turn 12", "turn 5: methotrexate 10 mg"):
        assert words in shown, words
    for turn in case.turns:
        assert f"<strong>turn {turn.turn}</strong>" in shown


def test_review_needs_results_or_cases(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One of them, not both."""
    assert main(["review"]) == 4
    assert main(["review", str(file.parent), "--cases", str(file)]) == 4
    assert "name the results folder of a run, or cases with --cases PATH" in capsys.readouterr().err
