"""Assessments made up for tests of what follows from them."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_clinical_drift.assessment import Breach, CaseAssessment, ConflictFigures, EntityScores, TurnAssessment
from pytest_clinical_drift.metrics.conflict import conflict_rate
from pytest_clinical_drift.metrics.drift import fit_slope

NOTHING = EntityScores(None, None, None, None)


def conversation(
    case_id: str,
    curve: Sequence[float | None],
    *,
    strict: Sequence[float | None] | None = None,
    pairs: int = 9,
    contradictions: int = 0,
    group: str | None = None,
    repeat: int = 0,
    hard_stops: tuple[str, ...] = (),
    slips: tuple[str, ...] = (),
    stale: tuple[str, ...] = (),
    breaches: tuple[Breach, ...] = (),
    incomplete: str | None = None,
) -> CaseAssessment:
    """One conversation with this recall curve."""
    turns = tuple(
        TurnAssessment(number, (), value, whole, NOTHING, NOTHING)
        for number, (value, whole) in enumerate(zip(curve, strict or curve, strict=True), start=1)
    )
    rate = conflict_rate(contradictions, pairs)
    return CaseAssessment(
        case_id=case_id,
        persona_id=case_id,
        group=group or case_id,
        repeat=repeat,
        horizon=min(10, len(curve)),
        turns=turns,
        slope=fit_slope(curve[:10]),
        slope_extended=None,
        conflict=ConflictFigures(pairs, contradictions, rate, "" if pairs else "no two turns gave advice", ()),
        breaches=breaches,
        hard_stops=hard_stops,
        hard_stop_slips=slips,
        stale_facts=stale,
        contradicted_facts=(),
        incomplete=incomplete,
    )


def flat(case_id: str, level: float = 1.0, **others: object) -> CaseAssessment:
    """Ten turns at one level."""
    return conversation(case_id, [level] * 10, **others)  # type: ignore[arg-type]
