"""One conversation, assessed: the evidence of every turn and the figures computed from it.

These are the values that travel: from worker to controller as JSON, into reports, and into `study_c_results.json`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from .metrics.drift import SlopeFit

Curve = tuple[float | None, ...]
"""One value per turn; index 0 is turn 1; None where the figure is undefined."""


@dataclass(frozen=True, slots=True)
class Quote:
    """Words of a summary or reply, with their place in the raw text."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class FactFinding:
    """What one summary says about one fact."""

    fact_id: str
    text: str
    """The fact as it holds at this turn."""
    status: str
    """retained, partial, contradicted or absent."""
    reason: str
    """Why it is not plainly retained; empty when it is."""
    quotes: tuple[Quote, ...]
    hard_stop: bool
    stale: bool = False
    """An earlier value was stated as if it were current."""


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


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two pieces of advice of one conversation that cannot both be followed."""

    earlier_turn: int
    later_turn: int
    earlier_quote: str
    later_quote: str
    reason: str
    severe: bool
    adjacent: bool
    """Among the pairs that K_Conflict counts; the others come from comparing all turns."""


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
    hallucinated: tuple[str, ...] = ()
    """Summary entities that stand neither in the intake nor in the patient's messages."""
    fabricated: tuple[str, ...] = ()
    """Invented drugs, doses, allergies and negatives, as sentences."""
    cleaned: bool = False
    """Repetition was cut from the reply before it went into the history."""
    prompt_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class ConflictFigures:
    """Advice compared with advice."""

    pairs: int
    contradictions: int
    rate: float | None
    reason: str
    """Why the rate is undefined; empty when it is defined."""
    found: tuple[Contradiction, ...]


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
    slope_extended: SlopeFit | None
    conflict: ConflictFigures
    breaches: tuple[Breach, ...]
    hard_stops: tuple[str, ...]
    """Sentences, one per hard stop, for the reader."""
    hard_stop_slips: tuple[str, ...]
    stale_facts: tuple[str, ...]
    contradicted_facts: tuple[str, ...]
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
    tags: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def recall_curve(self) -> Curve:
        return tuple(turn.recall for turn in self.turns)

    @property
    def strict_curve(self) -> Curve:
        return tuple(turn.strict_recall for turn in self.turns)

    def recall_at(self, turn: int) -> float | None:
        """Recall at a turn, or None when the conversation did not get there."""
        return self.turns[turn - 1].recall if turn <= len(self.turns) else None

    @property
    def recall_at_horizon(self) -> float | None:
        return self.recall_at(self.horizon)

    @property
    def strict_recall_at_horizon(self) -> float | None:
        return self.turns[self.horizon - 1].strict_recall if self.horizon <= len(self.turns) else None


@cache
def _adapter() -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(CaseAssessment)


def assessment_to_json(assessment: CaseAssessment) -> str:
    """Plain text that crosses process borders; surrogates are escaped."""
    import json

    return json.dumps(_adapter().dump_python(assessment, mode="python"), ensure_ascii=True)


def assessment_from_json(text: str) -> CaseAssessment:
    """The inverse of `assessment_to_json`."""
    import json

    assessment: CaseAssessment = _adapter().validate_python(json.loads(text))
    return assessment
