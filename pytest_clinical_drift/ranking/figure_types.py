"""The values that ranking figures travel in: a number with its count, or the reason why there is none; judgements."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple, TypeAlias

import numpy.typing as npt

from pytest_clinical_drift.errors import coded_sentence
from pytest_clinical_drift.metrics.intervals import Interval
from pytest_clinical_drift.report.words import limit_numbers, rounded
from pytest_clinical_drift.verdict.reasons import FigureState

Array: TypeAlias = npt.NDArray[Any]


class SlateCode(StrEnum):
    """Why a figure has no value, or a verdict is held back; `data/slate_reasons.yaml` has the sentences."""

    NO_PREDICTION = "no_prediction"
    NO_OUTCOME = "no_outcome"
    NO_HIT = "no_hit"
    NO_MISS = "no_miss"
    NO_DATE = "no_date"
    NO_OPEN_CANDIDATE = "no_open_candidate"
    NO_DECILE_HIT = "no_decile_hit"
    NO_CANDIDATES = "no_candidates"
    NO_POPULARITY = "no_popularity"
    NO_LABELS = "no_labels"
    FEW_LABELS = "few_labels"
    NOTHING_AFTER = "nothing_after"
    ONE_CLASS = "one_class"
    NO_PAIR = "no_pair"
    NO_RELEVANT_PAIR = "no_relevant_pair"
    CHANCE_IS_ZERO = "chance_is_zero"
    BY_DISEASE = "by_disease"
    NO_TIER = "no_tier"
    TIER_ONLY = "tier_only"
    NOTHING_OBSERVED = "nothing_observed"
    INFLATED = "inflated"
    UNPROVEN = "unproven"
    NO_HASH = "no_hash"
    NO_INTERVAL = "no_interval"
    INTERVAL_REACHES = "interval_reaches"
    ZERO_WIDTH = "zero_width"
    CHANGED = "changed"
    CHANGED_BEFORE = "changed_before"
    OTHER_COUNT = "other_count"
    NOT_RUN = "not_run"
    TESTS_RUN = "tests_run"


@dataclass(frozen=True, slots=True)
class SlateReason:
    """A code with plain values; `str()` gives the sentence."""

    code: SlateCode
    values: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return coded_sentence("slate_reasons.yaml", self.code, self.values)


@dataclass(frozen=True, slots=True)
class Figure:
    """One number. Undefined is None with a reason, never 0."""

    value: float | None
    n: int
    """What it was computed over: pairs, trials or groups, as the metric says."""
    reason: SlateReason | None = None
    """Why there is no value."""
    interval: Interval | None = None
    """From resampling whole diseases; for a single disease exact binomial limits."""

    @classmethod
    def undefined(cls, code: SlateCode, n: int = 0, **values: Any) -> Figure:
        return cls(None, n, SlateReason(code, values))


@dataclass(frozen=True, slots=True)
class SlateJudgement:
    metric: str
    verdict: FigureState
    figure: Figure
    limit: str = ""
    detail: SlateReason | None = None
    """Why it is not evaluated, or why a good value is not enough."""
    per_year: Mapping[str, float | None] = field(default_factory=dict)
    """Figures by year, of the temporal metric."""

    def __str__(self) -> str:
        if self.figure.value is None:
            return f"{self.metric} {FigureState.NOT_EVALUATED}: {self.detail}"
        interval = self.figure.interval
        held = limit_numbers(self.limit)
        shown = f" [{rounded(interval.low, '.3f', held)}, {rounded(interval.high, '.3f', held)}]" if interval else ""
        limit = f" against {self.limit}" if self.limit else ""
        detail = f": {self.detail}" if self.detail else ""
        return f"{self.metric} {rounded(self.figure.value, '.3f', held)}{shown}{limit}{detail}"


class SlateVerdict(NamedTuple):
    verdict: str
    reasons: tuple[SlateReason | SlateJudgement, ...]
    """The decisive ones first; `str()` gives the sentence of each."""
