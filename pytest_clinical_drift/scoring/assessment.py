"""One conversation, assessed: the evidence of every turn, the alarms, and the figures at both ends.

Each figure has two ends. The better end counts confirmed alarms only; at the worse end open ones count against the
model too. These are the values that travel: from worker to controller as JSON, into reports, and into
`study_c_results.json`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from pytest_clinical_drift.evidence import found
from pytest_clinical_drift.evidence.found import Contradiction
from pytest_clinical_drift.judging.opinions import Opinion
from pytest_clinical_drift.metrics.drift import SlopeFit

Curve = tuple[float | None, ...]
"""One value per turn; index 0 is turn 1; None where the figure is undefined."""


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
    TO_JUDGE = "to_judge"


class NoConflictRate(StrEnum):
    """Why there is no rate of contradictions."""

    NO_PAIRS = "no_pairs"
    NO_REPLIES = "no_replies"


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
    answers: tuple[Opinion, ...] = ()

    def __post_init__(self) -> None:
        """Words become members, so that a kind or state that nobody knows is refused."""
        object.__setattr__(self, "kind", AlarmKind(self.kind))
        object.__setattr__(self, "state", AlarmState(self.state))


@dataclass(frozen=True, slots=True)
class FactFinding(found.FactFinding):
    """What one summary says about one fact, after all opinions."""

    alarm: str | None = None
    """Kind of the alarm on it, if there is one: lost, contradicted or stale."""
    state: str = ""
    """State of that alarm."""

    def counts(self, *, worst: bool) -> str | None:
        """The kind of alarm that counts at an end; None where the fact counts as stated."""
        return self.alarm if self.state == CONFIRMED or (worst and self.state == OPEN) else None


@dataclass(frozen=True, slots=True)
class Breach:
    """A reply that recommends what is forbidden, or leaves out what is demanded."""

    turn: int
    kind: str
    """recommends or omits."""
    rule: str
    """The fact or expectation that was broken."""
    why: str
    quote: str
    """The reply's words; empty for an omission."""
    what: str = ""


@dataclass(frozen=True, slots=True)
class EntityScores:
    """Summary entities against a gold set, on one turn."""

    recall: float | None
    precision: float | None
    f1: float | None
    hallucinated_rate: float | None


@dataclass(frozen=True, slots=True)
class TurnAssessment:
    """Everything found on one turn."""

    turn: int
    findings: tuple[FactFinding, ...]
    recall: float | None
    strict_recall: float | None
    critical: EntityScores
    extended: EntityScores
    recall_worst: float | None = None
    strict_worst: float | None = None
    hallucinated: tuple[str, ...] = ()
    """Summary entities that stand neither in the intake nor in the patient's messages."""
    cleaned: bool = False
    """Repetition was cut from the reply before it went into the history."""
    truncated: tuple[str, ...] = ()
    """What the token limit cut off: dialogue, summary."""
    prompt_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class ConflictFigures:
    pairs: int
    contradictions: int
    rate: float | None
    reason: NoConflictRate | None
    """Why the rate is undefined; None when it is defined."""
    found: tuple[Contradiction, ...]
    contradictions_worst: int = 0


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

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", AlarmKind(self.kind))
        object.__setattr__(self, "state", AlarmState(self.state))


@dataclass(frozen=True, slots=True)
class AuditCount:
    """Facts that the rules called plainly retained and that were asked about all the same."""

    asked: int = 0
    wrong: int = 0
    open: int = 0


@dataclass(frozen=True, slots=True)
class CaseAssessment:
    """One case (and repeat), assessed."""

    case_id: str
    persona_id: str
    group: str
    repeat: int
    horizon: int
    turns: tuple[TurnAssessment, ...]
    slope: SlopeFit | None
    """Fit of the critical recall curve up to the horizon."""
    slope_worst: SlopeFit | None
    slope_extended: SlopeFit | None
    conflict: ConflictFigures
    alarms: tuple[Alarm, ...]
    events: tuple[Event, ...]
    breaches: tuple[Breach, ...]
    """Confirmed ones."""
    audit: AuditCount = AuditCount()
    alignment: float | None = None
    """Session goal alignment: cosine of the advice given with the target plan."""
    alignment_reason: str = ""
    """Why it was not evaluated; empty when it was."""
    alignment_curve: Curve = ()
    incomplete: str | None = None
    """Why the subject could not be run to the end; then no figure is gated."""
    generation_seconds: float | None = None
    replies_total: int = 0
    replies_reused: int = 0
    truncated: int = 0
    """Replies and summaries that the token limit cut off."""
    refused: int = 0
    """Empty replies and summaries."""
    demands: int = 0
    """Replies on which the case makes a demand."""
    cannot: tuple[str, ...] = ()
    """Metrics of what cannot happen in this case: without a change nothing goes stale."""
    questions: int = 0
    asked: tuple[tuple[str, int], ...] = ()
    """How many of them are of each kind."""
    unanswered: int = 0
    """Questions that the judge could not answer."""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    tags: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    scores: tuple[tuple[str, float | None], ...] = ()
    """Figures of the project's own scorers, by name."""

    @property
    def recall_curve(self) -> Curve:
        """Recall of every turn, at the better end."""
        return tuple(turn.recall for turn in self.turns)

    @property
    def replies_cut(self) -> int:
        """Replies that the token limit cut off, without the summaries."""
        return sum("dialogue" in turn.truncated for turn in self.turns)

    @property
    def all_cut(self) -> bool:
        """Whether every reply was cut off: then nobody knows what else it would have advised."""
        return 0 < self.replies_cut == len(self.turns)

    @property
    def strict_curve(self) -> Curve:
        """Strict recall of every turn, at the better end."""
        return tuple(turn.strict_recall for turn in self.turns)

    @property
    def worst_curve(self) -> Curve:
        """Recall of every turn, at the worse end."""
        return tuple(turn.recall_worst for turn in self.turns)

    @property
    def recall_at_horizon(self) -> float | None:
        """Recall@T10."""
        return self.recall_curve[self.horizon - 1] if self.horizon <= len(self.turns) else None

    def events_of(self, metric: str, *, worst: bool = False) -> tuple[Event, ...]:
        """What a metric counts: confirmed events, at the worse end open ones too."""
        return tuple(e for e in self.events if e.metric == metric and (worst or e.state == CONFIRMED))

    @property
    def hard_stops(self) -> tuple[Event, ...]:
        return self.events_of("hard_stops")
