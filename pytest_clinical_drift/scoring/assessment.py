"""One conversation, assessed: the evidence of every turn, the alarms, and the figures at both ends.

Each figure has two ends. The better end counts confirmed alarms only; at the worse end open ones count against the
model too. These are the values that travel: from worker to controller as JSON, into reports, and into
`study_c_results.json`.
"""

from dataclasses import dataclass, field

from pytest_clinical_drift.errors import Failure
from pytest_clinical_drift.evidence.findings import Contradiction, FactFinding
from pytest_clinical_drift.judging.canaries import CanaryResult
from pytest_clinical_drift.judging.opinions import AuditCount
from pytest_clinical_drift.judging.pdsqi import Rating
from pytest_clinical_drift.metrics.recall import SlopeFit
from pytest_clinical_drift.scoring.alarm_types import CONFIRMED as CONFIRMED
from pytest_clinical_drift.scoring.alarm_types import DISMISSED as DISMISSED
from pytest_clinical_drift.scoring.alarm_types import OPEN as OPEN
from pytest_clinical_drift.scoring.alarm_types import Alarm as Alarm
from pytest_clinical_drift.scoring.alarm_types import AlarmKind as AlarmKind
from pytest_clinical_drift.scoring.alarm_types import AlarmState as AlarmState
from pytest_clinical_drift.scoring.alarm_types import Event as Event
from pytest_clinical_drift.scoring.alarm_types import NoConflictRate as NoConflictRate

Curve = tuple[float | None, ...]
"""One value per turn; index 0 is turn 1; None where the figure is undefined."""


@dataclass(frozen=True, slots=True)
class SettledFact(FactFinding):
    """What one summary says about one fact, after all opinions."""

    alarm: str | None = None
    """Kind of the alarm on it, if there is one: lost, contradicted or stale."""
    state: str = ""
    """State of that alarm."""

    def counts(self, *, worst: bool) -> str | None:
        """The kind of alarm that counts at an end; None where the fact counts as stated."""
        return self.alarm if self.state == CONFIRMED or (worst and self.state == OPEN) else None


@dataclass(frozen=True, slots=True)
class ConfirmedBreach:
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
    findings: tuple[SettledFact, ...]
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
    probed: bool = True
    """Whether a summary was requested after this turn."""
    scheduled: bool = True
    """Whether the summary was scheduled; extra ones, after an update, enter neither slope nor fall nor horizon."""
    own: bool = True
    """Whether it is a turn of the case, not an interlude of a stretched run."""
    silent: bool = False
    """Whether the reply says nothing: empty, or a single word."""


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
class SingleFigures:
    """The summary of the same transcript given in one message, scored like any other; it enters no other figure."""

    turn: int
    """The last of the transcript."""
    recall: float | None
    recall_worst: float | None
    """With open alarms counted against the model."""
    by_judge: bool
    """Read by a judge that decides on facts; False: by rules."""


@dataclass(frozen=True, slots=True)
class CaseAssessment:
    """One case (and repeat), assessed."""

    case_id: str
    persona_id: str
    group: str
    repeat: int
    t10_turn: int
    """Turn at which Recall@T10 is read: 10, or the last of a shorter case."""
    turns: tuple[TurnAssessment, ...]
    """One per turn; those without a scheduled summary have nothing evaluated."""
    slope: SlopeFit | None
    """Fit of the critical recall curve over turns 1 to 20."""
    slope_worst: SlopeFit | None
    slope_extended: SlopeFit | None
    conflict: ConflictFigures
    alarms: tuple[Alarm, ...]
    events: tuple[Event, ...]
    breaches: tuple[ConfirmedBreach, ...]
    """Confirmed ones."""
    audit: AuditCount = field(default_factory=AuditCount)
    canaries: tuple[CanaryResult, ...] = ()
    """Faults inserted into copies of this conversation's texts, and what became of them."""
    care: tuple[tuple[int, str], ...] = ()
    """Level of care that each reply points to, as read."""
    requests: int = 0
    """Readings and questions put to the judge about this conversation, without audit and canaries."""
    unsure: tuple[tuple[str, int], ...] = ()
    """Why entries of readings became unsure, with how often."""
    rules_against_judge: tuple[tuple[str, int], ...] = ()
    """Facts by what rules and judge say of them, such as `absent/retained`."""
    alignment: float | None = None
    """Session goal alignment: cosine of the advice given with the target plan."""
    alignment_reason: str = ""
    """Why it was not evaluated; empty when it was."""
    incomplete: str | None = None
    """Why the subject could not be run to the end, in words; then no figure is gated."""
    failure: Failure | None = None
    """The same as code and values."""
    generation_seconds: float | None = None
    replies_total: int = 0
    replies_reused: int = 0
    truncated: int = 0
    """Replies and summaries that the token limit cut off."""
    refused: int = 0
    """Empty replies and summaries."""
    repeated: int = 0
    """Replies that are an earlier one of the conversation, word for word."""
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
    single: SingleFigures | None = None
    """None where it was not requested or did not come."""
    pdsqi: tuple[Rating, ...] = ()
    """Ratings of the summaries at turn 10 and at the end; empty where none were requested."""

    @property
    def recall_curve(self) -> Curve:
        """Recall of every turn, at the better end."""
        return tuple(turn.recall for turn in self.turns)

    @property
    def probes(self) -> tuple[int, ...]:
        """Turns after which a summary was scored."""
        return tuple(turn.turn for turn in self.turns if turn.recall is not None)

    @property
    def scheduled_probes(self) -> tuple[int, ...]:
        """Those on the schedule."""
        return tuple(turn.turn for turn in self.turns if turn.recall is not None and turn.scheduled)

    @property
    def replies_cut(self) -> int:
        """Replies that the token limit cut off, without the summaries."""
        return sum("dialogue" in turn.truncated for turn in self.turns)

    @property
    def replies_silent(self) -> int:
        """Replies that say nothing."""
        return sum(turn.silent for turn in self.turns)

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
    def recall_at_t10(self) -> float | None:
        """Recall@T10."""
        return self.recall_curve[self.t10_turn - 1] if self.t10_turn <= len(self.turns) else None

    @property
    def severe_questions(self) -> frozenset[str]:
        """Questions of severe alarms that are not dismissed."""
        return frozenset(alarm.question for alarm in self.alarms if alarm.severe and alarm.state != DISMISSED)

    def events_of(self, metric: str, *, worst: bool = False) -> tuple[Event, ...]:
        """What a metric counts: confirmed events, at the worse end open ones too."""
        return tuple(e for e in self.events if e.metric == metric and (worst or e.state == CONFIRMED))
