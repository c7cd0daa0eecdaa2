"""A gated metric over the whole set: both ends, their intervals, and what the judge's own error makes of it."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from pytest_clinical_drift.metrics.horizon import carried
from pytest_clinical_drift.metrics.intervals import (
    Interval,
    mean_interval,
    over_cases,
    pooled_interval,
)
from pytest_clinical_drift.metrics.recall import mean_curve, steepest_slope
from pytest_clinical_drift.verdict.bands import MetricLimits
from pytest_clinical_drift.verdict.judge_correction import with_correction
from pytest_clinical_drift.verdict.measures import CaseValue, Repeats, own_replies, pooled_conflict
from pytest_clinical_drift.verdict.metric_table import Aggregation, Metric, case_value, metric_named, was_read
from pytest_clinical_drift.verdict.reasons import Reason, ReasonCode, reason
from pytest_clinical_drift.verdict.states import FigureState
from pytest_clinical_drift.verdict.thresholds import Thresholds
from pytest_clinical_drift.verdict.values import Deciders, MetricVerdict

_HOPELESS = 20
"""A set would have to grow by more than this factor: then no number is given."""
Reasons = tuple[Reason, ...]
Values = Sequence[tuple[CaseValue, Repeats]]
"""A metric on each finished case."""


class _Pooled(NamedTuple):
    """A rate of the set; the better end first, then the worse one, on which a PASS rests."""

    rates: tuple[float, float]
    intervals: tuple[Interval | None, Interval | None]
    rests_on: Reason


def judge_over(
    name: str,
    limits: MetricLimits,
    complete: Sequence[Repeats],
    thresholds: Thresholds,
    waived: set[str],
    deciders: Deciders,
) -> MetricVerdict:
    """A metric over the whole set, decided by its intervals or its point estimates."""
    metric = metric_named(name)
    values = [(case_value(name, repeats), repeats) for repeats in complete]
    if metric.counts_events:
        return _judge_events(metric, limits, values, thresholds, waived)
    pooled = _POOLS[metric.aggregation](metric, limits, values, thresholds.set.confidence)
    if pooled is None:
        return _unmeasured(metric, limits, values)
    judged = _by_interval(metric, limits, pooled, thresholds)
    if judged.verdict == FigureState.PASS and metric.aggregation is Aggregation.PER_REPLIES and _missing(values):
        judged = replace(judged, verdict=FigureState.CAUTION)
    return with_correction(judged, metric, limits, complete, thresholds.set.confidence, deciders)


def _unmeasured(metric: Metric, limits: MetricLimits, values: Values) -> MetricVerdict:
    """Of no case is there a value; one in which it cannot happen gives the reason only if it can in none."""
    first = max((value for value, _ in values), key=lambda value: value.can_happen, default=None)
    reasons = first.reasons if first else (reason(ReasonCode.NO_CASE_FINISHED),)
    state = FigureState.NOT_APPLICABLE if first and not first.can_happen else FigureState.NOT_EVALUATED
    return MetricVerdict(metric.name, None, state, str(limits.pass_limit), reasons, caution=str(limits.caution_limit))


def _missing(values: Values) -> int:
    """Cases in which it could have been seen and nobody could look; without two pieces of advice there is nothing."""
    unseen = [value for value, _ in values if value.best is None and value.can_happen]
    return sum(value.reasons[0].code is not ReasonCode.NO_PAIR_COMPARED for value in unseen)


# -- rates


def _mean(metric: Metric, limits: MetricLimits, values: Values, confidence: float) -> _Pooled | None:
    """Of the cases' values."""
    known = [(v.best, v.worst, repeats) for v, repeats in values if v.best is not None and v.worst is not None]
    if not known:
        return None
    ends, groups = ([row[0] for row in known], [row[1] for row in known]), [row[2][0].group for row in known]
    # the range of a project's own figure is not known: as far as it was seen to go, 0 to 1 at least
    low, high = metric.possible[:2] if metric.possible else (min(0.0, *ends[1]), max(1.0, *ends[0]))
    if metric.name == "drift_slope":
        low = min(steepest_slope(repeats[0].horizon) for _, repeats in values)
        high = -low
    worst, best = (low, high) if limits.direction == "higher" else (high, low)
    one, two = (mean_interval(end, groups, confidence=confidence, worst=worst, best=best) for end in ends)
    rates = sum(ends[0]) / len(known), sum(ends[1]) / len(known)
    return _Pooled(rates, (one, two), reason(ReasonCode.CASES_MEASURED, cases=len(known)))


