"""Assessments made up for tests of what follows from them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from functools import cache
from typing import Any

from pytest_clinical_drift.judging.labelled import GROUPS
from pytest_clinical_drift.judging.opinions import AuditCount
from pytest_clinical_drift.metrics.horizon import early_slope
from pytest_clinical_drift.metrics.recall import ratio
from pytest_clinical_drift.scoring.assessment import (
    CONFIRMED,
    OPEN,
    Alarm,
    AlarmKind,
    AlarmState,
    CaseAssessment,
    ConfirmedBreach,
    ConflictFigures,
    EntityScores,
    Event,
    NoConflictRate,
    SettledFact,
    TurnAssessment,
)

NOTHING = EntityScores(None, None, None, None)
FACTS = 20
"""Facts of a made-up case: a recall of 0.9 has lost two."""
READ = tuple(GROUPS)
"""Groups of kinds in which a judge at its floor decides: all."""
ASKED = tuple((group, 1) for group in GROUPS)
"""A conversation whose every text was read."""


AUDITED = AuditCount(asked=200)
"""So many entries were asked about again that hardly anything can have been missed."""


def conversation(
    case_id: str,
    curve: Sequence[float | None],
    *,
    worst: Sequence[float | None] | None = None,
    strict: Sequence[float | None] | None = None,
    pairs: int = 9,
    contradictions: int = 0,
    suspected: int = 0,
    group: str | None = None,
    repeat: int = 0,
    events: Sequence[Event] = (),
    alarms: Sequence[Alarm] = (),
    breaches: tuple[ConfirmedBreach, ...] = (),
    incomplete: str | None = None,
    asked: Sequence[tuple[str, int]] = ASKED,
    audit: AuditCount = AUDITED,
    **others: Any,
) -> CaseAssessment:
    """One conversation with this recall curve; `worst` and `suspected` are what open alarms add."""
    low, whole = worst or curve, strict or curve
    turns = tuple(
        TurnAssessment(
            number,
            facts(value, low[number - 1]),
            value,
            whole[number - 1],
            NOTHING,
            NOTHING,
            low[number - 1],
            whole[number - 1],
        )
        for number, value in enumerate(curve, start=1)
    )
    rate = ratio(contradictions, pairs)
    reason = None if pairs else NoConflictRate.NO_PAIRS
    return CaseAssessment(
        case_id=case_id,
        persona_id=case_id,
        group=group or case_id,
        repeat=repeat,
        t10_turn=min(10, len(curve)),
        turns=turns,
        slope=early_slope(curve),
        slope_worst=early_slope(curve, low),
        slope_extended=None,
        conflict=ConflictFigures(pairs, contradictions, rate, reason, (), contradictions + suspected),
        alarms=tuple(alarms),
        events=tuple(events),
        breaches=breaches,
        incomplete=incomplete,
        asked=tuple(asked),
        audit=audit,
        **others,
    )


@cache
def facts(level: float | None, worst: float | None) -> tuple[SettledFact, ...]:
    """The facts behind a recall and its worse end: lost ones, lost ones that are open, retained ones."""
    if level is None:
        return ()
    lost, doubtful = (math.ceil((1 - (end if end is not None else level)) * FACTS - 1e-9) for end in (level, worst))
    kinds = [CONFIRMED] * lost + [OPEN] * max(0, doubtful - lost)
    kept = [finding(f"f{number}", None) for number in range(len(kinds), FACTS)]
    return (*(finding(f"f{number}", state=state) for number, state in enumerate(kinds)), *kept)


def finding(fact: str, alarm: str | None = "lost", state: str = CONFIRMED, *, hard_stop: bool = False) -> SettledFact:
    """What a summary says of one fact; `alarm` None: plainly retained."""
    status = "retained" if alarm is None else "absent" if alarm == "lost" else "contradicted"
    return SettledFact(
        fact, fact, status, "", (), hard_stop, stale=alarm == "stale", alarm=alarm, state=state if alarm else ""
    )


def event(metric: str = "hard_stops", state: str = CONFIRMED, *, turn: int = 3, kind: str = "lost") -> Event:
    """Something that must not happen."""
    return Event(metric, AlarmKind(kind), turn, AlarmState(state), "penicillin allergy", fact="allergy")


def alarm(kind: str = "lost", state: str = CONFIRMED, *, turn: int = 3, severe: bool = True, **others: Any) -> Alarm:
    """A finding that would count against the model."""
    return Alarm(AlarmKind(kind), turn, severe, AlarmState(state), "", "", **others)


def silenced(case: CaseAssessment, replies: int = 10) -> CaseAssessment:
    """The first replies say nothing; the summaries stay as they are."""
    turns = [dataclasses.replace(turn, silent=turn.turn <= replies) for turn in case.turns]
    return dataclasses.replace(case, turns=tuple(turns))


def flat(case_id: str, level: float = 1.0, **others: Any) -> CaseAssessment:
    """Ten turns at one level."""
    return conversation(case_id, [level] * 10, **others)
