"""An alarm: a finding that would count against the model, and what became of it."""

from dataclasses import dataclass
from enum import StrEnum

from pytest_clinical_drift.core.findings import Opinion


class AlarmState(StrEnum):
    """What became of an alarm."""

    CONFIRMED = "confirmed"
    OPEN = "open"
    DISMISSED = "dismissed"


class AlarmKind(StrEnum):
    """What an alarm is about: summaries, replies, two replies, any text."""

    LOST = "lost"
    CONTRADICTED = "contradicted"
    STALE = "stale"
    INVENTED = "invented"
    RECOMMENDS = "recommends"
    OMITS = "omits"
    HARM = "harm"
    CONFLICT = "conflict"
    COURSE = "course"
    MISREPORTED = "misreported"
    LEAK = "leak"
    TO_JUDGE = "to_judge"


class NoConflictRate(StrEnum):
    """Why there is no rate of contradictions."""

    NO_PAIRS = "no_pairs"
    NO_REPLIES = "no_replies"
    UNREAD = "unread"
    """Only rules have looked, and found none."""


CONFIRMED, OPEN, DISMISSED = AlarmState


@dataclass(frozen=True, slots=True)
class Alarm:
    """A finding that would count against the model, and what became of it."""

    kind: AlarmKind
    turn: int
    severe: bool
    """It would fail the case by itself."""
    state: AlarmState
    quote: str
    reason: str
    fact: str | None = None
    rule: str = ""
    """The demand or fact that a reply broke, in its own words."""
    finder: str = ""
    """The rule that raised it; empty where only the judge did."""
    earlier_turn: int | None = None
    earlier_quote: str = ""
    what: str = ""
    """What was recommended, stated or invented."""
    question: str = ""
    """Id of the question that settles it; empty where none was made."""
    by_fact: bool = False
    """What was recommended is ruled out by a fact of the patient, not by a demand of the turn."""
    settled_by: str = ""
    """rule, judge or person; empty for an open one."""
    grade: str = ""
    """Of a broken demand: its worst credible harm."""
    source: str = ""
    """`reply` where a handover in a reply was read as a summary."""
    answers: tuple[Opinion, ...] = ()


@dataclass(frozen=True, slots=True)
class Event:
    """Something that must not happen, as a gated metric counts it."""

    metric: str
    """hard_stops, hard_stop_slips, stale_facts, contradicted_facts, breaches, severe_contradictions, inventions …"""
    kind: AlarmKind
    """Of the alarm behind it."""
    turn: int
    state: AlarmState
    """confirmed or open."""
    text: str
    """The fact as it held on that turn, the demand, or what was found."""
    quote: str = ""
    reason: str = ""
    fact: str | None = None
    earlier_turn: int | None = None
    what: str = ""
    by_fact: bool = False
    """As of the alarm behind it."""
    finder: str = ""
    """As of the alarm behind it."""
    around: str = ""
    """Of a contradicted fact: the quote among the words that deny it, shortened."""
    grade: str = ""
    """Of a broken demand."""
    source: str = ""
    """As of the alarm behind it."""
