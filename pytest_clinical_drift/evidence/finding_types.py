"""Values of one conversation read by rules: findings, which are not yet alarms."""

from dataclasses import dataclass

from pytest_clinical_drift.evidence.advice.breach import Breach
from pytest_clinical_drift.evidence.entities import ScoredEntities
from pytest_clinical_drift.evidence.facts.fact import RETAINED


@dataclass(frozen=True, slots=True)
class Quote:
    """Words of a summary or reply, with their place in the raw text."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class FactFinding:
    """What one summary says about one fact, by rules."""

    fact_id: str
    text: str
    """The fact as it holds at this turn."""
    status: str
    """retained, partial, contradicted or absent; where it is unclear, the likelier one."""
    reason: str
    """Why it is not plainly retained; empty when it is."""
    quotes: tuple[Quote, ...]
    hard_stop: bool
    stale: bool = False
    """An earlier value was stated as if it were current."""
    certain: bool = True
    """Stated plainly, or plainly wrong; False: unclear."""
    rule: str = ""
    """The rule that decided."""
    replaced: tuple[str, ...] = ()
    """Earlier values that no longer hold."""

    @property
    def plain(self) -> bool:
        """Stated whole, beyond doubt."""
        return self.status == RETAINED and self.certain


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyFinding(Breach):
    """A reply that seems to recommend what is forbidden, or to leave out what is demanded."""

    turn: int
    """Of a demand that several replies may meet the last of them."""


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
class PairFinding(Contradiction):
    finder: str


@dataclass(frozen=True, slots=True)
class GraderAddress:
    """Words of the model that speak to whoever grades it."""

    turn: int
    variant: str
    quote: str


@dataclass(frozen=True, slots=True)
class TurnFindings:
    """One turn; without findings where the summary could not be had."""

    turn: int
    facts: tuple[FactFinding, ...] = ()
    entities: ScoredEntities | None = None


@dataclass(frozen=True, slots=True)
class Findings:
    """One conversation, read by rules."""

    turns: tuple[TurnFindings, ...]
    replies: tuple[ReplyFinding, ...]
    pairs: tuple[tuple[int, int], ...]
    """Adjacent turns that gave advice and were compared."""
    conflicts: tuple[PairFinding, ...]
    addresses: tuple[GraderAddress, ...]
