"""A gated metric over the whole set: both ends, their intervals, and what the judge's own error makes of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from pytest_clinical_drift.metrics.conflict import conflict_rate
from pytest_clinical_drift.metrics.line import steepest_slope
from pytest_clinical_drift.metrics.recall import mean
from pytest_clinical_drift.metrics.stats import Interval, mean_interval, pooled_interval
from pytest_clinical_drift.scoring.assessment import CONFIRMED
from pytest_clinical_drift.verdict.case_values import Repeats, case_value, events_of, nobody_asked, pooled_conflict
from pytest_clinical_drift.verdict.corrections import with_correction
from pytest_clinical_drift.verdict.limits import MetricLimits
from pytest_clinical_drift.verdict.thresholds import EVENT_METRICS, Thresholds
from pytest_clinical_drift.verdict.values import CAUTION, FAIL, NOT_EVALUATED, PASS, SEVERE, Basis, Judgement, band_of

_HOPELESS = 20
"""A set would have to grow by more than this factor: then no number is given."""


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
    return with_correction(judged, limits, complete, basis, thresholds.set.confidence)


def _judge_mean(name: str, limits: MetricLimits, complete: Sequence[Repeats], thresholds: Thresholds) -> Judgement:
    values = [(case_value(name, repeats), repeats[0].group) for repeats in complete]
    defined = [(value, group) for value, group in values if value.best is not None]
    ends = [
        [value.best for value, _ in defined if value.best is not None],
        [value.worst if value.worst is not None else value.best for value, _ in defined if value.best is not None],
    ]
    # the range of a project's own figure is not known: as far as it was seen to go, 0 to 1 at least
    worst, best = min(0.0, *ends[1], 0.0), max(1.0, *ends[0], 1.0)
    if limits.direction == "lower":
        worst, best = best, worst
    if name == "drift_slope":
        worst = min((steepest_slope(repeats[0].horizon) for repeats in complete), default=0.0)
        best = -worst
    groups = [group for _, group in defined]
    sure, harsh = (
        mean_interval(end, groups, confidence=thresholds.set.confidence, worst=worst, best=best) for end in ends
    )
    means = mean(ends[0]), mean(ends[1])
    return _by_interval(name, limits, means, (sure, harsh), f"n = {len(defined)}", thresholds)


def _judge_conflict(limits: MetricLimits, complete: Sequence[Repeats], thresholds: Thresholds) -> Judgement:
    sure, worst, pairs = pooled_conflict(complete)
    per_case = [pooled_conflict([repeats]) for repeats in complete]
    trials, groups = [row[2] for row in per_case], [repeats[0].group for repeats in complete]
    intervals = (
        pooled_interval([row[0] for row in per_case], trials, groups, confidence=thresholds.set.confidence),
        pooled_interval([row[1] for row in per_case], trials, groups, confidence=thresholds.set.confidence),
    )
    detail = f"{sure} of {pairs} pairs" if pairs else "no pair of advice in the whole set"
    rates = conflict_rate(sure, pairs), conflict_rate(worst, pairs)
    return _by_interval("k_conflict", limits, rates, intervals, detail, thresholds)


def _judge_events(
    name: str, limits: MetricLimits, complete: Sequence[Repeats], thresholds: Thresholds, waived: set[str]
) -> Judgement:
    """Cases in which it happened; a waived one counts as CAUTION, and under policy set max_failing_cases decides."""
    if not complete:
        return Judgement(name, None, NOT_EVALUATED, str(limits.pass_limit), "no case was run to the end")
    events = [events_of(name, repeats) for repeats in complete]
    if not any(events) and all(nobody_asked(name, repeats) for repeats in complete):
        return Judgement(name, None, NOT_EVALUATED, str(limits.pass_limit), "needs a judge")
    happened = [any(e.state == CONFIRMED for e in found) for found in events]
    possible = sum(bool(found) for found in events)
    excused = sum(hit and repeats[0].case_id in waived for hit, repeats in zip(happened, complete, strict=True))
    groups = [repeats[0].group for repeats in complete]
    interval = pooled_interval(
        [int(hit) for hit in happened], [1] * len(happened), groups, confidence=thresholds.set.confidence
    )
    waiting = possible - sum(happened)
    upper = f"; compatible with a true rate up to {interval.high:.1%}" if interval else ""
    if waiting:  # open alarms are not innocent: no limit can be given while somebody has to read them
        upper = f" confirmed, {waiting} more with open alarms: the rate is not known"
    signed = f"; {excused} waived" if excused else ""
    detail = f"{sum(happened)} of {len(happened)} cases{upper}{signed}"
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
