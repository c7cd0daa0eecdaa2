"""One piece of advice as a value."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from pytest_clinical_drift.evidence.guidance.figures import Figure
from pytest_clinical_drift.evidence.guidance.goals import Goal
from pytest_clinical_drift.evidence.guidance.quantity import Amounts

Polarity = Literal["do", "don't", "no need"]
Strength = Literal["should", "may"]
Urgency = Literal["now", "same day", "days", "routine"]


@dataclass(frozen=True, slots=True)
class Advice:
    """One directive of a reply."""

    action: str
    """start, stop, continue, increase, decrease, take, eat, carry, avoid, seek_care, schedule, monitor, wait, drive,
    rest or practise."""
    polarity: Polarity
    strength: Strength
    """should: told to; may: permitted or offered."""
    object: str | None
    """Id of what it is about, `kind:name` ("drug:ibuprofen", "food:alcohol"), None for a plain noun."""
    object_text: str
    """The words that name the object, as far as they were found."""
    quote: str
    """The sentence of the reply."""
    start: int
    end: int
    """Offsets of the quote in the reply."""
    dose: str | None = None
    frequency: str | None = None
    timing: str | None = None
    """with food, without food, morning, evening, night."""
    duration: str | None = None
    urgency: Urgency | None = None
    condition: str | None = None
    """The words that limit when it applies ("if no better in two weeks")."""
    reason: str | None = None
    effect: str = field(default="act", repr=False)
    """What the action means for its object: for, against, more, less, care, watch, wait, act."""
    objects: tuple[str, ...] = field(default=(), repr=False)
    """Every id that the directive is about."""
    amounts: Amounts = field(default=Amounts(), repr=False)
    food: str | None = field(default=None, repr=False)
    condition_kind: str | None = field(default=None, repr=False)
    """if, stage (once, when), until, while."""
    temporary: bool = field(default=False, repr=False)
    bounded: bool = field(default=False, repr=False)
    """Said for a stretch of time ("for the rest of this pregnancy")."""
    lasting: bool = field(default=False, repr=False)
    deferred: bool = field(default=False, repr=False)
    """Depends on a clinician's word."""
    sentence: int = field(default=0, repr=False)
    named: frozenset[str] = field(default=frozenset(), repr=False)
    """Ids of the medicines, tests, conditions and measures its sentence names."""
    scope: frozenset[str] = field(default=frozenset(), repr=False)
    """Stems of the words the directive governs."""
    qualified: bool = field(default=False, repr=False)
    """The directive is about how the object is used, so that its negation does not forbid the object."""
    said: frozenset[str] = field(default=frozenset(), repr=False)
    """Words of its own clause, little words aside."""
    topic: frozenset[str] = field(default=frozenset(), repr=False)
    """Stems of its whole sentence."""
    condition_topic: frozenset[str] = field(default=frozenset(), repr=False)
    figures: tuple[Figure, ...] = field(default=(), repr=False)
    """Figures of its sentence with their units, phone numbers aside."""
    granted: bool = field(default=False, repr=False)
    """Gives way to what the patient would like ("since you insist")."""
    group: frozenset[str] = field(default=frozenset(), repr=False)
    """Groups of people it speaks of in general ("children under 16")."""
    weak: bool = field(default=False, repr=False)
    """Plain praise or blame of its object."""
    sure: bool = field(default=True, repr=False)
    """What it is about stands in its own sentence or label, not in the sentence before."""
    verb: str = field(default="", repr=False)
    hour: str | None = field(default=None, repr=False)
    """Time of day: morning, evening or night."""
    goal: Goal | None = field(default=None, repr=False)
    """A figure to reach or stay within, for everyday things (litres, steps, hours)."""

    @property
    def stance(self) -> int:
        """+1 towards having the object, -1 towards going without it, 0 neither ("don't take it with food")."""
        if self.qualified and (self.effect == "for") == (self.polarity != "do"):
            return 0
        return self.literal_stance

    @property
    def literal_stance(self) -> int:
        """The stance, whatever may be said about how the object is used."""
        if self.effect not in ("for", "against"):
            return 0
        towards = 1 if self.effect == "for" else -1
        return towards if self.polarity == "do" else -towards
