"""For those who write cases: checks of their quality, and target plans for those that lack one."""

from collections.abc import Iterator
from typing import NamedTuple

from pytest_clinical_drift.cases.faults import Location
from pytest_clinical_drift.core.enums import Word


class Level(Word):
    """How much a remark weighs."""

    ERROR = "error"
    """The case is unfit as a test."""
    WARNING = "warning"
    """It deserves a second look and may be right."""


class Remark(NamedTuple):
    """One thing to mend."""

    level: Level
    place: str
    """Field, fact id or turn."""
    text: str
    """What is wrong, in one sentence without a full stop."""
    case_id: str = ""
    location: Location = ()
    """The way to it in the case's file, for those that refuse a case."""


Remarks = Iterator[Remark]


def warning(place: str, text: str, location: Location = ()) -> Remark:
    return Remark(Level.WARNING, place, text, location=location)


def error(place: str, text: str, location: Location = ()) -> Remark:
    return Remark(Level.ERROR, place, text, location=location)
