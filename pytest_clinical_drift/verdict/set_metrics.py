"""A gated metric over the whole set: both ends, their intervals, and what the judge's own error makes of it."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import NamedTuple

from pytest_clinical_drift.metrics.agreement import CorrectedRate, corrected_rate, within
from pytest_clinical_drift.metrics.horizon import carried
from pytest_clinical_drift.metrics.intervals import (
    Interval,
    effective_trials,
    mean_intervals,
    over_cases,
    pooled_interval,
)
from pytest_clinical_drift.metrics.recall import mean_curve, ratio, steepest_slope
from pytest_clinical_drift.scoring.assessment import AlarmState
from pytest_clinical_drift.verdict.bands import MetricLimits
from pytest_clinical_drift.verdict.measures import CaseValue, Repeats, own_replies, pooled_conflict, was_asked
from pytest_clinical_drift.verdict.metric_table import Aggregation, Metric, case_value, metric_named
from pytest_clinical_drift.verdict.reasons import (
    ByPoint,
    CasesMeasured,
    CasesWithEvent,
    CasesWouldSettle,
    Corrected,
    FigureState,
    LowestAt,
    NoCaseFinished,
    NoPairCompared,
    Pairs,
    PerReplies,
    Reason,
    TooCloseToSettle,
)
from pytest_clinical_drift.verdict.thresholds import Thresholds
from pytest_clinical_drift.verdict.values import CaseResult, Deciders, MetricVerdict, judged

_HOPELESS = 20
"""A set would have to grow by more than this factor: then no number is given."""
Reasons = tuple[Reason, ...]


class _Pooled(NamedTuple):
    """A rate of the set at both ends, each with its interval; a PASS rests on the worse one."""

    best: float
    worst: float
    interval: Interval
    decisive: Interval
    rests_on: Reason


@dataclass(frozen=True, slots=True)
class _Figure:
    """A metric with its value on each finished case."""

    metric: Metric
    limits: MetricLimits
    values: Sequence[tuple[CaseValue, CaseResult]]
    confidence: float

    @property
    def missing(self) -> int:
        """Cases in which it could have been seen and nobody could look; without two pieces of advice nothing could."""
        unseen = [value for value, _ in self.values if value.best is None and value.can_happen]
        return sum(not isinstance(value.reasons[0], NoPairCompared) for value in unseen)


def judge_over(
    name: str,
    limits: MetricLimits,
    complete: Sequence[CaseResult],
    thresholds: Thresholds,
    deciders: Deciders,
) -> MetricVerdict:
    """A metric over the whole set, decided by its intervals or its point estimates."""
    metric = metric_named(name)
    values = [(case_value(name, case.repeats), case) for case in complete]
    figure = _Figure(metric, limits, values, thresholds.set.confidence)
    if metric.counts_events and any(value.best is not None for value, _ in values):
        return _judge_events(figure, thresholds)
    pooled = _POOLS[metric.aggregation](figure)
    if pooled is None:
        # one in which it cannot happen gives the reason only if it can in none
        first = max((value for value, _ in values), key=lambda value: value.can_happen, default=None)
        reasons = first.reasons if first else (NoCaseFinished(),)
        applicable = first is None or first.can_happen
        state = FigureState.NOT_EVALUATED if applicable else FigureState.NOT_APPLICABLE
        return judged(name, limits, state, reasons=reasons)
    item = _by_interval(figure, pooled, thresholds)
    if item.verdict == FigureState.PASS and metric.aggregation is Aggregation.PER_REPLIES and figure.missing:
        item = replace(item, verdict=FigureState.CAUTION)
    return _with_correction(item, figure, deciders)


# -- rates


def _mean(figure: _Figure) -> _Pooled | None:
    """Of the cases' values."""
    metric, values = figure.metric, figure.values
    known = [(v.best, v.worst, case.group) for v, case in values if v.best is not None and v.worst is not None]
    if not known:
        return None
    bests, worsts, groups = zip(*known, strict=True)
    # the range of a project's own figure is not known: as far as it was seen to go, 0 to 1 at least
    low, high = metric.possible[:2] if metric.possible else (min(0.0, *worsts), max(1.0, *bests))
    if metric.name == "drift_slope":
        low = min(steepest_slope(case.repeats[0].t10_turn) for _, case in values)
        high = -low
    ends = (low, high) if figure.limits.direction == "higher" else (high, low)
    one, two = mean_intervals([bests, worsts], groups, ends, confidence=figure.confidence)
    rests_on = CasesMeasured(len(known))
    return _Pooled(sum(bests) / len(known), sum(worsts) / len(known), one, two, rests_on)


