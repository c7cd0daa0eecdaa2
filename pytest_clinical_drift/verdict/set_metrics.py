"""A gated metric over the whole set: both ends, their intervals, and what the judge's own error makes of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from pytest_clinical_drift.metrics.corrected import CorrectedRate, Counted, corrected_rate
from pytest_clinical_drift.metrics.drift import steepest_slope
from pytest_clinical_drift.metrics.horizon import carried, lowest_recall
from pytest_clinical_drift.metrics.recall import mean, mean_curve, ratio
from pytest_clinical_drift.metrics.stats import Interval, effective_trials, mean_interval, pooled_interval
from pytest_clinical_drift.scoring.assessment import AlarmState, SettledFact
from pytest_clinical_drift.verdict.limits import MetricLimits
from pytest_clinical_drift.verdict.measures import CaseValue, Repeats, pooled_conflict, unheard
from pytest_clinical_drift.verdict.metric_table import Aggregation, Metric, case_value, metric_named
from pytest_clinical_drift.verdict.reasons import Reason, ReasonCode, reason
from pytest_clinical_drift.verdict.states import FigureState
from pytest_clinical_drift.verdict.thresholds import Thresholds
from pytest_clinical_drift.verdict.values import Deciders, Judgement, band_of

_HOPELESS = 20
"""A set would have to grow by more than this factor: then no number is given."""
Reasons = tuple[Reason, ...]


@dataclass(frozen=True, slots=True)
class _Set:
    """What every metric is judged on."""

    complete: Sequence[Repeats]
    thresholds: Thresholds
    waived: set[str]

    @property
    def confidence(self) -> float:
        return self.thresholds.set.confidence


def judge_over(
    name: str,
    limits: MetricLimits,
    complete: Sequence[Repeats],
    thresholds: Thresholds,
    waived: set[str],
    deciders: Deciders,
) -> Judgement:
    """A metric over the whole set, decided by its intervals or its point estimates."""
    metric, whole = metric_named(name), _Set(complete, thresholds, waived)
    judged = _JUDGES[metric.aggregation](metric, limits, whole)
    return _with_correction(judged, metric, limits, whole, deciders)


def _judge_mean(metric: Metric, limits: MetricLimits, whole: _Set) -> Judgement:
    values = [(case_value(metric.name, repeats), repeats[0].group) for repeats in whole.complete]
    groups = [group for value, group in values if value.best is not None]
    ends = (
        [value.best for value, _ in values if value.best is not None],
        [value.worst for value, _ in values if value.worst is not None],
    )
    # the range of a project's own figure is not known: as far as it was seen to go, 0 to 1 at least
    worst, best = min(0.0, *ends[1], 0.0), max(1.0, *ends[0], 1.0)
    if limits.direction == "lower":
        worst, best = best, worst
    if metric.name == "drift_slope":
        worst = min((steepest_slope(repeats[0].horizon) for repeats in whole.complete), default=0.0)
        best = -worst
    intervals = [mean_interval(end, groups, confidence=whole.confidence, worst=worst, best=best) for end in ends]
    if values and not groups and not any(value.can_happen for value, _ in values):
        return Judgement(
            metric.name, None, FigureState.NOT_APPLICABLE, str(limits.pass_limit), _why_not(values)
        )  # fmt: skip
    means = mean(ends[0]), mean(ends[1])
    rests_on = (reason(ReasonCode.CASES_MEASURED, cases=len(groups)),) if groups else _why_not(values)
    return _by_interval(metric, limits, means, (intervals[0], intervals[1]), rests_on, whole.thresholds)


def _why_not(values: Sequence[tuple[CaseValue, object]]) -> Reasons:
    """Why nothing was measured in any case; one in which it cannot happen tells only if it can in none."""
    ordered = sorted((value for value, _ in values), key=lambda value: not value.can_happen)
    return ordered[0].reasons if ordered else (reason(ReasonCode.NO_CASE_FINISHED),)


def _judge_pairs(metric: Metric, limits: MetricLimits, whole: _Set) -> Judgement:
    confirmed, worst, pairs = pooled_conflict(whole.complete)
    per_case = [pooled_conflict([repeats]) for repeats in whole.complete]
    trials, groups = [row[2] for row in per_case], [repeats[0].group for repeats in whole.complete]
    intervals = [
        pooled_interval([row[end] for row in per_case], trials, groups, confidence=whole.confidence) for end in (0, 1)
    ]
    if pairs:
        rests_on: Reasons = (reason(ReasonCode.PAIRS, contradictions=confirmed, pairs=pairs),)
    elif not whole.complete:
        rests_on = _why_not(())
    else:
        cut = all(map(unheard, whole.complete))
        rests_on = (reason(ReasonCode.ALL_REPLIES_CUT if cut else ReasonCode.NO_PAIR_IN_SET),)
    rates = ratio(confirmed, pairs), ratio(worst, pairs)
    return _by_interval(metric, limits, rates, (intervals[0], intervals[1]), rests_on, whole.thresholds)


def _judge_events(metric: Metric, limits: MetricLimits, whole: _Set) -> Judgement:
    """Cases in which it happened; a waived one counts as CAUTION, and under policy set max_failing_cases decides."""
    values = [(case_value(metric.name, repeats), repeats) for repeats in whole.complete]
    measured = [(value, repeats) for value, repeats in values if value.best is not None]
    if not measured:
        never = values and not any(value.can_happen for value, _ in values)
        state = FigureState.NOT_APPLICABLE if never else FigureState.NOT_EVALUATED
        return Judgement(metric.name, None, state, str(limits.pass_limit), _why_not(values))
    happened = [bool(value.best) for value, _ in measured]
    possible = sum(bool(value.worst) for value, _ in measured)
    excused = sum(hit and runs[0].case_id in whole.waived for hit, (_, runs) in zip(happened, measured, strict=True))
    groups = [repeats[0].group for _, repeats in measured]
    interval = pooled_interval([int(hit) for hit in happened], [1] * len(happened), groups, confidence=whole.confidence)
    waiting = possible - sum(happened)
    rests_on = reason(
        ReasonCode.CASES_WITH_EVENT,
        happened=sum(happened),
        cases=len(happened),
        restricted=any(not value.can_happen for value, _ in values),
        # open alarms are not innocent: no limit can be given while somebody has to read them
        upper=interval.high if interval and not waiting else None,
        open=waiting,
        waived=excused,
    )
    confirmed = float(sum(happened))
    state = band_of(limits, confirmed - excused)
    softened = not metric.severe and whole.thresholds.policy == "set" and state == FigureState.FAIL
    undecided = state == FigureState.PASS and (excused or band_of(limits, float(possible)) != FigureState.PASS)
    if softened or undecided:
        state = FigureState.CAUTION
    return Judgement(
        metric.name, confirmed, state, str(limits.pass_limit), (rests_on,), worst=float(possible)
    )  # fmt: skip


def _judge_per_replies(metric: Metric, limits: MetricLimits, whole: _Set) -> Judgement:
    """All events over all replies, per hundred."""
    values = [(case_value(metric.name, repeats), repeats) for repeats in whole.complete]
    measured = [(value, repeats) for value, repeats in values if value.best is not None]
    if not measured:
        never = values and not any(value.can_happen for value, _ in values)
        state = FigureState.NOT_APPLICABLE if never else FigureState.NOT_EVALUATED
        return Judgement(metric.name, None, state, str(limits.pass_limit), _why_not(values))
    replies = [sum(len(run.turns) for run in repeats) for _, repeats in measured]
    confirmed, possible = [value.confirmed for value, _ in measured], [len(value.events) for value, _ in measured]
    groups = [repeats[0].group for _, repeats in measured]
    intervals = [
        replace(interval, low=100 * interval.low, high=100 * interval.high) if interval else None
        for interval in (
            pooled_interval(end, replies, groups, confidence=whole.confidence) for end in (confirmed, possible)
        )
    ]
    rates = 100 * sum(confirmed) / sum(replies), 100 * sum(possible) / sum(replies)
    rests_on = (reason(ReasonCode.PER_REPLIES, events=sum(confirmed), replies=sum(replies)),)
    return _by_interval(metric, limits, rates, (intervals[0], intervals[1]), rests_on, whole.thresholds)


def _judge_lowest(metric: Metric, limits: MetricLimits, whole: _Set) -> Judgement:
    """The lowest point of the set's mean recall, at both ends, with the interval of that turn."""
    ends = [lowest for worst in (False, True) if (lowest := _lowest(whole.complete, worst=worst)) is not None]
    if len(ends) < 2:
        return Judgement(metric.name, None, FigureState.NOT_EVALUATED, str(limits.pass_limit), _why_not(()))
    intervals = [
        mean_interval(values, groups, confidence=whole.confidence, worst=0.0, best=1.0) for _, _, values, groups in ends
    ]
    rests_on = (reason(ReasonCode.LOWEST_AT, turn=ends[0][1], cases=len(ends[0][2])),)
    return _by_interval(
        metric, limits, (ends[0][0], ends[1][0]), (intervals[0], intervals[1]), rests_on, whole.thresholds
    )


