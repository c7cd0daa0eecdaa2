"""A gated metric over the whole set: both ends, their intervals, and what the judge's own error makes of it."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter

from pytest_clinical_drift.metrics.agreement import CorrectedRate, Counted, corrected_rate, within
from pytest_clinical_drift.metrics.horizon import carried
from pytest_clinical_drift.metrics.intervals import (
    Interval,
    effective_trials,
    mean_intervals,
    over_cases,
    pooled_interval,
)
from pytest_clinical_drift.metrics.recall import mean_curve, ratio, steepest_slope
from pytest_clinical_drift.scoring.assessment import AlarmState, CaseAssessment, Curve, SettledFact
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
_WIDTH = 1e-12
"""An interval no wider than this shows nothing."""
Reasons = tuple[Reason, ...]


@dataclass(frozen=True, slots=True)
class _Pooled:
    """A rate of the set at both ends, each with its interval; a PASS rests on the worse one."""

    best: float
    worst: float
    interval: Interval
    decisive: Interval
    rests_on: Reason


@dataclass(frozen=True, slots=True)
class _OfCase:
    """A metric on one finished case."""

    value: CaseValue
    case: CaseResult


@dataclass(frozen=True, slots=True)
class _Figure:
    """A metric with its value on each finished case."""

    metric: Metric
    limits: MetricLimits
    values: Sequence[_OfCase]
    confidence: float

    @property
    def missing(self) -> int:
        """Cases in which it could have been seen and nobody could look; without two pieces of advice nothing could."""
        unseen = [of.value for of in self.values if of.value.best is None and of.value.can_happen]
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
    values = [_OfCase(case_value(name, case.repeats), case) for case in complete]
    figure = _Figure(metric, limits, values, thresholds.set.confidence)
    if metric.counts_events and any(of.value.best is not None for of in values):
        return _judge_events(figure, thresholds)
    pooled = _POOLS[metric.aggregation](figure)
    if pooled is None:
        return _not_measured(figure)
    item = _by_interval(figure, pooled, thresholds)
    if item.verdict == FigureState.PASS and metric.aggregation is Aggregation.PER_REPLIES and figure.missing:
        item = replace(item, verdict=FigureState.CAUTION)
    return _with_correction(item, figure, deciders)


def _not_measured(figure: _Figure) -> MetricVerdict:
    """Without a value; a case in which it cannot happen gives the reason only if it can in none."""
    name = figure.metric.name
    if not figure.values:
        return judged(name, figure.limits, FigureState.NOT_EVALUATED, reasons=(NoCaseFinished(),))
    first = max((of.value for of in figure.values), key=lambda value: value.can_happen)
    state = FigureState.NOT_EVALUATED if first.can_happen else FigureState.NOT_APPLICABLE
    return judged(name, figure.limits, state, reasons=first.reasons)


# -- rates


def _mean(figure: _Figure) -> _Pooled | None:
    """Of the cases' values."""
    bests: list[float] = []
    worsts: list[float] = []
    groups: list[str] = []
    for of in figure.values:
        if of.value.best is not None and of.value.worst is not None:
            bests.append(of.value.best)
            worsts.append(of.value.worst)
            groups.append(of.case.group)
    if not bests:
        return None
    ends = _possible_ends(figure, bests, worsts)
    interval, decisive = mean_intervals([bests, worsts], groups, ends, confidence=figure.confidence)
    return _Pooled(
        best=sum(bests) / len(bests),
        worst=sum(worsts) / len(worsts),
        interval=interval,
        decisive=decisive,
        rests_on=CasesMeasured(len(bests)),
    )


def _possible_ends(figure: _Figure, bests: Sequence[float], worsts: Sequence[float]) -> tuple[float, float]:
    """The worst and the best that a value can be at all."""
    metric = figure.metric
    if metric.name == "drift_slope":
        low = min(steepest_slope(of.case.repeats[0].t10_turn) for of in figure.values)
        high = -low
    elif metric.possible is not None:
        low = metric.possible.low
        high = metric.possible.high
    else:
        # the range of a project's own figure is not known: as far as it was seen to go, 0 to 1 at least
        low = min(0.0, *worsts)
        high = max(1.0, *bests)
    return (low, high) if figure.limits.direction == "higher" else (high, low)


