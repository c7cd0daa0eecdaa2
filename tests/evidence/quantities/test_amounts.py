"""Amounts, units and stretches of time, with values worked out by hand."""

from __future__ import annotations

import pytest

from pytest_clinical_drift.evidence.quantities.amounts import amounts, same
from pytest_clinical_drift.evidence.reading.text import read


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("50mg", 50, "mg"),
        ("50\u202fmg", 50, "mg"),
        ("fifty milligrams", 50, "mg"),
        ("0.05 g", 0.05, "g"),
        ("1,000 mg", 1000, "mg"),
        ("2,5 mg", 2.5, "mg"),
        ("100 µg", 100, "microgram"),
        ("100 mcg", 100, "microgram"),
        ("four hundred and twenty litres per minute", 420, "litre/minute"),
        ("twenty-eight weeks", 28, "week"),
        ("two puffs", 2, "puff"),
        ("18 u", 18, "unit"),
        ("38.4 degrees Celsius", 38.4, "celsius"),
        ("30 per cent", 30, "percent"),
        ("10.8 g/dL", 10.8, "g/dl"),
        ("129 mmol per litre", 129, "mmol/l"),
        ("71 mmol/mol", 71, "mmol/mol"),
    ],
)
def test_amounts(text: str, value: float, unit: str) -> None:
    """Figures and words, any space, any common spelling of a unit."""
    amount = amounts(read(text))[0]
    assert amount.value == pytest.approx(value)
    assert amount.unit is not None
    assert amount.unit.name == unit


def test_units_of_one_dimension_share_a_base() -> None:
    """0.05 g, 50 mg and 50,000 micrograms are one amount."""
    bases = [amounts(read(text))[0].base for text in ("0.05 g", "50 mg", "50,000 micrograms")]
    assert bases == [pytest.approx(50)] * 3


def test_fahrenheit_is_shifted_before_it_is_scaled() -> None:
    """101.12 °F: (101.12 − 32) × 5/9 = 38.4 °C."""
    assert amounts(read("101.12 °F"))[0].base == pytest.approx(38.4)


def test_range_and_ratio() -> None:
    """A range goes on to its other end and its unit, a two-part strength keeps its text."""
    ranged, ratio = amounts(read("10-15 mg"))[0], amounts(read("100/6"))[0]
    assert (ranged.value, ranged.last - ranged.first) == (10, 2)
    assert ratio.ratio == "100/6"


def test_same_has_a_tolerance() -> None:
    """Rounding noise and a stated tolerance, nothing more."""
    assert same(0.1 + 0.2, 0.3)
    assert same(71, 70.5, 0.75)
    assert not same(50, 51)