def _pairs(metric: Metric, limits: MetricLimits, values: Values, confidence: float) -> _Pooled | None:
    """All contradictions over all pairs; that rules alone found none is no rate of 0."""
    rows = [(*pooled_conflict([repeats]), repeats[0].group) for _, repeats in values]
    found, pairs = sum(row[1] for row in rows), sum(row[2] for row in rows)
    if not pairs or not (found or any(was_read(metric, repeats) for _, repeats in values)):
        return None
    rests_on = reason(ReasonCode.PAIRS, contradictions=sum(row[0] for row in rows), pairs=pairs)
    return _of_counts(rows, 1, confidence, rests_on)


def _per_replies(metric: Metric, limits: MetricLimits, values: Values, confidence: float) -> _Pooled | None:
    """All events over all replies, per hundred."""
    if all(value.best is None for value, _ in values):
        return None
    # a reply to which no such demand applies is a reply all the same
    rows = [
        (value.confirmed, len(value.events), own_replies(repeats), repeats[0].group)
        for value, repeats in values
        if value.best is not None or not value.can_happen
    ]
    events, replies = sum(row[0] for row in rows), sum(row[2] for row in rows)
    rests_on = reason(ReasonCode.PER_REPLIES, events=events, replies=replies, missing=_missing(values))
    return _of_counts(rows, 100, confidence, rests_on)


def _of_counts(rows: Sequence[tuple[int, int, int, str]], scale: int, confidence: float, rests_on: Reason) -> _Pooled:
    """Events at both ends over trials; a row per case: confirmed, with open ones, trials, group."""
    best, worst, trials, groups = zip(*rows, strict=True)
    one, two = (pooled_interval(end, trials, groups, confidence=confidence) for end in (best, worst))
    rates = scale * sum(best) / sum(trials), scale * sum(worst) / sum(trials)
    return _Pooled(rates, (_scaled(one, scale), _scaled(two, scale)), rests_on)


def _scaled(interval: Interval | None, scale: int) -> Interval | None:
    return replace(interval, low=scale * interval.low, high=scale * interval.high) if interval else None


def _lowest(metric: Metric, limits: MetricLimits, values: Values, confidence: float) -> _Pooled | None:
    """The lowest point of the set's mean recall, at both ends, with the interval of that turn."""
    best = _lowest_turn([(mean_curve([run.recall_curve for run in runs]), runs[0].group) for _, runs in values])
    worst = _lowest_turn([(mean_curve([run.worst_curve for run in runs]), runs[0].group) for _, runs in values])
    if best is None or worst is None:
        return None
    one, two = (
        mean_interval(there, groups, confidence=confidence, worst=0.0, best=1.0)
        for _, _, there, groups in (best, worst)
    )
    return _Pooled((best[0], worst[0]), (one, two), reason(ReasonCode.LOWEST_AT, turn=best[1], cases=len(best[2])))


def _lowest_turn(
    curves: Sequence[tuple[Sequence[float | None], str]],
) -> tuple[float, int, list[float], list[str]] | None:
    """The minimum of the mean curve, its turn, and the cases' values there with their groups.

    A case that is not probed at a turn, or has ended, counts with what it had last: otherwise the mean would be that of
    the few cases that were probed, or of the longest.
    """
    longest = max((len(curve) for curve, _ in curves), default=0)
    lasting = [(carried([*curve, *[None] * (longest - len(curve))]), group) for curve, group in curves]
    means = enumerate(mean_curve(curve for curve, _ in lasting), start=1)
    lowest = min(((value, turn) for turn, value in means if value is not None), default=None)
    if lowest is None:
        return None
    there = [(value, group) for curve, group in lasting if (value := curve[lowest[1] - 1]) is not None]
    return *lowest, [value for value, _ in there], [group for _, group in there]