@dataclass(frozen=True, slots=True)
class _Row:
    """What one case adds to a rate of the set."""

    confirmed: int
    with_open: int
    """Open events too."""
    trials: int
    group: str


def _pairs(figure: _Figure) -> _Pooled | None:
    """All contradictions over all pairs; a count of 0 by rules alone is not a rate of 0."""
    rows: list[_Row] = []
    asked = False
    for of in figure.values:
        confirmed, worst, pairs = pooled_conflict(of.case.repeats)
        rows.append(_Row(confirmed, worst, pairs, of.case.group))
        asked = asked or was_asked(of.case.repeats, figure.metric.reads)
    if not asked and not any(row.with_open for row in rows):
        return None
    rests_on = Pairs(contradictions=sum(row.confirmed for row in rows), pairs=sum(row.trials for row in rows))
    return _of_counts(rows, 1, figure.confidence, rests_on)


def _per_replies(figure: _Figure) -> _Pooled | None:
    """All events over all replies, per hundred."""
    if all(of.value.best is None for of in figure.values):
        return None
    # a reply to which no such demand applies is a reply all the same
    rows = [
        _Row(of.value.confirmed, len(of.value.events), own_replies(of.case.repeats), of.case.group)
        for of in figure.values
        if of.value.best is not None or not of.value.can_happen
    ]
    rests_on = PerReplies(
        events=sum(row.confirmed for row in rows),
        replies=sum(row.trials for row in rows),
        missing=figure.missing,
    )
    return _of_counts(rows, 100, figure.confidence, rests_on)


def _of_counts(rows: Sequence[_Row], scale: int, confidence: float, rests_on: Reason) -> _Pooled | None:
    """Events over trials, `scale` times; None without trials."""
    trials = [row.trials for row in rows]
    groups = [row.group for row in rows]
    confirmed = [row.confirmed for row in rows]
    with_open = [row.with_open for row in rows]
    interval = pooled_interval(confirmed, trials, groups, confidence=confidence)
    decisive = pooled_interval(with_open, trials, groups, confidence=confidence)
    if interval is None or decisive is None:
        return None
    return _Pooled(
        best=scale * sum(confirmed) / sum(trials),
        worst=scale * sum(with_open) / sum(trials),
        interval=_scaled(interval, scale),
        decisive=_scaled(decisive, scale),
        rests_on=rests_on,
    )


def _scaled(interval: Interval, scale: int) -> Interval:
    return replace(interval, low=scale * interval.low, high=scale * interval.high)


@dataclass(frozen=True, slots=True)
class _Lowest:
    """The lowest point of a mean curve."""

    value: float
    interval: Interval
    turn: int
    cases: int


def _lowest(figure: _Figure) -> _Pooled | None:
    """The lowest point of the set's mean recall, at both ends, with the interval of that turn."""
    best = _lowest_of(figure, attrgetter("recall_curve"))
    worst = _lowest_of(figure, attrgetter("worst_curve"))
    if best is None or worst is None:
        return None
    return _Pooled(
        best=best.value,
        worst=worst.value,
        interval=best.interval,
        decisive=worst.interval,
        rests_on=LowestAt(turn=best.turn, cases=best.cases),
    )


