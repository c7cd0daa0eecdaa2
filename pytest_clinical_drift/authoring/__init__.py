"""For those who write cases: checks of their quality, and target plans for those that lack one."""

from collections.abc import Iterator
from typing import Literal, NamedTuple

from pytest_clinical_drift.cases.faults import Location


class Remark(NamedTuple):
    """One thing to mend."""

    level: Literal["error", "warning"]
    """error: the case is unfit as a test; warning: it deserves a second look and may be right."""
    place: str
    """Field, fact id or turn."""
    text: str
    """What is wrong, in one sentence without a full stop."""
    case_id: str = ""
    location: Location = ()
    """The way to it in the case's file, for those that refuse a case."""


Remarks = Iterator[Remark]
