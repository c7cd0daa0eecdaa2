"""What a verdict rests on, counted: severe failures with their limit, who settled the alarms, what nobody looked at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.judging.calibration import KindLimits
from pytest_clinical_drift.metrics.stats import pooled_interval, proportion_interval
from pytest_clinical_drift.scoring.assessment import AlarmState, CaseAssessment
from pytest_clinical_drift.verdict.metric_table import SEVERE
from pytest_clinical_drift.verdict.thresholds import Thresholds, load_thresholds

_BREACH_QUESTIONS = ("must", "must_not", "forbidden")
"""Kinds of question whose upheld answers are breaches."""
_OUTRIGHT = (*_BREACH_QUESTIONS, "fact", "conflict")
"""Kinds of question behind severe failures that a judge may confirm."""


@dataclass(frozen=True, slots=True)
class Settled:
    """Alarms by who settled them."""

    by: str
    """rule, judge or person."""
    confirmed: int
    dismissed: int


@dataclass(frozen=True, slots=True)
class Audit:
    """Facts that the rules called plainly retained, asked about all the same."""

    asked: int
    wrong: int
    open: int
    upper: float
    """Upper limit of the share that is not what the rules say."""


@dataclass(frozen=True, slots=True)
class EvidenceCounts:
    """The counts behind a verdict."""

    cases: int
    """Cases that say something: run to the end, or with a severe failure before it."""
    conversations: int
    shortest: int
    longest: int
    """Turns of the shortest and of the longest case, also where the conversation broke off before."""
    severe: int
    """Cases with a confirmed severe failure."""
    severe_open: int
    """Cases with a severe alarm that nobody has settled."""
    severe_upper: float | None
    """Upper limit of the true rate of cases with a severe failure."""
    severe_upper_missed: float | None
    """The same, after what the judge may have missed; None where no judge decides."""
    reviewed: int
    """Cases whose text a clinician has reviewed, of all in the set."""
    total: int
    replies: int
    demanded: int
    """Replies on which the case makes a demand."""
    texts: int
    truncated: int
    replies_cut: int
    """Replies among the texts that the token limit cut off."""
    refused: int
    """Empty replies and summaries."""
    settled: tuple[Settled, ...]
    open: int
    """Alarms that are open."""
    questions: int
    unanswered: int
    false_breaches: float | None
    """Breaches that the judge would wrongly confirm in a run of this size, at the worse end of its calibration."""
    audit: Audit | None


def count_evidence(
    runs: Sequence[CaseAssessment],
    cases: Iterable[Case],
    *,
    confidence: float,
    judge: Mapping[str, KindLimits] | None = None,
    deciding: Sequence[str] = (),
) -> EvidenceCounts:
    """Count what a verdict rests on; `judge` gives the calibrated limits per kind, `deciding` the kinds it decides."""
    measured = [run for run in runs if run.incomplete is None or _severe(run, AlarmState.CONFIRMED)]
    names = list(dict.fromkeys(run.case_id for run in measured))
    failed = {run.case_id for run in measured if _severe(run, AlarmState.CONFIRMED)}
    open_cases = {run.case_id for run in measured if _severe(run, AlarmState.OPEN)}
    group = {run.case_id: run.group for run in measured}
    interval = pooled_interval(
        [int(name in failed) for name in names],
        [1] * len(names),
        [group[name] for name in names],
        confidence=confidence,
    )
    upper = interval.high if interval else None
    known = list(cases)
    planned = {case.id: len(case.turns) for case in known}
    turns = [planned.get(run.case_id, len(run.turns)) for run in measured]
    limits = {kind: found for kind, found in (judge or {}).items() if kind in deciding}
    return EvidenceCounts(
        cases=len(names),
        conversations=len(measured),
        shortest=min(turns, default=0),
        longest=max(turns, default=0),
        severe=len(failed),
        severe_open=len(open_cases),
        severe_upper=upper,
        severe_upper_missed=_after_misses(upper, limits),
        reviewed=sum(case.provenance is not None and case.provenance.status == "reviewed" for case in known),
        total=len(known),
        replies=sum(len(run.turns) for run in runs),
        demanded=sum(run.demands for run in runs),
        texts=sum(run.replies_total for run in runs),
        truncated=sum(run.truncated for run in runs),
        replies_cut=sum(run.replies_cut for run in runs),
        refused=sum(run.refused for run in runs),
        settled=_settled(runs),
        open=sum(alarm.state == AlarmState.OPEN for run in runs for alarm in run.alarms),
        questions=sum(run.questions for run in runs),
        unanswered=sum(run.unanswered for run in runs),
        false_breaches=_false_breaches(runs, limits),
        audit=audit_of(runs, confidence),
    )


def ungated(thresholds: Thresholds) -> tuple[str, ...]:
    """Metrics that the bundled gate holds a model to and these thresholds leave out."""
    return tuple(name for name in load_thresholds().metrics if name not in thresholds.metrics)


def _severe(run: CaseAssessment, state: AlarmState) -> bool:
    return any(event.metric in SEVERE and event.state == state for event in run.events)


def _after_misses(upper: float | None, limits: Mapping[str, KindLimits]) -> float | None:
    """A judge that finds the share s of all failures leaves room for 1 / s times as many."""
    found = [limits[kind].sensitivity.low for kind in _OUTRIGHT if kind in limits]
    if upper is None or not found:
        return None
    return min(1.0, upper / max(min(found), 1e-9))


def _settled(runs: Sequence[CaseAssessment]) -> tuple[Settled, ...]:
    states = Counter((alarm.settled_by, alarm.state) for run in runs for alarm in run.alarms)
    return tuple(
        Settled(by, states[by, AlarmState.CONFIRMED], states[by, AlarmState.DISMISSED])
        for by in ("rule", "judge", "person")
    )


def _false_breaches(runs: Sequence[CaseAssessment], limits: Mapping[str, KindLimits]) -> float | None:
    asked: Counter[str] = Counter()
    for run in runs:
        asked.update(dict(run.asked))
    expected = [asked[kind] * limits[kind].false_confirmed.high for kind in _BREACH_QUESTIONS if kind in limits]
    return sum(expected) if expected else None


def audit_of(runs: Sequence[CaseAssessment], confidence: float) -> Audit | None:
    """The audit with the exact upper limit of what the rules waved through; None where nothing was audited."""
    asked, wrong, unsure = (sum(getattr(run.audit, name) for run in runs) for name in ("asked", "wrong", "open"))
    interval = proportion_interval(wrong + unsure, asked, confidence=confidence)
    return Audit(asked, wrong, unsure, interval.high) if interval else None
