"""What is shown beside a verdict and never gated: repeats that disagree, PDSQI-9, and the sanity band."""

import datetime
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pytest_clinical_drift.cases.model import Case, facts_at
from pytest_clinical_drift.evidence.findings import FactFinding, find_facts
from pytest_clinical_drift.judging.pdsqi import ATTRIBUTES, SCALED, WORDINGS, Rating
from pytest_clinical_drift.metrics.agreement import icc_2_1
from pytest_clinical_drift.metrics.intervals import repeat_sd
from pytest_clinical_drift.metrics.recall import mean, recall
from pytest_clinical_drift.scoring.assessment import CaseAssessment
from pytest_clinical_drift.verdict.case import judge_case
from pytest_clinical_drift.verdict.measures import Repeats
from pytest_clinical_drift.verdict.reasons import Verdict
from pytest_clinical_drift.verdict.thresholds import Thresholds

OVERALL = "overall"
"""The mean of the attributes with grades from 1 to 5."""
LOWEST_CEILING = 0.95
"""An echo of the intake should find at least this share of the intake's facts."""


@dataclass(frozen=True, slots=True)
class FlakyCase:
    """A case whose repeats, each judged alone, do not agree."""

    case_id: str
    verdicts: tuple[Verdict, ...]
    """One per repeat."""
    recalls: tuple[float | None, ...]
    """Recall@T10 of each repeat."""


@dataclass(frozen=True, slots=True)
class RepeatFigures:
    """Variation between conversations of the same case under sampled decoding."""

    repeats: int
    recall_sd: float | None
    """Of Recall@T10 between the repeats of one case; None where nothing was evaluated twice."""
    flaky: tuple[FlakyCase, ...]


def repeat_figures(
    cases: Sequence[Repeats], thresholds: Thresholds, today: datetime.date, deciding: Sequence[str] = ()
) -> RepeatFigures | None:
    """Spread within cases and those that change their verdict by chance; None when no case was repeated."""
    most = max((len(repeats) for repeats in cases), default=0)
    if most < 2:
        return None
    flaky: list[FlakyCase] = []
    values: list[list[float]] = []
    for repeats in cases:
        recalls = tuple(run.recall_at_t10 for run in repeats)
        values.append([value for value in recalls if value is not None])
        verdicts = tuple(judge_case([run], thresholds, today, deciding).verdict for run in repeats)
        if len(set(verdicts)) > 1:
            flaky.append(FlakyCase(repeats[0].case_id, verdicts, recalls))
    return RepeatFigures(most, repeat_sd(values), tuple(flaky))


@dataclass(frozen=True, slots=True)
class AttributeFigures:
    """One attribute over the cases, one conversation of each."""

    attribute: str
    at_t10: float | None
    """Mean at turn 10, or at the last turn of a shorter case, over cases and wordings."""
    at_end: float | None
    cases: int
    """Whose last summary is rated in both wordings: the items of the ICC."""
    icc: float | None
    """ICC(2,1) of the two wordings; None where it is undefined."""
    icc_low: float | None
    icc_high: float | None


def attribute_figures(runs: Sequence[CaseAssessment], *, confidence: float) -> tuple[AttributeFigures, ...]:
    """PDSQI-9: every attribute, and all that are graded together; empty where nothing was to be rated."""
    if not any(run.pdsqi for run in runs):
        return ()
    return tuple(_figures_of(name, runs, confidence) for name in (*ATTRIBUTES, OVERALL))


def _figures_of(name: str, runs: Sequence[CaseAssessment], confidence: float) -> AttributeFigures:
    last = [_last_grades(name, run) for run in runs]
    pairs: list[list[float]] = []
    for grades in last:
        known = [grades.get(wording) for wording in WORDINGS]
        row = [grade for grade in known if grade is not None]
        if len(row) == len(WORDINGS):
            pairs.append(row)
    agreement = icc_2_1(pairs, confidence=confidence)
    icc, low, high = agreement or (None, None, None)
    return AttributeFigures(
        attribute=name,
        at_t10=mean(_grade_at_t10(name, run) for run in runs),
        at_end=mean(mean(grades.values()) for grades in last),
        cases=len(pairs),
        icc=icc,
        icc_low=low,
        icc_high=high,
    )


def _last_grades(name: str, run: CaseAssessment) -> dict[int, float | None]:
    """The grades of a conversation's last summary, by wording."""
    return {rating.wording: _grade(rating, name) for rating in run.pdsqi if rating.turn == len(run.turns)}


def _grade_at_t10(name: str, run: CaseAssessment) -> float | None:
    return mean(_grade(rating, name) for rating in run.pdsqi if rating.turn == run.t10_turn)


def _grade(rating: Rating, name: str) -> float | None:
    counted = SCALED if name == OVERALL else (name,)
    return mean(value for attribute, value in rating.scores if attribute in counted)


@dataclass(frozen=True, slots=True)
class SanityBand:
    """Recall of the echo and of silence, over the same cases."""

    echo_at_start: float | None
    """The intake, read for the facts of the intake."""
    echo_at_t10: float | None
    """The same, against what is true at turn 10: facts that change on the way are missing from it by right."""
    silence: float | None
    """An empty summary at turn 10."""
    missed: tuple[str, ...]
    """Facts not found in their own intake: "case: fact"."""
    cases: int

    @property
    def faults(self) -> tuple[str, ...]:
        """What is wrong with matcher or cases; empty when the band is sound."""
        faults: list[str] = []
        if self.echo_at_start is not None and self.echo_at_start < LOWEST_CEILING:
            faults.append("echo_loses_facts")
        if self.silence:
            faults.append("silence_keeps_facts")
        return tuple(faults)


def sanity_band(cases: Sequence[Case]) -> SanityBand:
    """What the best and the worst possible summaries score on these cases.

    A subject that echoes the intake cannot forget it, one that says nothing cannot remember. If the echo scores low or
    the silence scores at all, the matcher or the case set is broken, and no figure of the run means anything.
    """
    at_start: list[float | None] = []
    at_t10: list[float | None] = []
    silence: list[float | None] = []
    missed: list[str] = []
    for case in cases:
        before = facts_at(case, 0)
        after = facts_at(case, case.t10_turn)
        echo = find_facts(case.patient_summary, before)
        later = find_facts(case.patient_summary, after) if after != before else echo
        missed += [f"{case.id}: {finding.text}" for finding in echo if finding.status not in ("retained", "partial")]
        at_start.append(_recall_of(echo))
        at_t10.append(_recall_of(later))
        silence.append(_recall_of(find_facts("", after)))
    return SanityBand(mean(at_start), mean(at_t10), mean(silence), tuple(missed), len(cases))


def _recall_of(findings: Iterable[FactFinding]) -> float | None:
    return recall([finding.status for finding in findings])
