"""Intervals for figures over cases: the case is the unit, cases of one persona are resampled together."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from pytest_clinical_drift.metrics.bootstrap import RESAMPLES, Table, bca_limits, group_sums

FEW_UNITS = 8
"""Below this many independent units a bootstrap only reshuffles what it has; Student's t is used instead."""
FEW_DEPARTURES = 10
"""Below this many units unlike the rest, many resamples hold none of them: exact limits stand beside the bootstrap."""

PRIOR_CORRELATION = 0.3
"""Assumed correlation of the trials of one unit (pairs of advice of one conversation) until the data show theirs."""
PRIOR_WEIGHT = 5.0
"""How many units with an event outweigh the assumption."""

_EQUAL = 1e-12


@dataclass(frozen=True, slots=True)
class Interval:
    low: float
    high: float
    method: str
    """How it was computed: "bootstrap", "exact", "bootstrap or exact" (the wider) or "t"."""
    units: int
    """Independent units behind it."""


def over_cases(interval: Interval | None) -> Interval | None:
    """An interval to show; None of a single unit, which says nothing about others, however wide it is drawn."""
    return interval if interval is not None and interval.units > 1 else None


def mean_intervals(
    columns: ArrayLike,
    groups: Sequence[str],
    ends: tuple[float, float],
    *,
    confidence: float,
    resamples: int = RESAMPLES,
    unseen: bool = True,
) -> list[Interval]:
    """Interval of the mean of the cases' values, for each column of them, resampling whole groups; at least one case.

    `ends` are the worst and the best value possible. Where all values are equal a bootstrap has no width and would
    claim certainty: then up to u of the units, by the exact binomial limit, may be as bad as the worst (or as good as
    the best). Where few units depart from the rest, the limit is the wider of the bootstrap's and the exact one for the
    share that departs; with `unseen`, where most units are alike, its bad end is no better than if all were: a loss
    never turns into a merit.
    """
    table = np.asarray(columns, dtype=float).T
    worst, best = ends
    sums, counts = group_sums(table, groups)
    units = len(counts)
    if units < FEW_UNITS:
        method = "t"
        low, high = _t_limits(sums, counts, confidence)
    else:
        method = "bootstrap"
        low, high = bca_limits(sums, counts, confidence=confidence, bad_end_is_low=worst <= best, resamples=resamples)
    bottom, top = sorted(ends)
    common = _most_common(table)
    departures = sums / counts[:, None] - common
    departing = (np.abs(departures) > _EQUAL).sum(axis=0)
    bad = common + _upper(0, units, confidence) * (worst - common)
    intervals = []
    for column, count in enumerate(departing):
        found = Interval(max(float(low[column]), bottom), min(float(high[column]), top), method, units)
        if count < min(FEW_DEPARTURES, units):
            found = _few_departures(found, float(common[column]), departures[:, column], ends, confidence)
        if unseen and 2 * count < units:
            end = float(bad[column])
            if worst <= best:
                found = replace(found, low=min(found.low, end))
            else:
                found = replace(found, high=max(found.high, end))
        intervals.append(found)
    return intervals


def _t_limits(sums: Table, counts: Table, confidence: float) -> tuple[Table, Table]:
    """Student's t for the ratio sum / count over groups; a single group has no width here."""
    from scipy.special import stdtrit

    units = len(counts)
    observed = sums.sum(axis=0) / counts.sum()
    if units < 2:
        return observed, observed
    residuals = sums - observed * counts[:, None]
    error = np.sqrt(units / (units - 1) * (residuals**2).sum(axis=0)) / counts.sum()
    wing = stdtrit(units - 1, (1 + confidence) / 2) * error
    return observed - wing, observed + wing


def _most_common(table: Table) -> Table:
    """Per column the value that most cases share; the first of them where several are as common."""
    ordered = np.sort(table, axis=0)
    starts = np.vstack([np.ones((1, table.shape[1]), dtype=bool), np.diff(ordered, axis=0) > _EQUAL])
    positions = np.where(starts, np.arange(len(table))[:, None], 0)
    run_length = np.arange(len(table))[:, None] - np.maximum.accumulate(positions, axis=0)
    common: Table = ordered[run_length.argmax(axis=0), np.arange(table.shape[1])]
    return common


def _few_departures(
    resampled: Interval, common: float, departures: Table, ends: tuple[float, float], confidence: float
) -> Interval:
    """Exact limits for the share of units that depart, by as much as those seen did; none seen: as far as possible."""
    units = len(departures)
    departing = departures[np.abs(departures) > _EQUAL]
    if not len(departing):
        low, high = sorted(common + _upper(0, units, confidence) * (end - common) for end in ends)
        return Interval(low, high, "exact", units)
    size = float(np.abs(departing).mean())
    down = int((departing < 0).sum())
    up = int((departing > 0).sum())
    low = common - size * _upper(down, units, confidence) if down else common + size * _lower(up, units, confidence)
    high = common + size * _upper(up, units, confidence) if up else common - size * _lower(down, units, confidence)
    bottom, top = sorted(ends)
    low = max(min(resampled.low, low), bottom)
    high = min(max(resampled.high, high), top)
    return Interval(low, high, f"{resampled.method} or exact", units)


