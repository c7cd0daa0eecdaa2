"""A gated metric over the whole set: both ends, their intervals, and what the judge's own error makes of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from pytest_clinical_drift.metrics.corrected import CorrectedRate, Counted, corrected_rate
from pytest_clinical_drift.metrics.drift import steepest_slope
from pytest_clinical_drift.metrics.recall import mean, ratio
from pytest_clinical_drift.metrics.stats import Interval, effective_trials, mean_interval, pooled_interval
from pytest_clinical_drift.scoring.assessment import CONFIRMED, FactFinding
from pytest_clinical_drift.verdict.case import ALL_CUT, CaseValue, Repeats, case_value, pooled_conflict, unheard
from pytest_clinical_drift.verdict.limits import MetricLimits
from pytest_clinical_drift.verdict.thresholds import EVENT_METRICS, Thresholds
from pytest_clinical_drift.verdict.values import (
    CAUTION,
    FAIL,
    NOT_APPLICABLE,
    NOT_EVALUATED,
    PASS,
    SEVERE,
    Basis,
    Judgement,
    band_of,
    counted,
)

_HOPELESS = 20
"""A set would have to grow by more than this factor: then no number is given."""
_KINDS = {"k_conflict": "conflict", "recall_at_t10": "fact"}
"""Corrected metrics, and the kind of question that each rests on."""


def judge_over(
    name: str, limits: MetricLimits, complete: Sequence[Repeats], thresholds: Thresholds, waived: set[str], basis: Basis
) -> Judgement:
    """A metric over the whole set, decided by its intervals or its point estimates."""
    if name in EVENT_METRICS:
        return _judge_events(name, limits, complete, thresholds, waived)
    if name == "k_conflict":
        judged = _judge_conflict(limits, complete, thresholds)
    else:
        judged = _judge_mean(name, limits, complete, thresholds)
    return _with_correction(judged, limits, complete, basis, thresholds.set.confidence)


def _judge_mean(name: str, limits: MetricLimits, complete: Sequence[Repeats], thresholds: Thresholds) -> Judgement:
    values = [(case_value(name, repeats), repeats[0].group) for repeats in complete]
    groups = [group for value, group in values if value.best is not None]
    ends = (
        [value.best for value, _ in values if value.best is not None],
        [value.worst for value, _ in values if value.worst is not None],
    )
    # the range of a project's own figure is not known: as far as it was seen to go, 0 to 1 at least
    worst, best = min(0.0, *ends[1], 0.0), max(1.0, *ends[0], 1.0)
    if limits.direction == "lower":
        worst, best = best, worst
    if name == "drift_slope":
        worst = min((steepest_slope(repeats[0].horizon) for repeats in complete), default=0.0)
        best = -worst
    sure, harsh = (
        mean_interval(end, groups, confidence=thresholds.set.confidence, worst=worst, best=best) for end in ends
    )
    means = mean(ends[0]), mean(ends[1])
    detail = f"n = {len(groups)}" if groups else _why_not(values)
    return _by_interval(name, limits, means, (sure, harsh), detail, thresholds)


def _why_not(values: Sequence[tuple[CaseValue, object]]) -> str:
    """Why nothing was measured in any case; one in which it cannot happen tells only if it can in none."""
    told = sorted((value for value, _ in values), key=lambda value: not value.can_happen)
    return told[0].detail if told else "no case was run to the end"


def _judge_conflict(limits: MetricLimits, complete: Sequence[Repeats], thresholds: Thresholds) -> Judgement:
    sure, worst, pairs = pooled_conflict(complete)
    per_case = [pooled_conflict([repeats]) for repeats in complete]
    trials, groups = [row[2] for row in per_case], [repeats[0].group for repeats in complete]
    sure_limits, worst_limits = (
        pooled_interval([row[end] for row in per_case], trials, groups, confidence=thresholds.set.confidence)
        for end in (0, 1)
    )
    nothing = "no pair of advice in the whole set" if complete else _why_not(())
    if complete and all(map(unheard, complete)):
        nothing = ALL_CUT
    detail = f"{sure} of {counted(pairs, 'pair')}" if pairs else nothing
    rates = ratio(sure, pairs), ratio(worst, pairs)
    return _by_interval("k_conflict", limits, rates, (sure_limits, worst_limits), detail, thresholds)


def _judge_events(
    name: str, limits: MetricLimits, complete: Sequence[Repeats], thresholds: Thresholds, waived: set[str]
) -> Judgement:
    """Cases in which it happened; a waived one counts as CAUTION, and under policy set max_failing_cases decides."""
    values = [(case_value(name, repeats), repeats) for repeats in complete]
    measured = [(value, repeats) for value, repeats in values if value.best is not None]
    if not measured:
        never = values and not any(value.can_happen for value, _ in values)
        verdict = NOT_APPLICABLE if never else NOT_EVALUATED
        return Judgement(name, None, verdict, str(limits.pass_limit), _why_not(values))
    happened = [bool(value.best) for value, _ in measured]
    possible = sum(bool(value.worst) for value, _ in measured)
    excused = sum(hit and repeats[0].case_id in waived for hit, (_, repeats) in zip(happened, measured, strict=True))
    groups = [repeats[0].group for _, repeats in measured]
    interval = pooled_interval(
        [int(hit) for hit in happened], [1] * len(happened), groups, confidence=thresholds.set.confidence
    )
    waiting = possible - sum(happened)
    upper = f"; compatible with a true rate up to {interval.high:.1%}" if interval else ""
    if waiting:  # open alarms are not innocent: no limit can be given while somebody has to read them
        upper = f" confirmed, {waiting} more with open alarms: the rate is not known"
    signed = f"; {excused} waived" if excused else ""
    where = " where it can happen" if any(not value.can_happen for value, _ in values) else ""
    detail = f"{sum(happened)} of {counted(len(happened), 'case')}{where}{upper}{signed}"
    sure = float(sum(happened))
    verdict = band_of(limits, sure - excused)
    softened = name not in SEVERE and thresholds.policy == "set" and verdict == FAIL
    undecided = verdict == PASS and (excused or band_of(limits, float(possible)) != PASS)
    if softened or undecided:
        verdict = CAUTION
    return Judgement(name, sure, verdict, str(limits.pass_limit), detail, worst=float(possible))


def _by_interval(
    name: str,
    limits: MetricLimits,
    values: tuple[float | None, float | None],
    intervals: tuple[Interval | None, Interval | None],
    detail: str,
    thresholds: Thresholds,
) -> Judgement:
    """FAIL by the better point estimate, PASS by the worse end's whole interval, else CAUTION."""
    best, worst = values
    judged = Judgement(name, best, band_of(limits, best), str(limits.pass_limit), detail, intervals[0], worst)
    if best is None or judged.verdict == FAIL:
        return judged
    decisive, value = intervals[1], worst if worst is not None else best
    if decisive is None or thresholds.set.decide_by == "point":
        return replace(judged, verdict=PASS if band_of(limits, value) == PASS else CAUTION)
    bad_end = decisive.low if limits.direction == "higher" else decisive.high
    has_width = decisive.high - decisive.low > 1e-12
    if limits.pass_limit.holds(bad_end) and has_width:
        return replace(judged, verdict=PASS)
    advice = cases_to_settle(value, bad_end, limits, decisive)
    return replace(judged, verdict=CAUTION, detail=f"{detail}{advice}")


