"""Repeats of a case under sampled decoding: how much they differ, and which cases change their verdict by chance."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_clinical_drift.metrics.repeats import Spread, repeat_spread
from pytest_clinical_drift.verdict.case import judge_case
from pytest_clinical_drift.verdict.case_values import RATES, Repeats
from pytest_clinical_drift.verdict.thresholds import Thresholds


@dataclass(frozen=True, slots=True)
class FlakyCase:
    """A case whose repeats, each judged alone, do not agree."""

    case_id: str
    verdicts: tuple[str, ...]
    """One per repeat."""
    recalls: tuple[float | None, ...]
    """Recall@T10 of each repeat."""


@dataclass(frozen=True, slots=True)
class RepeatFigures:
    """Variation between conversations of the same case."""

    repeats: int
    recall: Spread
    slope: Spread
    flaky: tuple[FlakyCase, ...]


def repeat_figures(cases: Sequence[Repeats], thresholds: Thresholds, today: datetime.date) -> RepeatFigures | None:
    """Spread within cases and the flaky ones; None when no case was repeated."""
    if not any(len(repeats) > 1 for repeats in cases):
        return None
    return RepeatFigures(
        repeats=max(len(repeats) for repeats in cases),
        recall=_spread("recall_at_t10", cases),
        slope=_spread("drift_slope", cases),
        flaky=tuple(flaky for repeats in cases if (flaky := _flaky(repeats, thresholds, today))),
    )


def _spread(name: str, cases: Sequence[Repeats]) -> Spread:
    values = [[RATES[name][0](run) for run in repeats] for repeats in cases]
    return repeat_spread([[value for value in row if value is not None] for row in values])


def _flaky(repeats: Repeats, thresholds: Thresholds, today: datetime.date) -> FlakyCase | None:
    verdicts = tuple(judge_case([run], thresholds, today).verdict for run in repeats)
    if len(set(verdicts)) < 2:
        return None
    return FlakyCase(repeats[0].case_id, verdicts, tuple(run.recall_at_horizon for run in repeats))
