"""How often something is taken, as doses per day worked out by hand."""

from __future__ import annotations

import pytest

from pytest_clinical_drift.evidence.quantities.frequencies import frequencies
from pytest_clinical_drift.evidence.reading.text import read


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
