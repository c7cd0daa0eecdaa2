"""PDSQI-9 over a set: the mean of each attribute at turn 10 and at the end, and how far the two wordings agree."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from pytest_clinical_drift.judging.pdsqi import ATTRIBUTES, SCALED, WORDINGS, Rating
from pytest_clinical_drift.metrics.agreement import icc_2_1
from pytest_clinical_drift.metrics.recall import mean
from pytest_clinical_drift.scoring.assessment import CaseAssessment

OVERALL = "overall"
"""The mean of the attributes with grades from 1 to 5."""


@dataclass(frozen=True, slots=True)
class AttributeFigures:
    """One attribute over the cases, one conversation of each."""

    attribute: str
    at_horizon: float | None
    """Mean at turn 10, or at the last turn of a shorter case, over cases and wordings."""
    at_end: float | None
    cases: int
    """Whose last summary is rated in both wordings: the items of the ICC."""
    icc: float | None
    """ICC(2,1) of the two wordings; None where it is undefined."""
    icc_low: float | None
    icc_high: float | None


def attribute_figures(runs: Sequence[CaseAssessment], *, confidence: float) -> tuple[AttributeFigures, ...]:
    """Figures of every attribute, and of all that are graded together; empty where nothing was to be rated."""
    if not any(run.pdsqi for run in runs):
        return ()
    figures = []
    for name in (*ATTRIBUTES, OVERALL):
        read = partial(_grade, name)
        last = [{r.wording: read(r) for r in run.pdsqi if r.turn == len(run.turns)} for run in runs]
        rows = [[found.get(wording) for wording in WORDINGS] for found in last]
        pairs = [[grade for grade in row if grade is not None] for row in rows if None not in row]
        icc = icc_2_1(pairs, confidence=confidence)
        at_horizon = mean(mean(read(r) for r in run.pdsqi if r.turn == run.horizon) for run in runs)
        at_end = mean(mean(found.values()) for found in last)
        figures.append(AttributeFigures(name, at_horizon, at_end, len(pairs), *(icc or (None, None, None))))
    return tuple(figures)


def _grade(name: str, rating: Rating) -> float | None:
    if name == OVERALL:
        return mean(value for name, value in rating.scores if name in SCALED)
    return dict(rating.scores).get(name)
