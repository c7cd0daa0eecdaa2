"""What the opinions on a finding amount to: those of a reading, of the two wordings of its question, and of people."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from pytest_clinical_drift.core.findings import Finding, Opinion
from pytest_clinical_drift.core.words import State, Why, Word
from pytest_clinical_drift.judging.answers import CONFIRMED_BY_PEOPLE, UNSURE, against

ALARMING = frozenset((Why.READING, Why.UNSURE, Why.RULE))
"""A finding asked about for one of these is an alarm until it is dismissed; others become one only when upheld."""


def quote_of(finding: Finding) -> str:
    """The words that the answer rests on: those of an opinion that upholds it, where there is one."""
    quoted = [opinion for opinion in finding.opinions if opinion.quote]
    upholding = [opinion for opinion in quoted if against(finding.kind, opinion.answer)]
    return next((opinion.quote for opinion in (*upholding, *quoted)), "")


def reason_of(finding: Finding) -> str:
    """The reason of the latest opinion that gives the answer that counts."""
    agreeing = [opinion for opinion in finding.opinions if opinion.answer == finding.answer and opinion.reason]
    return agreeing[-1].reason if agreeing else ""


def lean(kind: str, opinion: Opinion | None) -> bool | None:
    """True: upholds, False: clears, None: unsure, failed or not asked."""
    return None if opinion is None or opinion.answer == UNSURE else against(kind, opinion.answer)


def needs_second(why: Why, kind: str, first: Opinion | None) -> bool:
    """Whether the second wording is put after the answer to the first."""
    upheld = lean(kind, first)
    if why is Why.READING:
        return upheld is not True
    return why is not Why.UNSURE and upheld is True


def state_of(
    why: Why,
    kind: str,
    first: Opinion | None,
    second: Opinion | None,
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
    one = lean(kind, first)
    two = lean(kind, second)
    if one is True and (two is True or why is Why.READING):
        return State.OPEN if kind in CONFIRMED_BY_PEOPLE and not alone else State.CONFIRMED
    if why is Why.AUDIT and one is not True:
        return State.CLEARED
    cleared = one is False and (two is False or why not in (Why.READING, Why.UNSURE))
    if not cleared or (rule_confirms and why in ALARMING):
        return State.OPEN
    return State.DISMISSED if why in ALARMING else State.CLEARED


def telling(kind: str, state: State, reading: str, answers: Sequence[str]) -> str:
    """The answer that is reported: of a confirmed finding that of wording 1, of an open one the gravest given."""
    sure = [answer for answer in answers if answer != UNSURE]
    if state is not State.OPEN:
        return sure[0] if sure else reading
    grave = [answer for answer in (*sure, reading) if against(kind, answer)]
    if Word.SEVERE in grave:
        return Word.SEVERE
    return grave[0] if grave else UNSURE


def person(name: str) -> str:
    """A reviewer's name, however it is spaced and capitalised: the same person is not two."""
    return " ".join(name.casefold().split())


def with_people(finding: Finding, opinions: Sequence[Opinion]) -> Finding:
    """A review overrides a judge; where people differ the majority decides, and a tie leaves the finding open.

    Only a reviewer's last answer counts.
    """
    by_judges = tuple(opinion for opinion in finding.opinions if not opinion.by_person)
    people = {person(opinion.judge): opinion for opinion in (*finding.opinions, *opinions) if opinion.by_person}
    everybody = (*by_judges, *people.values())
    sure = [opinion.answer for opinion in people.values() if opinion.answer != UNSURE]
    if not sure:
        return replace(finding, opinions=everybody)
    upheld = [answer for answer in sure if against(finding.kind, answer)]
    cleared = [answer for answer in sure if answer not in upheld]
    state = State.OPEN
    if len(upheld) > len(cleared):
        state = State.CONFIRMED
    elif len(upheld) < len(cleared):
        state = State.DISMISSED
    answer = cleared[0] if state is State.DISMISSED else telling(finding.kind, State.OPEN, UNSURE, upheld)
    return replace(finding, state=state, answer=answer, opinions=everybody, by_person=True)


@dataclass(frozen=True, slots=True)
class AuditCount:
    """What the audit of one conversation showed."""

    asked: int = 0
    """Cleared entries whose question was answered."""
    wrong: int = 0
    """Upheld in both wordings."""
    open: int = 0
    """Upheld in one wording."""


def audit_count(findings: Iterable[Finding]) -> AuditCount:
    """The audited findings whose question a judge has answered, by outcome; what people settled is left out."""
    states = [
        finding.state
        for finding in findings
        if finding.why is Why.AUDIT and not finding.by_person and _judge_answered(finding)
    ]
    return AuditCount(len(states), states.count(State.CONFIRMED), states.count(State.OPEN))


def _judge_answered(finding: Finding) -> bool:
    return any(not opinion.reading and opinion.answer != UNSURE for opinion in finding.opinions)