def _pairs(figure: _Figure) -> _Pooled | None:
    """All contradictions over all pairs; a count of 0 by rules alone is not a rate of 0."""
    rows = [(*pooled_conflict(case.repeats), case.group) for _, case in figure.values]
    asked = any(was_asked(case.repeats, figure.metric.reads) for _, case in figure.values)
    if not (asked or any(row[1] for row in rows)):
        return None
    rests_on = Pairs(contradictions=sum(row[0] for row in rows), pairs=sum(row[2] for row in rows))
    return _of_counts(rows, 1, figure.confidence, rests_on)


def _per_replies(figure: _Figure) -> _Pooled | None:
    """All events over all replies, per hundred."""
    if all(value.best is None for value, _ in figure.values):
        return None
    # a reply to which no such demand applies is a reply all the same
    rows = [
        (value.confirmed, len(value.events), own_replies(case.repeats), case.group)
        for value, case in figure.values
        if value.best is not None or not value.can_happen
    ]
    events, replies = sum(row[0] for row in rows), sum(row[2] for row in rows)
    rests_on = PerReplies(events, replies, figure.missing)
    return _of_counts(rows, 100, figure.confidence, rests_on)


def _of_counts(
    rows: Sequence[tuple[int, int, int, str]], scale: int, confidence: float, rests_on: Reason
) -> _Pooled | None:
    """Events over trials; a row per case: confirmed events, with open ones, trials, group. None without trials."""
    best, worst, trials, groups = zip(*rows, strict=True)
    found = (pooled_interval(end, trials, groups, confidence=confidence) for end in (best, worst))
    one, two = (replace(i, low=scale * i.low, high=scale * i.high) if i else None for i in found)
    if one is None or two is None:
        return None
    return _Pooled(scale * sum(best) / sum(trials), scale * sum(worst) / sum(trials), one, two, rests_on)


def _lowest(figure: _Figure) -> _Pooled | None:
    """The lowest point of the set's mean recall, at both ends, with the interval of that turn.

    A case that is not probed at a turn, or has ended, counts with what it had last: otherwise the mean would be that of
    the few cases that were probed, or of the longest.
    """
    ends = []
    for curve_of in (attrgetter("recall_curve"), attrgetter("worst_curve")):
        curves = [mean_curve(map(curve_of, case.repeats)) for _, case in figure.values]
        longest = max(map(len, curves), default=0)
        lasting = [carried([*curve, *[None] * (longest - len(curve))]) for curve in curves]
        means = enumerate(mean_curve(lasting))
        value, at = min(((mean, place) for place, mean in means if mean is not None), default=(None, 0))
        if value is None:
            return None
        known = [(curve[at], case.group) for curve, (_, case) in zip(lasting, figure.values, strict=True)]
        there, groups = zip(*(pair for pair in known if pair[0] is not None), strict=True)
        (interval,) = mean_intervals([there], groups, (0.0, 1.0), confidence=figure.confidence)
        ends.append((value, interval, LowestAt(turn=at + 1, cases=len(there))))
    (best, one, rests_on), (worst, two, _) = ends
    return _Pooled(best, worst, one, two, rests_on)


_POOLS: dict[Aggregation, Callable[[_Figure], _Pooled | None]] = {
    Aggregation.MEAN: _mean,
    Aggregation.POOLED_PAIRS: _pairs,
    Aggregation.PER_REPLIES: _per_replies,
    Aggregation.LOWEST: _lowest,
    Aggregation.CASES_WITH_EVENT: lambda figure: None,
}


def _by_interval(figure: _Figure, pooled: _Pooled, thresholds: Thresholds) -> MetricVerdict:
    """FAIL by the better point estimate, PASS by the worse end's whole interval, else CAUTION.

    Where the project lets the point estimate decide, a PASS that the interval does not show says so.
    """
    limits = figure.limits
    best, worst, interval, decisive, rests_on = pooled
    state = limits.band(best)
    reasons: Reasons = (rests_on,)
    if state != FigureState.FAIL:
        bad_end = decisive.low if limits.direction == "higher" else decisive.high
        shown = limits.pass_limit.holds(bad_end) and decisive.high - decisive.low > 1e-12
        by_point = not shown and thresholds.set.decide_by == "point" and limits.band(worst) == FigureState.PASS
        state = FigureState.PASS if shown or by_point else FigureState.CAUTION
        reasons += (ByPoint(),) if by_point else ()
        if not shown:
            reasons += cases_to_settle(worst, bad_end, limits, decisive, thresholds.set.min_cases)
    return judged(figure.metric.name, limits, state, best, worst, reasons, interval=over_cases(interval))


