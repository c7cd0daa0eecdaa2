"""Parsed vocabulary files are kept beside bytecode, and never outlive the content they came from."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pytest_clinical_drift.core.packaged import parse
from pytest_clinical_drift.evidence.reading.text import read, tokenise
from pytest_clinical_drift.evidence.terms.vocabulary import all_forms


@pytest.fixture
def words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path / "kept"))
    file = tmp_path / "words.yaml"
    file.write_text("- {name: aspirin, dose: 75, also: [ASA]}\n", encoding="utf-8")
    return file


def kept(file: Path) -> list[Path]:
    return [path for path in (file.parent / "kept").rglob("*") if path.is_file()]


def test_second_reading_is_the_same(words: Path) -> None:
    """Numbers, lists and text survive; one file is kept, without a trace of its writing."""
    assert parse(words) == parse(words) == [{"name": "aspirin", "dose": 75, "also": ["ASA"]}]
    assert [path.suffix for path in kept(words)] == [".parsed"]


def test_other_content_is_parsed_anew(words: Path) -> None:
    parse(words)
    words.write_text("- {name: aspirin, dose: 76, also: [ASA]}\n", encoding="utf-8")
    assert parse(words)[0]["dose"] == 76


@pytest.mark.parametrize("left", [b"", b"short", bytes(32), b"\xff" * 200])
def test_damaged_copy_is_parsed_anew(words: Path, left: bytes) -> None:
    """Also one that carries the right hash and is cut short."""
    expected = parse(words)
    (copy,) = kept(words)
    copy.write_bytes(left)
    assert parse(words) == expected
    copy.write_bytes(copy.read_bytes()[:-3])
    assert parse(words) == expected


def test_nothing_is_kept_where_bytecode_is_not(words: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert parse(words)[0]["name"] == "aspirin"
    assert kept(words) == []


def test_every_wording_is_cut_as_a_text_is() -> None:
    """The short way for plain words gives what reading the whole text gives."""
    assert [form.text for form in all_forms() if tokenise(form.text) != tuple(read(form.text).words)] == []
