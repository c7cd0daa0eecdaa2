"""Terminal, junit and markdown: the figures people act on, and hostile text that stays text."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from pytest_clinical_drift.report.clean import one_line, printable
from pytest_clinical_drift.report.markdown import inert
from pytest_clinical_drift.report.terminal import sparkline


def test_terminal_gets_no_control_characters(hostile_run: Any) -> None:
    """Escape sequences of the model never reach the terminal."""
    assert "\x1b" not in hostile_run.output
    assert "\x00" not in hostile_run.output
    assert hostile_run.code == 1
    assert 'contradicted "penicillin allergy with anaphylaxis" (hard stop)' in hostile_run.output


def test_junit_is_well_formed_and_parses_elsewhere(hostile_run: Any) -> None:
    """The junit file parses with the standard library and with junitparser, and tells what failed."""
    folder = hostile_run.folder
    suite = ElementTree.parse(folder / "j.xml").getroot()[0]
    failures = [case.find("failure") for case in suite]
    assert all(failure is not None for failure in failures)
    junitparser = pytest.importorskip("junitparser")
    parsed = junitparser.JUnitXml.fromfile(str(folder / "j.xml"))
    names = [(case.classname, case.name) for suite in parsed for case in suite]
    assert names == [("study_c.anna", "python-model-make"), ("study_c.whole-set", "python-model-make")]


def test_junit_names_the_model_and_keeps_to_the_schema(hostile_run: Any, tmp_path: Path) -> None:
    """The suite carries the model's name; without per-test properties the file is valid by the common schema."""
    etree = pytest.importorskip("lxml.etree")
    tree = etree.parse(str(hostile_run.folder / "j.xml"))
    assert tree.getroot()[0].get("name") == "clinical-drift python-model-make"
    schema = etree.XMLSchema(etree.parse(str(Path(__file__).with_name("junit.xsd"))))
    assert not schema.validate(tree), "per-test properties are outside the schema, so that they can be switched off"
    for properties in tree.iter("properties"):
        properties.getparent().remove(properties)
    assert schema.validate(tree), schema.error_log


def test_markdown_renders_hostile_text_as_text(hostile_run: Any) -> None:
    """On GitHub the summary goes to the step page; nothing of the model's text becomes markup."""
    text = (hostile_run.folder / "step.md").read_text(encoding="utf-8")
    assert text.startswith("## 🔴 Clinical drift: python-model-make: FAIL")
    assert "<script" not in text
    assert not re.search(r"(?<!\\)\[link\]", text)
    assert "@everyone" not in text.replace("\\@", "")
    assert "::error title=clinical drift::anna: " in hostile_run.output


def test_printable_shows_what_would_steer() -> None:
    """Controls, bidirectional marks and lone surrogates become visible escapes; tab and newline stay."""
    assert printable("a\x1b[0m\t\n\u202e\ud800") == "a\\x1b[0m\t\n\\x202e\\xd800"
    assert one_line("a\n b\x07" + "c" * 50, 10) == "a b\\x07cc…"


def test_inert_escapes_markdown() -> None:
    """Every character with a meaning in markdown is escaped."""
    assert inert("**a** [b](c) <d> | `e` @f & g") == "\\*\\*a\\*\\* \\[b\\](c) &lt;d\\> \\| \\`e\\` \\@f &amp; g"


def test_sparkline_by_hand() -> None:
    """Eight levels; a dot where nothing was evaluated."""
    assert sparkline([0.0, 0.5, 1.0, None]) == "▁▅█·"