def _lowest(cases: Sequence[Repeats], *, worst: bool) -> tuple[float, int, list[float], list[str]] | None:
    """Lowest point of the set's mean curve, its turn, and the cases' values there with their groups.

    A case that has ended keeps its last value: the mean of the few longest cases is no figure of the set.
    """
    curves = [mean_curve([run.worst_curve if worst else run.recall_curve for run in repeats]) for repeats in cases]
    longest = max(map(len, curves), default=0)
    lasting = [carried([*curve, *[None] * (longest - len(curve))]) for curve in curves]
    lowest = lowest_recall(lasting)
    if lowest is None:
        return None
    value, turn = lowest
    there = [(curve[turn - 1], repeats[0].group) for curve, repeats in zip(lasting, cases, strict=True)]
    known = [(value_, group) for value_, group in there if value_ is not None]
    return value, turn, [value_ for value_, _ in known], [group for _, group in known]


_JUDGES: dict[Aggregation, Callable[[Metric, MetricLimits, _Set], Judgement]] = {
    Aggregation.MEAN: _judge_mean,
    Aggregation.POOLED_PAIRS: _judge_pairs,
    Aggregation.CASES_WITH_EVENT: _judge_events,
    Aggregation.PER_REPLIES: _judge_per_replies,
    Aggregation.LOWEST: _judge_lowest,
}