def cases_to_settle(value: float, bad_end: float, limits: MetricLimits, interval: Interval) -> str:
    """How many independent cases like these would bring the interval inside the limit; empty if none would."""
    room, reach = abs(value - limits.pass_limit.value), abs(value - bad_end)
    if not limits.pass_limit.holds(value) or room <= 1e-9 or reach <= 1e-12:
        return ""
    # limits of an event never seen shrink with 1 / n, all others with 1 / sqrt(n)
    power = 1 if interval.method == "exact" and value in (0.0, 1.0) else 2
    factor = (reach / room) ** power
    if factor > _HOPELESS:
        return "; too close to the limit for more cases to settle it"
    return f"; about {max(interval.units + 1, math.ceil(interval.units * factor))} independent cases would settle it"


def _with_correction(
    judged: Judgement, limits: MetricLimits, complete: Sequence[Repeats], basis: Basis, confidence: float
) -> Judgement:
    """The judgement with the corrected rate beside it.

    CAUTION instead of PASS where the corrected value leaves the pass limit; FAIL where its whole interval lies past the
    fail line.
    """
    kind = _KINDS.get(judged.metric, "")
    error = basis.errors.get(kind)
    if error is None or kind not in basis.deciding or judged.value is None:
        return judged
    upheld, cleared = error
    if basis.reviewers:
        cleared = (cleared[1], cleared[1])  # people have read what was upheld; what was missed stays missed
    corrected = _corrected(judged, complete, upheld, cleared, confidence)
    if corrected is None:
        return judged
    kind_end = corrected.high if limits.direction == "higher" else corrected.low
    verdict = judged.verdict
    if band_of(limits, kind_end) == FAIL:
        verdict = FAIL
    elif verdict == PASS and band_of(limits, corrected.value) != PASS:
        verdict = CAUTION
    shown = f"{corrected.value:.3f} [{corrected.low:.3f}, {corrected.high:.3f}] corrected for the judge's error"
    return replace(judged, verdict=verdict, corrected=corrected, detail=f"{judged.detail}; {shown}")


def _corrected(
    judged: Judgement, complete: Sequence[Repeats], upheld: Counted, cleared: Counted, confidence: float
) -> CorrectedRate | None:
    counts = [_counted(judged.metric, repeats) for repeats in complete]
    hits, asked, whole = (sum(row[column] for row in counts) for column in range(3))
    if not asked or judged.verdict == NOT_EVALUATED or judged.value is None:
        return None
    groups = [repeats[0].group for repeats in complete]
    size = effective_trials([row[0] for row in counts], [row[1] for row in counts], groups, confidence=confidence)
    share = hits / asked
    rate = corrected_rate((share * size, size), sensitivity=upheld, specificity=cleared, confidence=confidence)
    if rate is None or judged.metric == "k_conflict":
        return rate
    # recall: what the judge was asked about shifts, the facts that rules settle stay
    value, low, high = (
        min(1.0, max(0.0, judged.value - (true - share) * asked / whole)) for true in (rate.value, rate.high, rate.low)
    )
    return CorrectedRate(value, low, high)


def _counted(metric: str, repeats: Repeats) -> tuple[int, int, int]:
    """Faults upheld, questions, and all that the rate is a share of."""
    if metric == "k_conflict":
        sure, _, pairs = pooled_conflict([repeats])
        return sure, pairs, pairs
    facts: list[FactFinding] = [
        fact for run in repeats for turn in run.turns[run.horizon - 1 : run.horizon] for fact in turn.findings
    ]
    asked = [fact for fact in facts if fact.alarm is not None]
    return sum(fact.state == CONFIRMED for fact in asked), len(asked), len(facts)
