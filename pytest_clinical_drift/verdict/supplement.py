"""What stands beside the verdict: trend, repeats, comparison with a baseline, sanity band."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.scoring.sanity import SanityBand, sanity_band
from pytest_clinical_drift.verdict.baseline import Baseline
from pytest_clinical_drift.verdict.baseline_verdict import (
    BaselineComparison,
    apply_baseline,
    compare_with_baseline,
)
from pytest_clinical_drift.verdict.case_values import Repeats
from pytest_clinical_drift.verdict.repeats import RepeatFigures, repeat_figures
from pytest_clinical_drift.verdict.thresholds import Thresholds
from pytest_clinical_drift.verdict.trend import Trend, set_trend
from pytest_clinical_drift.verdict.values import INCOMPLETE, CaseVerdict, SetVerdict


@dataclass(frozen=True, slots=True)
class Supplement:
    """Descriptive figures; only the comparison with a baseline can touch the verdict, through `decide`."""

    trend: Trend
    repeats: RepeatFigures | None
    comparison: BaselineComparison | None
    sanity: SanityBand

    def decide(self, verdict: SetVerdict) -> SetVerdict:
        """The set's verdict with the comparison taken in."""
        return apply_baseline(verdict, self.comparison) if self.comparison else verdict

    def record(self) -> dict[str, Any]:
        """For the results file; plain values, nothing that differs between two equal runs."""
        plain = {key: _plain(value) for key, value in dataclasses.asdict(self).items()}
        return {
            "trend": plain["trend"],
            "repeat_spread": plain["repeats"],
            "baseline": plain["comparison"],
            "sanity_band": {**plain["sanity"], "faults": list(self.sanity.faults)},
        }


def _plain(value: Any) -> Any:
    """Tuples as lists, so that what is written is what is read back."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, tuple | list) else value


def supplement(
    cases: Sequence[Case],
    assessed: Sequence[tuple[Repeats, CaseVerdict]],
    thresholds: Thresholds,
    *,
    today: datetime.date,
    baseline: Baseline | None = None,
    remarks: Sequence[str] = (),
) -> Supplement:
    """All of it for the cases that were run; `remarks` are those of `check_comparable`."""
    complete = [repeats for repeats, verdict in assessed if verdict.verdict != INCOMPLETE]
    comparison = None
    if baseline is not None:
        every, verdicts = [repeats for repeats, _ in assessed], [verdict for _, verdict in assessed]
        comparison = compare_with_baseline(baseline, every, verdicts, thresholds, remarks)
    return Supplement(
        trend=set_trend(complete, confidence=thresholds.set.confidence),
        repeats=repeat_figures(complete, thresholds, today),
        comparison=comparison,
        sanity=sanity_band(cases),
    )
