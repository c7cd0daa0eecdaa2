"""What is shown beside the verdict and is never gated: the set's curve, repeats that disagree."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.metrics.drift import SlopeFit
from pytest_clinical_drift.metrics.horizon import early_slope
from pytest_clinical_drift.metrics.recall import mean_curve
from pytest_clinical_drift.metrics.stats import Spread, mean_interval, repeat_spread
from pytest_clinical_drift.scoring.assessment import Curve
from pytest_clinical_drift.verdict.case import judge_case
from pytest_clinical_drift.verdict.measures import Repeats
from pytest_clinical_drift.verdict.memory import BAND_RESAMPLES, Memory, memory_of, scheduled_curve
from pytest_clinical_drift.verdict.states import Verdict
from pytest_clinical_drift.verdict.thresholds import Thresholds


@dataclass(frozen=True, slots=True)
class Trend:
    """The mean recall curve to the end and what it looks like."""

    curve: Curve
    """By turn, at scheduled probes."""
    line: SlopeFit | None
    """Through turns 1 to 20, of shorter cases the whole curve."""
    band: tuple[tuple[float, float] | None, ...]
    """Interval of the mean on every turn, over the cases that have a value there."""
    memory: Memory | None = None
    """How long facts are remembered; None where no case was finished."""

    @property
    def turns(self) -> int:
        """The turn that the curve runs to."""
        return len(self.curve)


def set_trend(
    cases: Sequence[Repeats], case_set: Iterable[Case] = (), *, limit: float = 0.8, confidence: float = 0.95
) -> Trend:
    """Repeats are averaged first, then cases; a case counts to its end.

    `limit` is the PASS limit of recall, `case_set` holds the cases as they were run.
    """
    curves = {
        repeats[0].case_id: mean_curve([scheduled_curve(run, lambda turn: turn.recall) for run in repeats])
        for repeats in cases
    }
    mean = tuple(mean_curve(curves.values()))
    grouped = [(curve, repeats[0].group) for curve, repeats in zip(curves.values(), cases, strict=True)]
    band = tuple(
        _limits([(curve[turn], group) for curve, group in grouped if turn < len(curve)], confidence)
        for turn in range(len(mean))
    )
    memory = memory_of(cases, case_set, limit=limit, confidence=confidence)
    return Trend(mean, early_slope(mean), band, memory)


def _limits(values: Sequence[tuple[float | None, str]], confidence: float) -> tuple[float, float] | None:
    known = [(value, group) for value, group in values if value is not None]
    interval = mean_interval(
        [value for value, _ in known],
        [group for _, group in known],
        confidence=confidence,
        worst=0.0,
        best=1.0,
        resamples=BAND_RESAMPLES,
    )
    return (interval.low, interval.high) if interval else None


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
    recall: Spread
    flaky: tuple[FlakyCase, ...]


def repeat_figures(
    cases: Sequence[Repeats], thresholds: Thresholds, today: datetime.date, deciding: Sequence[str] = ()
) -> RepeatFigures | None:
    """Spread within cases and those that change their verdict by chance; None when no case was repeated."""
    if not any(len(repeats) > 1 for repeats in cases):
        return None
    recalls = [tuple(run.recall_at_horizon for run in repeats) for repeats in cases]
    flaky = []
    for repeats, recalled in zip(cases, recalls, strict=True):
        verdicts = tuple(judge_case([run], thresholds, today, deciding).verdict for run in repeats)
        if len(set(verdicts)) > 1:
            flaky.append(FlakyCase(repeats[0].case_id, verdicts, recalled))
    spread = repeat_spread([[value for value in recalled if value is not None] for recalled in recalls])
    return RepeatFigures(max(map(len, cases)), spread, tuple(flaky))