def cases_to_settle(value: float, bad_end: float, limits: MetricLimits, interval: Interval, least: int = 1) -> Reasons:
    """How many independent cases like these, `least` at least, would bring the interval inside the limit; if any."""
    room, reach = abs(value - limits.pass_limit.value), abs(value - bad_end)
    if not limits.pass_limit.holds(value) or room <= 1e-9 or reach <= 1e-12:
        return ()
    # limits of an event never seen shrink with 1 / n, all others with 1 / sqrt(n)
    power = 1 if interval.method == "exact" and value in (0.0, 1.0) else 2
    if (factor := (reach / room) ** power) > _HOPELESS:
        return (TooCloseToSettle(_HOPELESS),)
    needed = max(least, interval.units + 1, math.ceil(interval.units * factor))
    return (CasesWouldSettle(needed),)


# -- events


def _judge_events(figure: _Figure, thresholds: Thresholds) -> MetricVerdict:
    """Cases in which it happened; a waived one counts as CAUTION, and under policy set max_failing_cases decides."""
    metric, limits = figure.metric, figure.limits
    measured = [(value, case) for value, case in figure.values if value.best is not None]
    happened = [bool(value.best) for value, _ in measured]
    groups = [case.group for _, case in measured]
    interval = pooled_interval(happened, [1] * len(happened), groups, confidence=figure.confidence)
    confirmed, possible = sum(happened), sum(bool(value.worst) for value, _ in measured)
    excused = sum(bool(value.best) and case.waiver is not None for value, case in measured)
    rests_on = CasesWithEvent(
        happened=confirmed,
        cases=len(measured),
        restricted=any(not value.can_happen for value, _ in figure.values),
        # open alarms are not innocent: no limit can be given while somebody has to read them
        upper=interval.high if interval and possible == confirmed else None,
        open=possible - confirmed,
        waived=excused,
        missing=figure.missing,
    )
    state = limits.band(float(confirmed - excused))
    softened = not metric.severe and thresholds.policy == "set" and state == FigureState.FAIL
    outside = limits.band(float(possible)) != FigureState.PASS
    if softened or (state == FigureState.PASS and (excused or figure.missing or outside)):
        state = FigureState.CAUTION
    return judged(metric.name, limits, state, float(confirmed), float(possible), (rests_on,))


# -- the judge's own error


def _with_correction(item: MetricVerdict, figure: _Figure, deciders: Deciders) -> MetricVerdict:
    """The judgement with the rate beside it that calibration's count of the judge's errors makes of it.

    CAUTION instead of PASS where the corrected value leaves the pass limit; FAIL where its whole interval lies past the
    fail line.
    """
    kind, limits = figure.metric.corrected_by, figure.limits
    if item.value is None or kind not in deciders.errors or kind not in deciders.deciding:
        return item
    upheld, cleared = deciders.errors[kind]
    if deciders.reviewers:
        cleared = (cleared[1], cleared[1])  # people have read what was upheld; what was missed stays missed
    hits, asked = zip(*(_asked_of(item.metric, case.repeats) for _, case in figure.values), strict=True)
    groups, share = [case.group for _, case in figure.values], ratio(sum(hits), sum(asked)) or 0.0
    size = effective_trials(hits, asked, groups, confidence=figure.confidence)
    counted = (share * size, size)
    rate = corrected_rate(counted, sensitivity=upheld, specificity=cleared, confidence=figure.confidence)
    if rate is None:
        return item
    if item.metric != "k_conflict":  # recall is the share of facts that are not lost or wrong
        rate = CorrectedRate(*(within(item.value - (true - share)) for true in (rate.value, rate.high, rate.low)))
    state = item.verdict
    if limits.band(rate.high if limits.direction == "higher" else rate.low) == FigureState.FAIL:
        state = FigureState.FAIL
    elif state == FigureState.PASS and limits.band(rate.value) != FigureState.PASS:
        state = FigureState.CAUTION
    shown = Corrected(rate.value, rate.low, rate.high)
    return replace(item, verdict=state, corrected=rate, reasons=(*item.reasons, shown))


def _asked_of(metric: str, repeats: Repeats) -> tuple[int, int]:
    """Faults upheld, and all that the rate is a share of."""
    if metric == "k_conflict":
        confirmed, _, pairs = pooled_conflict(repeats)
        return confirmed, pairs
    facts = [fact for run in repeats for turn in run.turns[run.t10_turn - 1 : run.t10_turn] for fact in turn.findings]
    return sum(fact.state == AlarmState.CONFIRMED for fact in facts), len(facts)
