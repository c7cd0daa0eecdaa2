"""A directive before its details are read, and the mood that made one of a verb."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pytest_clinical_drift.evidence.guidance.objects import Mention


@dataclass(frozen=True, slots=True)
class Mood:
    """How a verb advises."""

    strength: Literal["should", "may"] = "should"
    negated: bool = False
    no_need: bool = False


@dataclass(slots=True)
class Draft:
    """A directive before its details are read; positions are words of the view."""

    first: int
    """First word of what advises."""
    end: int
    """One past the last word of it."""
    action: str
    effect: str
    mood: Mood
    targets: tuple[Mention, ...] | None = None
    """What it is about, when the reading itself found it; else what follows the verb."""
    verb: str = ""
    stretch: tuple[int, int] | None = None
    """Words its amounts are read from, when they are known."""
    noun: tuple[int, int] | None = None
    """Words that name what it is about, when no vocabulary entry does."""
    statement: bool = False
    """A regimen or judgement rather than an instruction."""
    weak: bool = False
    """Plain praise or blame."""
    pronoun: bool = False
    """Its subject is a pronoun: what it is about stands before."""
