"""Amounts, frequencies, durations and regimens, with values worked out by hand."""

from __future__ import annotations

import pytest

from pytest_clinical_drift.evidence.facts.regimen import Regimen, read_regimen
from pytest_clinical_drift.evidence.reading.dates import dates
from pytest_clinical_drift.evidence.reading.frequencies import divisions, frequencies
from pytest_clinical_drift.evidence.reading.quantities import amounts, duration_hours, same
from pytest_clinical_drift.evidence.terms.index import term_index
from pytest_clinical_drift.evidence.text import read


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
        ("10+5+5 mg", 20, "mg"),
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
    """A range keeps both ends, a two-part strength its text."""
    ranged, ratio = amounts(read("10-15 mg"))[0], amounts(read("100/6"))[0]
    assert (ranged.value, ranged.high) == (10, 15)
    assert ratio.ratio == "100/6"


@pytest.mark.parametrize(
    ("text", "per_day", "time"),
    [
        ("50 mg once daily", 1, ""),
        ("50 mg od", 1, ""),
        ("50 mg/day", 1, ""),
        ("50 mg b.i.d.", 2, ""),
        ("50 mg every 12 hours", 2, ""),
        ("50 mg morning and evening", 2, ""),
        ("50 mg tds", 3, ""),
        ("50 mg 3 times a day", 3, ""),
        ("50 mg every 6 hours", 4, ""),
        ("50 mg every five hours", 4.8, ""),
        ("50 mg nocte", 1, "night"),
        ("50 mg at bedtime", 1, "night"),
        ("50 mg mane", 1, "morning"),
        ("50 mg weekly", 1 / 7, ""),
        ("50 mg fortnightly", 1 / 14, ""),
        ("300 mg every 28 days", 1 / 28, ""),
        ("50 mg on alternate days", 0.5, ""),
        ("50 mg prn", 0, ""),
    ],
)
def test_frequencies(text: str, per_day: float, time: str) -> None:
    """How often, as doses per day, with the part of the day where it is fixed."""
    found = frequencies(read(text))[0]
    assert found.per_day == pytest.approx(per_day, rel=1e-3)
    assert found.time == time


def test_short_forms_are_frequencies_only_after_an_amount() -> None:
    """ "od" is an overdose or a degree elsewhere."""
    assert frequencies(read("OD in 2019, on the ward")) == []


def test_a_stretch_of_time_is_no_frequency() -> None:
    """ "for a week" says how long."""
    assert [f.per_day for f in frequencies(read("twice a day for a week"))] == [2]


@pytest.mark.parametrize(
    ("text", "hours"), [("7/7", 168), ("6/52", 1008), ("3/12", 2191.5), ("7 days", 168), ("28/40", None)]
)
def test_durations(text: str, hours: float | None) -> None:
    """Stretches in words and in the strokes of clinical shorthand."""
    document = read(text)
    assert duration_hours(document, amounts(document)[0]) == hours


def test_divided_doses() -> None:
    """In how many parts a daily amount is taken."""
    assert [parts for _, parts in divisions(read("20 mg daily in three divided doses"))] == [3]


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
        ("sertraline and amlodipine, 50 mg and 5 mg respectively", [50]),
        ("sertraline 50 mg in the morning and 50 mg at night", [50, 50]),
    ],
)
def test_current_amounts(text: str, current: list[float]) -> None:
    """The amounts that hold now; earlier, planned and other medicines' ones are left out."""
    assert [amount.value for amount in regimen(text).strengths] == current


def test_parts_of_the_day_count_as_doses() -> None:
    """Morning and night make two doses a day."""
    found = regimen("sertraline 50 mg in the morning and 50 mg at night")
    assert found.per_day == 2
    assert found.parts_of_day == {"morning", "night"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("in 2019", (2019, None, None)),
        ("March 2022", (2022, 3, None)),
        ("14 February", (None, 2, 14)),
        ("Feb 14", (None, 2, 14)),
        ("2022-02-14", (2022, 2, 14)),
        ("14/02/2022", (2022, 2, 14)),
    ],
)
def test_dates(text: str, expected: tuple[int | None, int | None, int | None]) -> None:
    """Years, months and days, in words and figures."""
    [date] = dates(read(text))
    assert (date.year, date.month, date.day) == expected


def test_short_dates_agree_with_either_reading() -> None:
    """ "3/22" may be March 2022; "14/2" is the fourteenth of February."""
    march, february = dates(read("March 2022"))[0], dates(read("14 February"))[0]
    assert march.agrees(dates(read("bleed 3/22"))[0])
    assert february.agrees(dates(read("seizure 14/2"))[0])
    assert not february.agrees(dates(read("seizure 14/3"))[0])


def test_may_is_a_month_only_beside_a_date() -> None:
    """ "She may return" is no date."""
    assert dates(read("She may return.")) == []
    assert dates(read("in May"))[0].month == 5


def test_same_has_a_tolerance() -> None:
    """Rounding noise and a stated tolerance, nothing more."""
    assert same(0.1 + 0.2, 0.3)
    assert same(71, 70.5, 0.75)
    assert not same(50, 51)