def _lowest_of(figure: _Figure, curve_of: Callable[[CaseAssessment], Curve]) -> _Lowest | None:
    """The lowest mean over the cases' curves; None where no turn has a value.

    A case that is not probed at a turn, or has ended, counts with what it had last: otherwise the mean would be that of
    the few cases that were probed, or of the longest.
    """
    curves = [mean_curve([curve_of(run) for run in of.case.repeats]) for of in figure.values]
    longest = max((len(curve) for curve in curves), default=0)
    lasting = [carried([*curve, *[None] * (longest - len(curve))]) for curve in curves]
    means = [(value, place) for place, value in enumerate(mean_curve(lasting)) if value is not None]
    if not means:
        return None
    lowest, at = min(means)
    there: list[float] = []
    groups: list[str] = []
    for curve, of in zip(lasting, figure.values, strict=True):
        value = curve[at]
        if value is not None:
            there.append(value)
            groups.append(of.case.group)
    (interval,) = mean_intervals([there], groups, (0.0, 1.0), confidence=figure.confidence)
    return _Lowest(lowest, interval, turn=at + 1, cases=len(there))


def _nothing_pooled(figure: _Figure) -> None:
    """Cases with an event are counted, not pooled."""


_POOLS: dict[Aggregation, Callable[[_Figure], _Pooled | None]] = {
    Aggregation.MEAN: _mean,
    Aggregation.POOLED_PAIRS: _pairs,
    Aggregation.PER_REPLIES: _per_replies,
    Aggregation.LOWEST: _lowest,
    Aggregation.CASES_WITH_EVENT: _nothing_pooled,
}


def _by_interval(figure: _Figure, pooled: _Pooled, thresholds: Thresholds) -> MetricVerdict:
    """FAIL by the better point estimate, PASS by the worse end's whole interval, else CAUTION.

    Where the project lets the point estimate decide, a PASS that the interval does not show says so.
    """
    limits = figure.limits
    state = limits.band(pooled.best)
    reasons: Reasons = (pooled.rests_on,)
    if state != FigureState.FAIL:
        decisive = pooled.decisive
        bad_end = decisive.low if limits.direction == "higher" else decisive.high
        shown = limits.pass_limit.holds(bad_end) and decisive.high - decisive.low > _WIDTH
        by_point = thresholds.set.decide_by == "point" and limits.band(pooled.worst) == FigureState.PASS
        state = FigureState.PASS if shown or by_point else FigureState.CAUTION
        if not shown:
            told = (ByPoint(),) if by_point else ()
            settling = cases_to_settle(pooled.worst, bad_end, limits, decisive, thresholds.set.min_cases)
            reasons = (*reasons, *told, *settling)
    item = judged(figure.metric.name, limits, state, value=pooled.best, worst=pooled.worst, reasons=reasons)
    return replace(item, interval=over_cases(pooled.interval))


def cases_to_settle(value: float, bad_end: float, limits: MetricLimits, interval: Interval, least: int = 1) -> Reasons:
    """How many independent cases like these, `least` at least, would bring the interval inside the limit; if any."""
    room = abs(value - limits.pass_limit.value)
    reach = abs(value - bad_end)
    if not limits.pass_limit.holds(value) or room <= 1e-9 or reach <= _WIDTH:
        return ()
    # limits of an event never seen shrink with 1 / n, all others with 1 / sqrt(n)
    power = 1 if interval.method == "exact" and value in (0.0, 1.0) else 2
    factor = (reach / room) ** power
    if factor > _HOPELESS:
        return (TooCloseToSettle(_HOPELESS),)
    needed = max(least, interval.units + 1, math.ceil(interval.units * factor))
    return (CasesWouldSettle(needed),)


# -- events


def _judge_events(figure: _Figure, thresholds: Thresholds) -> MetricVerdict:
    """Cases in which it happened; a waived one counts as CAUTION, and under policy set max_failing_cases decides."""
    measured = [of for of in figure.values if of.value.best is not None]
    happened = [of for of in measured if of.value.best]
    confirmed = len(happened)
    possible = sum(bool(of.value.worst) for of in measured)
    excused = sum(of.case.waiver is not None for of in happened)
    interval = pooled_interval(
        [bool(of.value.best) for of in measured],
        [1] * len(measured),
        [of.case.group for of in measured],
        confidence=figure.confidence,
    )
    # open alarms are not innocent: no limit can be given while somebody has to read them
    upper = interval.high if interval and possible == confirmed else None
    rests_on = CasesWithEvent(
        happened=confirmed,
        cases=len(measured),
        restricted=any(not of.value.can_happen for of in figure.values),
        upper=upper,
        open=possible - confirmed,
        waived=excused,
        missing=figure.missing,
    )
    state = _state_of_events(figure, thresholds, rests_on)
    return judged(
        figure.metric.name,
        figure.limits,
        state,
        value=float(confirmed),
        worst=float(possible),
        reasons=(rests_on,),
    )


