"""The regimen that belongs to a mention: what holds now, held before, is planned, or is another medicine's."""

from __future__ import annotations

import pytest

from pytest_clinical_drift.evidence.mentions.regimen import Regimen, compare, read_regimen
from pytest_clinical_drift.evidence.reading.text import read
from pytest_clinical_drift.evidence.terms.lexicon import term_index


def regimen(text: str, drug: str = "sertraline") -> Regimen:
    document = read(text)
    return read_regimen(document, term_index(document).exact[f"drug:{drug}"][0])


@pytest.mark.parametrize(
    ("text", "current"),
    [
        ("sertraline 50 mg daily", [50]),
        ("50 mg of sertraline", [50]),
        ("a 50 mg sertraline tablet", [50]),
        ("sertraline increased from 50 to 100 mg", [100]),
        ("sertraline 50 mg → 100 mg", [100]),
        ("sertraline is now 100 mg, down from 150 mg", [100]),
        ("sertraline 100 mg (previously 50 mg)", [100]),
        ("sertraline 50 mg (target 100 mg)", [50]),
        ("sertraline 50 mg; consider 100 mg next month", [50]),
        ("amlodipine 5 mg and sertraline 50 mg", [50]),
        ("sertraline 50 mg and amlodipine 5 mg", [50]),
        ("sertraline 50 mg in the morning and 50 mg at night", [50, 50]),
    ],
)
def test_current_amounts(text: str, current: list[float]) -> None:
    """The amounts that hold now; earlier, planned and other medicines' ones are left out."""
    assert [amount.value for amount in regimen(text).strengths] == current


def test_parts_of_the_day_count_as_doses() -> None:
    """Morning and night make two doses a day."""
    assert regimen("sertraline 50 mg in the morning and 50 mg at night").per_day == 2


def test_earlier_and_planned_amounts_are_set_aside() -> None:
    """50 mg held before, 150 mg is planned, 100 mg is taken."""
    found = regimen("sertraline 100 mg daily (previously 50 mg, to increase to 150 mg in May)")
    assert [a.value for a in found.strengths] == [100]
    assert [a.value for a in found.aside] == [50, 150]


@pytest.mark.parametrize(
    "same",
    [
        "sertraline 50mg od",
        "sertraline 50\u202fmg once a day",
        "sertraline fifty milligrams daily",
        "sertraline 0.05 g daily",
        "sertraline, two 25 mg tablets daily",
    ],
)
def test_equal_regimens_agree(same: str) -> None:
    """Units, spellings and a dose in two tablets come to the same amount a day."""
    missing: list[str] = []
    assert not compare(regimen("sertraline 50 mg once daily"), regimen(same), missing)


@pytest.mark.parametrize(
    "other",
    [
        "sertraline 100 mg once daily",
        "sertraline 5 mg once daily",
        "sertraline 50 micrograms once daily",
        "sertraline 50 mg once weekly",
        "sertraline 50 mg twice daily",
    ],
)
def test_other_regimens_clash(other: str) -> None:
    """Another amount, unit or interval is a clash, with a reason."""
    assert compare(regimen("sertraline 50 mg once daily"), regimen(other), [])


def test_what_is_left_out_is_missing_and_no_clash() -> None:
    """A dose without its interval says part of the regimen."""
    missing: list[str] = []
    assert not compare(regimen("sertraline 50 mg once daily"), regimen("sertraline 50 mg"), missing)
    assert missing
