"""What a check has to say about a case."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

Level = Literal["error", "warning"]


class Finding(NamedTuple):
    """One thing to mend, seen by a check that looks at a single case."""

    level: Level
    place: str
    """Field, fact id or turn."""
    text: str
    """What is wrong, in one sentence without a full stop."""


Findings = Iterator[Finding]


@dataclass(frozen=True, slots=True)
class Remark:
    """A finding with the case it is about."""

    case_id: str
    level: Level
    place: str
    text: str


def error(place: str, text: str) -> Finding:
    """Something that makes the case unfit as a test."""
    return Finding("error", place, text)


def warning(place: str, text: str) -> Finding:
    """Something that deserves a second look and may be right."""
    return Finding("warning", place, text)