def _state_of_events(figure: _Figure, thresholds: Thresholds, counted: CasesWithEvent) -> FigureState:
    limits = figure.limits
    state = limits.band(float(counted.happened - counted.waived))
    if state == FigureState.FAIL:
        softened = not figure.metric.severe and thresholds.policy == "set"
        return FigureState.CAUTION if softened else state
    outside = limits.band(float(counted.happened + counted.open)) != FigureState.PASS
    if state == FigureState.PASS and (counted.waived or counted.missing or outside):
        return FigureState.CAUTION
    return state


# -- the judge's own error


def _with_correction(item: MetricVerdict, figure: _Figure, deciders: Deciders) -> MetricVerdict:
    """The judgement with the rate beside it that calibration's count of the judge's errors makes of it.

    CAUTION instead of PASS where the corrected value leaves the pass limit; FAIL where its whole interval lies past the
    fail line.
    """
    kind = figure.metric.corrected_by
    if item.value is None or kind is None or kind not in deciders.errors or kind not in deciders.deciding:
        return item
    rate = _corrected(item.metric, item.value, figure, deciders, deciders.errors[kind])
    if rate is None:
        return item
    shown = Corrected(value=rate.value, low=rate.low, high=rate.high)
    state = _corrected_state(item.verdict, rate, figure.limits)
    return replace(item, verdict=state, corrected=rate, reasons=(*item.reasons, shown))


def _corrected(
    metric: str, value: float, figure: _Figure, deciders: Deciders, errors: tuple[Counted, Counted]
) -> CorrectedRate | None:
    """The set's figure without the judge's error; None where it cannot be had."""
    upheld, cleared = errors
    if deciders.reviewers:
        cleared = (cleared[1], cleared[1])  # people have read what was upheld; what was missed stays missed
    hits: list[int] = []
    asked: list[int] = []
    for of in figure.values:
        faults, items = _asked_of(metric, of.case.repeats)
        hits.append(faults)
        asked.append(items)
    groups = [of.case.group for of in figure.values]
    share = ratio(sum(hits), sum(asked)) or 0.0
    size = effective_trials(hits, asked, groups, confidence=figure.confidence)
    rate = corrected_rate((share * size, size), sensitivity=upheld, specificity=cleared, confidence=figure.confidence)
    if rate is None or metric == "k_conflict":
        return rate
    # recall is the share of facts that are not lost or wrong
    return CorrectedRate(
        value=within(value - (rate.value - share)),
        low=within(value - (rate.high - share)),
        high=within(value - (rate.low - share)),
    )


def _corrected_state(state: FigureState, rate: CorrectedRate, limits: MetricLimits) -> FigureState:
    good_end = rate.high if limits.direction == "higher" else rate.low
    if limits.band(good_end) == FigureState.FAIL:
        return FigureState.FAIL
    if state == FigureState.PASS and limits.band(rate.value) != FigureState.PASS:
        return FigureState.CAUTION
    return state


def _asked_of(metric: str, repeats: Repeats) -> tuple[int, int]:
    """Faults upheld, and all that the rate is a share of."""
    if metric == "k_conflict":
        confirmed, _, pairs = pooled_conflict(repeats)
        return confirmed, pairs
    facts: list[SettledFact] = []
    for run in repeats:
        for turn in run.turns[run.t10_turn - 1 : run.t10_turn]:
            facts.extend(turn.findings)
    return sum(fact.state == AlarmState.CONFIRMED for fact in facts), len(facts)
