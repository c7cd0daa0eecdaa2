"""The words that a verdict consists of: of a case or a whole run, and of one figure."""

from enum import StrEnum


class Verdict(StrEnum):
    """Of a case, or of a run. A case is never PARTIAL."""

    PASS = "PASS"
    CAUTION = "CAUTION"
    FAIL = "FAIL"
    INCOMPLETE = "INCOMPLETE"
    """The subject could not be run: says nothing about the model."""
    UNSETTLED = "UNSETTLED"
    """Nothing failed, and something severe is open."""
    PARTIAL = "PARTIAL"
    """A part of the cases: no release verdict."""


WORST_FIRST = (Verdict.FAIL, Verdict.INCOMPLETE, Verdict.UNSETTLED, Verdict.PARTIAL, Verdict.CAUTION, Verdict.PASS)


class FigureState(StrEnum):
    """Of one metric against its limits."""

    PASS = "PASS"
    CAUTION = "CAUTION"
    FAIL = "FAIL"
    UNREAD = "unread"
    """Inside its limits, but nobody who may decide has read what it rests on: never green."""
    NOT_EVALUATED = "not evaluated"
    """It could have been measured, and was not: never green, and no whole set passes with it."""
    NOT_APPLICABLE = "not applicable"
    """It cannot happen in these cases: neither green nor in the way."""
