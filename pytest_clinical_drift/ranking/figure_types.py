"""The values that ranking figures travel in: a number with its count, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any, TypeAlias

import numpy.typing as npt

from pytest_clinical_drift.errors import coded_sentence
from pytest_clinical_drift.metrics.intervals import Interval

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
        return coded_sentence("slate_reasons", self.code, self.values)


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
    per_year: Mapping[str, float | None] = field(default_factory=dict)
    """The same for each year, of the temporal metric."""

    @classmethod
    def undefined(cls, code: SlateCode, n: int = 0, **values: Any) -> Figure:
        return cls(None, n, SlateReason(code, values))


@dataclass(frozen=True, slots=True)
class Cell:
    """The figures of one tier (or all), over the slate or one disease."""

    predictions: int
    hits: int
    figures: dict[str, Figure]


@dataclass(frozen=True, slots=True)
class ViewFigures:
    """What the results file says of one reading of a slate."""

    tiers: dict[str, Cell]
    """Tier name, or "all"."""
    by_disease: tuple[dict[str, Any], ...]
    """Name and tiers of each disease."""
    calibration_bins: tuple[dict[str, float], ...]
    """Mean score, predictions and hits of each tenth of the predictions, by score."""
    days_to_event: tuple[dict[str, Any], ...]
    """Tier, and days to the first high-signal outcome, of every hit that is dated."""
    pairs_known_at_freeze: int
    """Distinct pairs that do not take part for that reason."""
    observed: bool
    """Whether any pair has a high-signal outcome, in the slate or among the other candidates."""
    followed: bool
    """Whether any outcome is recorded outside the slate; if not, perhaps nobody looked there."""


def plain(value: Any) -> Any:
    """What is put into the record, as JSON has it."""
    if isinstance(value, Figure):
        return _plain_figure(value)
    if isinstance(value, Cell):
        return {"predictions": value.predictions, "hits": value.hits, **plain(value.figures)}
    if isinstance(value, ViewFigures):
        return {part.name: plain(getattr(value, part.name)) for part in fields(value)[:-2]}  # without the two flags
    if isinstance(value, dict):
        return {name: plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    return value


def _plain_figure(figure: Figure) -> dict[str, Any]:
    content: dict[str, Any] = {"value": figure.value, "n": figure.n}
    if figure.interval is not None:
        content["interval"] = [figure.interval.low, figure.interval.high]
    if figure.value is None:
        content["reason"] = str(figure.reason)
        content["reason_code"] = figure.reason.code if figure.reason else None
    return content