def proportion_interval(events: int, trials: int, *, confidence: float) -> Interval | None:
    """Exact (Clopper-Pearson) limits of a proportion of independent trials; None without trials."""
    return _exact(events, trials, confidence, trials) if trials > 0 else None


def pooled_interval(
    events: Sequence[int], trials: Sequence[int], groups: Sequence[str], *, confidence: float
) -> Interval | None:
    """Exact limits of pooled events / pooled trials whose trials come in groups; None without trials.

    Pairs of advice of one conversation are not independent, so the exact limits are taken at the effective number of
    trials (Korn and Graubard 1998): trials divided by the design effect 1 + (m - 1) r, with r the correlation within a
    group, drawn towards PRIOR_CORRELATION while few groups have an event. One trial per group: Clopper-Pearson.
    """
    effective = effective_trials(events, trials, groups, confidence=confidence)
    if not effective:
        return None
    units = len({group for group, count in zip(groups, trials, strict=True) if count})
    return _exact(sum(events) / sum(trials) * effective, effective, confidence, units)


def clustered_limits(
    hits: Sequence[int], trials: Sequence[int], groups: Sequence[str], *, confidence: float = 0.95
) -> tuple[float, float]:
    """One-sided exact limits of pooled hits / pooled trials, below and above; (0, 1) without trials.

    As `pooled_interval`, with the design effect as estimated: the variance of the ratio over groups, by linearisation,
    against that of independent trials, at least 1. Without an error it is 1: then this is Clopper-Pearson.
    """
    good, tried = _per_group(hits, trials, groups).T
    whole = float(good.sum())
    of = float(tried.sum())
    units = len(tried)
    if not of:
        return 0.0, 1.0
    share = whole / of
    effect = 1.0
    if 0 < share < 1 and units > 1:
        spread = float(((good - share * tried) ** 2).sum()) * units / (units - 1)
        effect = max(1.0, spread / (of * share * (1 - share)))
    # two one-sided limits make an interval of this confidence
    both = _exact(whole / effect, of / effect, 2 * confidence - 1, units)
    return both.low, both.high


def _per_group(events: Sequence[int], trials: Sequence[int], groups: Sequence[str]) -> Table:
    """Events and trials of every group that has trials: groups x 2."""
    table = np.column_stack([np.asarray(events, dtype=float), np.asarray(trials, dtype=float)])
    used = table[:, 1] > 0
    return group_sums(table[used], np.asarray(groups)[used])[0]


def effective_trials(
    events: Sequence[int], trials: Sequence[int], groups: Sequence[str], *, confidence: float
) -> float:
    """How many independent trials the grouped ones are worth, as `pooled_interval` counts them; 0 without trials."""
    from scipy.special import stdtrit

    happened, tried = _per_group(events, trials, groups).T
    total = float(tried.sum())
    units = len(tried)
    if not units:
        return 0.0
    per_unit = float((tried**2).sum()) / total
    if per_unit <= 1 + _EQUAL or units < 2:
        # one group shows nothing about the correlation inside it
        return total / (1 + (per_unit - 1) * PRIOR_CORRELATION)
    share = float(happened.sum()) / total
    seen = 0
    correlation = 0.0
    if 0 < share < 1:
        variance = units / (units - 1) * float(((happened - share * tried) ** 2).sum()) / total**2
        correlation = max(0.0, (variance * total / (share * (1 - share)) - 1) / (per_unit - 1))
        seen = int(np.minimum((happened > 0).sum(), (happened < tried).sum()))
    correlation = min(1.0, (seen * correlation + PRIOR_WEIGHT * PRIOR_CORRELATION) / (seen + PRIOR_WEIGHT))
    level = (1 + confidence) / 2
    shortage = (stdtrit(units - 1, level) / stdtrit(max(total - 1, 1.0), level)) ** 2
    return float(min(total, total / ((1 + (per_unit - 1) * correlation) * shortage)))


def _exact(events: float, trials: float, confidence: float, units: int) -> Interval:
    """Clopper-Pearson limits; the counts may be effective ones, and then not whole."""
    return Interval(_lower(events, trials, confidence), _upper(events, trials, confidence), "exact", units)


def _lower(events: float, trials: float, confidence: float) -> float:
    from scipy.special import betaincinv

    return float(betaincinv(events, trials - events + 1, (1 - confidence) / 2)) if events > _EQUAL else 0.0


def _upper(events: float, trials: float, confidence: float) -> float:
    return 1 - _lower(trials - events, trials, confidence)


def repeat_sd(cases: Sequence[Sequence[float]]) -> float | None:
    """Standard deviation between repeats of one case, pooled over cases; None without a repeated case."""
    repeated = [np.asarray(values) for values in cases if len(values) >= 2]
    squares = sum(float(((values - values.mean()) ** 2).sum()) for values in repeated)
    freedom = sum(len(values) - 1 for values in repeated)
    return (squares / freedom) ** 0.5 if freedom else None
