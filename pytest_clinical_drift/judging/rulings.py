"""Opinions on one point: the reading's and those of the two wordings of its question; what state they amount to."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from pytest_clinical_drift.judging.answers import CONFIRMED_BY_PEOPLE, UNSURE, Answer, against


class State(StrEnum):
    """What became of a point."""

    CONFIRMED = "confirmed"
    OPEN = "open"
    DISMISSED = "dismissed"
    CLEARED = "cleared"
    """Asked although nothing had raised it, and not upheld: no alarm."""
    SILENT = "silent"
    """Nobody who may decide has answered: rules alone decide."""


class Raised(StrEnum):
    """Why a point is settled by a question."""

    READING = "reading"
    UNSURE = "unsure reading"
    """The reading has no usable entry for it: the two wordings decide."""
    RULE = "rule"
    """A rule alone: the reading clears it, or there is none."""
    DUE = "due"
    """A hard stop is always asked about at turn 10, at the end and after its updates."""
    QUOTE = "quote"
    """The quotation of a retained fact shares no word with the fact."""
    AUDIT = "audit"
    """Drawn among what the readings cleared."""


ALARMING = frozenset((Raised.READING, Raised.UNSURE, Raised.RULE))
"""A point raised so is an alarm until it is dismissed; the others become one only when upheld."""


@dataclass(frozen=True, slots=True)
class Opinion:
    judge: str
    """Name of the judge, or of a person."""
    wording: int
    """1 or 2; 0 for a person."""
    answer: str
    quote: str
    reason: str
    earlier_quote: str = ""
    role: str = ""
    """Of a person, as declared."""
    reading: bool = False
    """It stands in a reading of the whole text, not in an answer to a single question."""
    doubt: str = ""
    """Why it is unsure: missing, malformed, quote, plea or failed; empty where it is not, or the judge said so."""
    asked_at: int = 0
    """The turn whose text was asked about, where the same fault in a row is settled at its first; 0 for this one."""

    @property
    def by_person(self) -> bool:
        return self.wording == 0


@dataclass(frozen=True, slots=True)
class Ruling:
    """What the opinions on one point amount to."""

    question_id: str
    """Of the question that settles it; empty where none can be put."""
    kind: str
    state: State
    answer: str
    """The answer that counts; `unsure` where there is none."""
    raised: Raised
    opinions: tuple[Opinion, ...] = ()
    by_person: bool = False

    @property
    def quote(self) -> str:
        """The words that the answer rests on: those of an opinion that upholds it, where there is one."""
        quoted = [opinion for opinion in self.opinions if opinion.quote]
        return next((o.quote for o in sorted(quoted, key=lambda o: not against(self.kind, o.answer))), "")

    @property
    def reason(self) -> str:
        return next((o.reason for o in reversed(self.opinions) if o.answer == self.answer and o.reason), "")


def lean(kind: str, answer: Answer | None) -> bool | None:
    """True: upholds, False: clears, None: unsure, failed or not asked."""
    return None if answer is None or answer.answer == UNSURE else against(kind, answer.answer)


def needs_second(raised: Raised, kind: str, first: Answer | None) -> bool:
    """Whether the second wording is put after the answer to the first."""
    upheld = lean(kind, first)
    if raised is Raised.READING:
        return upheld is not True
    return raised is not Raised.UNSURE and upheld is True


def state_of(
    raised: Raised,
    kind: str,
    first: Answer | None,
    second: Answer | None,
    *,
    rule_confirms: bool = False,
    alone: bool = False,
) -> State:
    """The state of a point; `alone`: as the judge would have it, also where only a person confirms.

    raised by     wording 1         wording 2           state
    the reading   upholds           –                   confirmed
                  does not uphold   upholds             open
                  clears            clears              dismissed (open where a rule that may confirm raised it too)
    unsure        upholds           upholds             confirmed
                  clears            clears              dismissed
    a rule alone  clears            –                   dismissed (open where the rule may confirm by itself)
    due, quote,   clears            –                   cleared
    audit
    these four    upholds           upholds             confirmed
                  upholds           does not uphold     open
    Otherwise, where an answer is unsure or missing: open; for the audit cleared, since nothing had raised it.
    """
    one, two = lean(kind, first), lean(kind, second)
    if one is True and (two is True or raised is Raised.READING):
        return State.OPEN if kind in CONFIRMED_BY_PEOPLE and not alone else State.CONFIRMED
    if raised is Raised.AUDIT and one is not True:
        return State.CLEARED
    cleared = one is False and (two is False or raised not in (Raised.READING, Raised.UNSURE))
    if not cleared or (rule_confirms and raised in ALARMING):
        return State.OPEN
    return State.DISMISSED if raised in ALARMING else State.CLEARED


def telling(kind: str, state: State, reading: str, answers: Sequence[str]) -> str:
    """The answer that is reported: of a confirmed point that of wording 1, of an open one the gravest heard."""
    heard = [answer for answer in answers if answer != UNSURE]
    if state is State.OPEN:
        grave = [answer for answer in (*heard, reading) if against(kind, answer)]
        return "severe" if "severe" in grave else next(iter(grave), UNSURE)
    return heard[0] if heard else reading


def person(name: str) -> str:
    """A reviewer's name, however it is spaced and capitalised: the same person is not two."""
    return " ".join(name.casefold().split())


def with_person(ruling: Ruling, opinions: Sequence[Opinion]) -> Ruling:
    """A review overrides a judge; where people differ the majority decides, and two against each other leave it open.

    Of one reviewer the last answer counts.
    """
    by_judge = tuple(o for o in ruling.opinions if not o.by_person)
    people = {person(o.judge): o for o in (*ruling.opinions, *opinions) if o.by_person}
    everybody = (*by_judge, *people.values())
    heard = [o.answer for o in people.values() if o.answer != UNSURE]
    if not heard:
        return replace(ruling, opinions=everybody)
    upheld = [answer for answer in heard if against(ruling.kind, answer)]
    cleared = [answer for answer in heard if answer not in upheld]
    state = State.OPEN if len(upheld) == len(cleared) else State.DISMISSED
    state = State.CONFIRMED if len(upheld) > len(cleared) else state
    answer = cleared[0] if state is State.DISMISSED else telling(ruling.kind, State.OPEN, UNSURE, upheld)
    return replace(ruling, state=state, answer=answer, opinions=everybody, by_person=True)


@dataclass(frozen=True, slots=True)
class AuditCount:
    """What the audit of one conversation showed."""

    asked: int = 0
    """Cleared entries whose question was answered."""
    wrong: int = 0
    """Upheld in both wordings."""
    open: int = 0
    """Upheld in one wording."""


def audit_count(rulings: Iterable[Ruling]) -> AuditCount:
    drawn = [ruling for ruling in rulings if ruling.raised is Raised.AUDIT and not ruling.by_person]
    states = [r.state for r in drawn if any(not o.reading and o.answer != UNSURE for o in r.opinions)]
    return AuditCount(len(states), states.count(State.CONFIRMED), states.count(State.OPEN))