def _by_interval(
    metric: Metric,
    limits: MetricLimits,
    values: tuple[float | None, float | None],
    intervals: tuple[Interval | None, Interval | None],
    rests_on: Reasons,
    thresholds: Thresholds,
) -> Judgement:
    """FAIL by the better point estimate, PASS by the worse end's whole interval, else CAUTION."""
    best, worst = values
    state = band_of(limits, best)
    judged = Judgement(metric.name, best, state, str(limits.pass_limit), rests_on, intervals[0], worst)
    if best is None or state == FigureState.FAIL:
        return judged
    decisive, value = intervals[1], worst if worst is not None else best
    if decisive is None or thresholds.set.decide_by == "point":
        inside = band_of(limits, value) == FigureState.PASS
        return replace(judged, verdict=FigureState.PASS if inside else FigureState.CAUTION)
    bad_end = decisive.low if limits.direction == "higher" else decisive.high
    has_width = decisive.high - decisive.low > 1e-12
    if limits.pass_limit.holds(bad_end) and has_width:
        return replace(judged, verdict=FigureState.PASS)
    advice = cases_to_settle(value, bad_end, limits, decisive)
    return replace(judged, verdict=FigureState.CAUTION, reasons=(*rests_on, *advice))


def cases_to_settle(value: float, bad_end: float, limits: MetricLimits, interval: Interval) -> Reasons:
    """How many independent cases like these would bring the interval inside the limit; empty if none would."""
    room, reach = abs(value - limits.pass_limit.value), abs(value - bad_end)
    if not limits.pass_limit.holds(value) or room <= 1e-9 or reach <= 1e-12:
        return ()
    # limits of an event never seen shrink with 1 / n, all others with 1 / sqrt(n)
    power = 1 if interval.method == "exact" and value in (0.0, 1.0) else 2
    factor = (reach / room) ** power
    if factor > _HOPELESS:
        return (reason(ReasonCode.TOO_CLOSE_TO_SETTLE),)
    needed = max(interval.units + 1, math.ceil(interval.units * factor))
    return (reason(ReasonCode.CASES_WOULD_SETTLE, cases=needed),)