_POOLS: dict[Aggregation, Callable[[Metric, MetricLimits, Values, float], _Pooled | None]] = {
    Aggregation.MEAN: _mean,
    Aggregation.POOLED_PAIRS: _pairs,
    Aggregation.PER_REPLIES: _per_replies,
    Aggregation.LOWEST: _lowest,
}


def _by_interval(metric: Metric, limits: MetricLimits, pooled: _Pooled, thresholds: Thresholds) -> MetricVerdict:
    """FAIL by the better point estimate, PASS by the worse end's whole interval, else CAUTION.

    Where the project lets the point estimate decide, a PASS that the interval does not show says so.
    """
    (best, worst), (interval, decisive), rests_on = pooled
    state = limits.band(best)
    reasons: Reasons = (rests_on,)
    if state != FigureState.FAIL:
        bad_end = worst if decisive is None else decisive.low if limits.direction == "higher" else decisive.high
        shown = decisive is not None and limits.pass_limit.holds(bad_end) and decisive.high - decisive.low > 1e-12
        by_point = not shown and thresholds.set.decide_by == "point" and limits.band(worst) == FigureState.PASS
        state = FigureState.PASS if shown or by_point else FigureState.CAUTION
        reasons += (reason(ReasonCode.BY_POINT),) if by_point else ()
        if not shown and decisive is not None:
            reasons += cases_to_settle(worst, bad_end, limits, decisive, thresholds.set.min_cases)
    pass_limit, caution = str(limits.pass_limit), str(limits.caution_limit)
    return MetricVerdict(metric.name, best, state, pass_limit, reasons, over_cases(interval), worst, caution=caution)


def cases_to_settle(value: float, bad_end: float, limits: MetricLimits, interval: Interval, least: int = 1) -> Reasons:
    """How many independent cases like these, `least` at least, would bring the interval inside the limit; if any."""
    room, reach = abs(value - limits.pass_limit.value), abs(value - bad_end)
    if not limits.pass_limit.holds(value) or room <= 1e-9 or reach <= 1e-12:
        return ()
    # limits of an event never seen shrink with 1 / n, all others with 1 / sqrt(n)
    power = 1 if interval.method == "exact" and value in (0.0, 1.0) else 2
    if (factor := (reach / room) ** power) > _HOPELESS:
        return (reason(ReasonCode.TOO_CLOSE_TO_SETTLE, times=_HOPELESS),)
    needed = max(least, interval.units + 1, math.ceil(interval.units * factor))
    return (reason(ReasonCode.CASES_WOULD_SETTLE, cases=needed),)


# -- events


def _judge_events(
    metric: Metric, limits: MetricLimits, values: Values, thresholds: Thresholds, waived: set[str]
) -> MetricVerdict:
    """Cases in which it happened; a waived one counts as CAUTION, and under policy set max_failing_cases decides."""
    measured = [(value, repeats) for value, repeats in values if value.best is not None]
    if not measured:
        return _unmeasured(metric, limits, values)
    happened = [bool(value.best) for value, _ in measured]
    possible = sum(bool(value.worst) for value, _ in measured)
    excused = sum(hit and runs[0].case_id in waived for hit, (_, runs) in zip(happened, measured, strict=True))
    groups = [repeats[0].group for _, repeats in measured]
    confidence = thresholds.set.confidence
    interval = pooled_interval([int(hit) for hit in happened], [1] * len(happened), groups, confidence=confidence)
    confirmed, missing = sum(happened), _missing(values)
    rests_on = reason(
        ReasonCode.CASES_WITH_EVENT,
        happened=confirmed,
        cases=len(happened),
        restricted=any(not value.can_happen for value, _ in values),
        # open alarms are not innocent: no limit can be given while somebody has to read them
        upper=interval.high if interval and possible == confirmed else None,
        open=possible - confirmed,
        waived=excused,
        missing=missing,
    )
    state = limits.band(float(confirmed - excused))
    softened = not metric.severe and thresholds.policy == "set" and state == FigureState.FAIL
    outside = limits.band(float(possible)) != FigureState.PASS
    if softened or (state == FigureState.PASS and (excused or missing or outside)):
        state = FigureState.CAUTION
    pass_limit, caution = str(limits.pass_limit), str(limits.caution_limit)
    return MetricVerdict(
        metric.name, float(confirmed), state, pass_limit, (rests_on,), worst=float(possible), caution=caution
    )
