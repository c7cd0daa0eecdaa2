"""The gate on the whole set. It fails closed: what is not shown is not passed.

FAIL     a case fails the run, too many cases are past a fail line, or a point estimate is past its fail line
PASS     every gated metric lies inside its pass limit with its whole interval, and there are enough independent cases
CAUTION  everything between
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Sequence
from dataclasses import replace

from .case_values import EVENTS, Repeats, case_value, diagnose, events_of, pooled_conflict
from .judgement import (
    CAUTION,
    FAIL,
    HARD,
    INCOMPLETE,
    NEEDED,
    NOT_EVALUATED,
    PARTIAL,
    PASS,
    CaseVerdict,
    Judgement,
    SetVerdict,
    fails_run,
    judge_value,
    label,
    number,
)
from .metrics.conflict import conflict_rate
from .metrics.line import steepest_slope
from .metrics.recall import mean
from .metrics.stats import Interval, mean_interval, pooled_interval
from .thresholds import MetricLimits, Thresholds

_HOPELESS = 20
"""A set would have to grow by more than this factor: then no number is given."""


def judge_set(
    cases: Sequence[Repeats],
    verdicts: Sequence[CaseVerdict],
    thresholds: Thresholds,
    *,
    total: int,
    today: datetime.date,
) -> SetVerdict:
    """The gate on the whole set; a subset of the cases gives PARTIAL, never a release verdict."""
    waived = {verdict.case_id for verdict in verdicts if verdict.waiver is not None}
    complete = [repeats for repeats, verdict in zip(cases, verdicts, strict=True) if verdict.verdict != INCOMPLETE]
    judgements = tuple(
        judge_over(name, limits, complete, thresholds, waived) for name, limits in thresholds.metrics.items()
    )
    verdict, reasons = _decide(verdicts, judgements, thresholds, complete)
    if len(cases) < total:
        reasons = [f"{len(cases)} of {total} cases were run", *reasons]
        verdict = PARTIAL
    return SetVerdict(
        verdict=verdict,
        judgements=judgements,
        reasons=tuple(reasons),
        diagnosis=diagnose(complete, thresholds),
        selected=len(cases),
        total=total,
        complete=len(complete),
        failing=tuple(item.case_id for item in verdicts if item.verdict == FAIL),
        waivers=tuple(waiver for waiver in thresholds.waivers if waiver.holds_on(today)),
    )


def _decide(
    verdicts: Sequence[CaseVerdict],
    judgements: Sequence[Judgement],
    thresholds: Thresholds,
    complete: Sequence[Repeats],
) -> tuple[str, list[str]]:
    rules, run = thresholds.set, len(verdicts)
    past_a_line = [_because(item) for item in judgements if item.verdict == FAIL]
    if failed := [*_failing_cases(verdicts, thresholds), *past_a_line]:
        return FAIL, failed
    reasons: list[str] = []
    if len(complete) < run:
        reasons.append(f"{run - len(complete)} of {run} cases could not be run to the end")
        if not complete or len(complete) / run < rules.min_coverage - 1e-9:
            return INCOMPLETE, reasons
    if any(item.verdict == NOT_EVALUATED and item.metric in NEEDED for item in judgements):
        return INCOMPLETE, [*reasons, "recall or slope could not be evaluated"]
    if too_few := _too_few(complete, rules.min_cases):
        reasons.append(too_few)
    reasons += [_because(item) for item in judgements if item.verdict in (CAUTION, NOT_EVALUATED)]
    verdict = CAUTION if reasons else PASS
    if cautious := sum(item.verdict == CAUTION for item in verdicts):
        reasons.append(f"{cautious} {'case' if cautious == 1 else 'cases'} at CAUTION")
    return verdict, reasons


def _failing_cases(verdicts: Sequence[CaseVerdict], thresholds: Thresholds) -> list[str]:
    failing = [verdict for verdict in verdicts if verdict.verdict == FAIL]
    fatal = sum(fails_run(verdict, thresholds) for verdict in failing)
    tolerated, limit = len(failing) - fatal, thresholds.set.max_failing_cases
    reasons = [f"{fatal} of {len(verdicts)} cases failed"] if fatal else []
    if tolerated > limit:
        reasons.append(f"{tolerated} of {len(verdicts)} cases are past a fail line, {limit} are tolerated")
    return reasons


def _too_few(complete: Sequence[Repeats], needed: int) -> str:
    """Cases of one persona or cluster tell the same story, so they count once."""
    independent = len({repeats[0].group for repeats in complete})
    if independent >= needed:
        return ""
    if independent < len(complete):
        counted = f"{len(complete)} cases of {independent} independent groups"
    else:
        counted = f"{independent} {'case' if independent == 1 else 'cases'}"
    return f"{counted}: fewer than the {needed} that a PASS needs"


def _because(item: Judgement) -> str:
    if item.value is None:
        return f"{label(item.metric)} not evaluated: {item.detail}"
    interval = f" [{item.interval.low:.3f}, {item.interval.high:.3f}]" if item.interval else ""
    more = item.detail.partition("; ")[2] if item.interval else ""
    return f"{label(item.metric)} {number(item.metric, item.value)}{interval} against {item.limit}" + (
        f" ({more})" if more else ""
    )


def judge_over(
    name: str, limits: MetricLimits, complete: Sequence[Repeats], thresholds: Thresholds, waived: set[str]
) -> Judgement:
    """A metric over the whole set, decided by its interval or its point estimate."""
    if name in EVENTS:
        return _judge_events(name, limits, complete, thresholds, waived)
    confidence = thresholds.set.confidence
    if name == "k_conflict":
        contradictions, pairs = pooled_conflict(complete)
        per_case = [pooled_conflict([repeats]) for repeats in complete]
        interval = pooled_interval(
            [found for found, _ in per_case],
            [count for _, count in per_case],
            [repeats[0].group for repeats in complete],
            confidence=confidence,
        )
        detail = f"{contradictions} of {pairs} pairs" if pairs else "no pair of advice in the whole set"
        return _by_interval(name, limits, conflict_rate(contradictions, pairs), interval, detail, thresholds)
    values = [(case_value(name, repeats)[0], repeats[0].group) for repeats in complete]
    defined = [(value, group) for value, group in values if value is not None]
    worst, best = 0.0, 1.0
    if name == "drift_slope":
        worst = min((steepest_slope(repeats[0].horizon) for repeats in complete), default=0.0)
        best = -worst
    interval = mean_interval(
        [value for value, _ in defined],
        [group for _, group in defined],
        confidence=confidence,
        worst=worst,
        best=best,
    )
    return _by_interval(name, limits, mean(value for value, _ in defined), interval, f"n = {len(defined)}", thresholds)


def _judge_events(
    name: str, limits: MetricLimits, complete: Sequence[Repeats], thresholds: Thresholds, waived: set[str]
) -> Judgement:
    """Cases in which it happened; a waived one counts as CAUTION, and under policy set max_failing_cases decides."""
    if not complete:
        return judge_value(name, limits, None, "no case was run to the end")
    happened = [bool(events_of(name, repeats)) for repeats in complete]
    excused = sum(hit and repeats[0].case_id in waived for hit, repeats in zip(happened, complete, strict=True))
    groups = [repeats[0].group for repeats in complete]
    interval = pooled_interval(
        [int(hit) for hit in happened], [1] * len(happened), groups, confidence=thresholds.set.confidence
    )
    upper = f"; compatible with a true rate up to {interval.high:.1%}" if interval else ""
    signed = f"; {excused} waived" if excused else ""
    detail = f"{sum(happened)} of {len(happened)} cases{upper}{signed}"
    judged = judge_value(name, limits, float(sum(happened) - excused), detail)
    judged = replace(judged, value=float(sum(happened)))
    softened = name not in HARD and thresholds.policy == "set" and judged.verdict == FAIL
    if softened or (excused and judged.verdict == PASS):
        return replace(judged, verdict=CAUTION, limit=str(limits.pass_limit))
    return judged


def _by_interval(
    name: str,
    limits: MetricLimits,
    value: float | None,
    interval: Interval | None,
    detail: str,
    thresholds: Thresholds,
) -> Judgement:
    judged = replace(judge_value(name, limits, value, detail), interval=interval)
    if value is None or interval is None or thresholds.set.decide_by == "point" or judged.verdict == FAIL:
        return judged
    bad_end = interval.low if limits.direction == "higher" else interval.high
    has_width = interval.high - interval.low > 1e-12
    if limits.pass_limit.holds(bad_end) and has_width:
        return replace(judged, verdict=PASS)
    advice = cases_to_settle(value, bad_end, limits, interval)
    return replace(judged, verdict=CAUTION, limit=str(limits.pass_limit), detail=f"{detail}{advice}")


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