def _with_correction(
    judged: Judgement, metric: Metric, limits: MetricLimits, whole: _Set, deciders: Deciders
) -> Judgement:
    """The judgement with the corrected rate beside it.

    CAUTION instead of PASS where the corrected value leaves the pass limit; FAIL where its whole interval lies past the
    fail line.
    """
    kind = metric.corrected_by or ""
    error = deciders.errors.get(kind)
    if error is None or kind not in deciders.deciding or judged.value is None:
        return judged
    upheld, cleared = error
    if deciders.reviewers:
        cleared = (cleared[1], cleared[1])  # people have read what was upheld; what was missed stays missed
    corrected = _corrected(judged, whole, upheld, cleared)
    if corrected is None:
        return judged
    kind_end = corrected.high if limits.direction == "higher" else corrected.low
    state = judged.verdict
    if band_of(limits, kind_end) == FigureState.FAIL:
        state = FigureState.FAIL
    elif state == FigureState.PASS and band_of(limits, corrected.value) != FigureState.PASS:
        state = FigureState.CAUTION
    shown = reason(ReasonCode.CORRECTED, value=corrected.value, low=corrected.low, high=corrected.high)
    return replace(judged, verdict=state, corrected=corrected, reasons=(*judged.reasons, shown))


def _corrected(judged: Judgement, whole: _Set, upheld: Counted, cleared: Counted) -> CorrectedRate | None:
    counts = [_asked_of(judged.metric, repeats) for repeats in whole.complete]
    hits, asked, shares = (sum(row[column] for row in counts) for column in range(3))
    if not asked or judged.verdict == FigureState.NOT_EVALUATED or judged.value is None:
        return None
    confidence, groups = whole.confidence, [repeats[0].group for repeats in whole.complete]
    size = effective_trials([row[0] for row in counts], [row[1] for row in counts], groups, confidence=confidence)
    share = hits / asked
    rate = corrected_rate((share * size, size), sensitivity=upheld, specificity=cleared, confidence=confidence)
    if rate is None or judged.metric == "k_conflict":
        return rate
    # recall is the share of facts that are not lost or wrong
    value, low, high = (
        min(1.0, max(0.0, judged.value - (true - share) * asked / shares)) for true in (rate.value, rate.high, rate.low)
    )
    return CorrectedRate(value, low, high)


def _asked_of(metric: str, repeats: Repeats) -> tuple[int, int, int]:
    """Faults upheld, questions, and all that the rate is a share of."""
    if metric == "k_conflict":
        confirmed, _, pairs = pooled_conflict([repeats])
        return confirmed, pairs, pairs
    facts: list[SettledFact] = [
        fact for run in repeats for turn in run.turns[run.horizon - 1 : run.horizon] for fact in turn.findings
    ]
    return sum(fact.state == AlarmState.CONFIRMED for fact in facts), len(facts), len(facts)
