"""Calendar dates in words and figures."""

from __future__ import annotations

import pytest

from pytest_clinical_drift.evidence.quantities.dates import dates
from pytest_clinical_drift.evidence.reading.text import read


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


def test_may_is_a_month_only_beside_a_date() -> None:
    """ "She may return" is no date."""
    assert dates(read("She may return.")) == []
    assert dates(read("in May"))[0].month == 5
