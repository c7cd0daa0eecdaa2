"""A finding: one thing in one conversation, the opinions on it, and what they amount to."""

import re
from dataclasses import dataclass
from typing import Self

from pytest_clinical_drift.core.words import Kind, State, Why, Word

_SPANNING = (Kind.CONFLICT, Kind.COURSE)
"""Kinds that concern two turns and have no subject."""
_OF_THE_REPLY = (Kind.FORBIDDEN, Kind.HARM)
"""Kinds of which a reply has one each."""
_TEXT = re.compile(
    r"(?P<kind>\w+)@(?:(?P<earlier>\d+)-)?(?P<turn>\d+)(?:/(?P<source>\w+))?(?::(?P<subject>.*))?", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class FindingKey:
    """Names a finding within its conversation: equal for whoever raises it."""

    kind: Kind
    turn: int
    subject: str = ""
    """Id of the fact or demand, or the matched words; empty where the text as a whole is meant."""
    earlier_turn: int | None = None
    """The earlier reply of a contradiction, the first turn of a course; None where no turns are named."""
    source: str = ""
    """`reply` for a handover read as a summary; of to_judge and leak, which text of the turn it is."""

    @classmethod
    def of(
        cls, kind: str, turn: int, subject: str = "", *, span: tuple[int, int] | None = None, source: str = ""
    ) -> Self:
        """The key of a kind, with the parts that identify a finding of this kind."""
        known = Kind(kind)
        if known in _SPANNING:
            return cls(known, turn) if span is None else cls(known, span[1], earlier_turn=span[0])
        if known in _OF_THE_REPLY:
            return cls(known, turn)
        return cls(known, turn, subject, source=source)

    @classmethod
    def parse(cls, text: str) -> Self:
        """The key that `str` wrote; ValueError for anything else."""
        match = _TEXT.fullmatch(text)
        if match is None:
            raise ValueError(f"not a finding key: {text[:80]!r}")
        earlier = match["earlier"]
        return cls(
            Kind(match["kind"]),
            int(match["turn"]),
            match["subject"] or "",
            earlier_turn=None if earlier is None else int(earlier),
            source=match["source"] or "",
        )

    def __str__(self) -> str:
        turns = str(self.turn) if self.earlier_turn is None else f"{self.earlier_turn}-{self.turn}"
        source = f"/{self.source}" if self.source else ""
        subject = f":{self.subject}" if self.subject else ""
        return f"{self.kind}@{turns}{source}{subject}"

    @property
    def span(self) -> tuple[int, int] | None:
        """First and last turn, where two are named."""
        return None if self.earlier_turn is None else (self.earlier_turn, self.turn)

    @property
    def first_turn(self) -> int:
        """The earlier of its turns; its only one where no other is named."""
        return self.turn if self.earlier_turn is None else self.earlier_turn


@dataclass(frozen=True, slots=True)
class Opinion:
    """What one voter says of a finding."""

    judge: str
    """Name of the judge, or of a person."""
    wording: int
    """1 or 2; 0 for a person."""
    answer: str
    """One of the kind's words; `unsure` where it does not count."""
    quote: str
    reason: str
    earlier_quote: str = ""
    """Words of the earlier reply, for a conflict."""
    role: str = ""
    """Of a person, as declared."""
    reading: bool = False
    """Part of a reading of the whole text, not an answer to a single question."""
    doubt: str = ""
    """Why it is unsure: missing, malformed, quote, plea or failed; empty where it is not, or the judge said so."""
    asked_at: int = 0
    """The turn whose text was asked about, where the same fault in a row is settled at its first; 0 for this one."""

    @property
    def by_person(self) -> bool:
        return self.wording == 0


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing in a conversation: why it was asked about, the opinions on it, and what they amount to.

    An entry of a reading is a finding with that one opinion. A finding that nothing has settled is open where it is
    raised or unsure, otherwise cleared.
    """

    key: FindingKey
    opinions: tuple[Opinion, ...] = ()
    answer: str = Word.UNSURE
    """The answer that counts."""
    state: State = State.CLEARED
    why: Why | None = None
    """Why its question is asked; None where none is."""
    question: str = ""
    """Id of the question that settles it; empty where none can be put."""
    rule_confirms: bool = False
    """A rule that may confirm by itself raised it too."""
    follows: tuple[FindingKey, ...] = ()
    """The same fault at neighbouring probes, whose state it takes while they agree."""
    by_person: bool = False
    """People decided its state."""

    @property
    def kind(self) -> Kind:
        return self.key.kind

    @property
    def turn(self) -> int:
        return self.key.turn

    @property
    def read(self) -> Opinion | None:
        """The opinion of the reading, where there is one."""
        return next((opinion for opinion in self.opinions if opinion.reading), None)

    @property
    def doubt(self) -> str:
        """Why the reading's entry does not count; empty where it does."""
        read = self.read
        return read.doubt if read is not None else ""
