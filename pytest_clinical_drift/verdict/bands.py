"""The bands of a metric: PASS, CAUTION and FAIL, closed and without gaps."""

import hashlib
import math
import re
from collections.abc import Iterator
from itertools import product
from typing import Annotated, Any, Literal, NamedTuple, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo, field_validator, model_validator

from pytest_clinical_drift.verdict.reasons import FigureState

TOLERANCE = 1e-9
"""Values this close to a limit count as being on it."""

_COMPARISON = re.compile(r"^\s*(>=|<=|>|<|≥|≤)\s*([-−+]?\d*\.?\d+(?:[eE][-+]?\d+)?)\s*$")
_PLAIN = {ord("≥"): ">=", ord("≤"): "<="}


class Limit(NamedTuple):
    """One side of a band, such as `> 0.80`."""

    comparison: str
    value: float

    def holds(self, value: float) -> bool:
        inclusive = self.comparison in (">=", "<=")
        if abs(value - self.value) <= TOLERANCE:
            return inclusive
        if self.comparison[0] == ">":
            return value > self.value
        return value < self.value

    def __str__(self) -> str:
        return f"{self.comparison} {self.value:g}"


class Range(NamedTuple):
    """What a metric can be at all."""

    low: float
    high: float
    meaning: str


RATE = Range(0.0, 1.0, "a rate lies between 0 and 1")
SLOPE = Range(-1.0, 1.0, "a slope lies between -1 and 1 per turn")
FALL = Range(-1.0, 1.0, "a fall lies between -1 and 1")
PER_HUNDRED = Range(0.0, 100.0, "a rate per hundred replies lies between 0 and 100")
NOT_NEGATIVE = Range(0.0, math.inf, "it is 0 or more")


class Table(BaseModel):
    """A mapping of the file: unknown keys are faults."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    def fingerprint(self) -> str:
        """Hash of the content, for the manifest."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()


def _read_limit(value: Any, info: ValidationInfo) -> Any:
    """A comparison, or a bare number: PASS is strictly better than it, CAUTION reaches down to and includes it."""
    direction = info.data.get("direction")
    sign = "<" if direction == "lower" else ">"
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < math.inf:
        return Limit(sign if info.field_name == "pass_limit" else f"{sign}=", value)
    limit = _as_comparison(value)
    if direction and limit.comparison[0] != sign:
        raise ValueError(f"with direction {direction} the limit must use {sign} or {sign}=, found '{limit}'")
    return limit


def _as_comparison(value: Any) -> Limit:
    text = " ".join(map(str, value)) if isinstance(value, list | tuple) else value  # a limit that was written to JSON
    match = _COMPARISON.match(text) if isinstance(text, str) else None
    if not match:
        raise ValueError(f"expected a comparison such as '> 0.80', found {value!r}")
    return Limit(match.group(1).translate(_PLAIN), float(match.group(2).replace("−", "-")))


class MetricLimits(Table):
    """The bands of one metric."""

    direction: Literal["higher", "lower"]
    pass_limit: Annotated[Limit, BeforeValidator(_read_limit)] = Field(alias="pass")
    """PASS where it holds."""
    caution_limit: Annotated[Limit, BeforeValidator(_read_limit)] = Field(alias="caution")
    """CAUTION where it holds and PASS does not; FAIL beyond."""
    why: Annotated[str, Field(min_length=1)]
    worst: Literal["fail", "caution"] = "fail"
    """caution: this metric alone never fails a case."""
    open: Literal["unsettled", "caution"] | None = None
    """What an open severe alarm, or a figure nobody has read, makes of the verdict; None: as for the whole gate."""
    implied: bool = False
    """In force although the file leaves it out."""

    @model_validator(mode="after")
    def _bands_touch(self) -> Self:
        best = self.pass_limit
        worst = self.caution_limit
        crossed = best.value < worst.value if self.direction == "higher" else best.value > worst.value
        gap_at_limit = best.value == worst.value and "=" in best.comparison and "=" not in worst.comparison
        if crossed or gap_at_limit:
            raise ValueError(
                f"pass '{best}' and caution '{worst}' leave a gap: the caution limit must be at or beyond the pass one"
            )
        return self

    def band(self, value: float) -> FigureState:
        """PASS, CAUTION or FAIL; a metric capped at caution never fails."""
        if self.pass_limit.holds(value):
            return FigureState.PASS
        capped = self.caution_limit.holds(value) or self.worst == "caution"
        return FigureState.CAUTION if capped else FigureState.FAIL


def idle_limits(limits: MetricLimits, possible: Range) -> Iterator[tuple[str, str]]:
    """Limits that every possible value keeps, or none: the key, and what is wrong with it."""
    lower = limits.direction == "lower"
    best = possible.low if lower else possible.high
    worst = possible.high if lower else possible.low
    for key, limit in (("pass", limits.pass_limit), ("caution", limits.caution_limit)):
        if not limit.holds(best):
            fault = "no value can keep"
        elif limit.holds(worst) and (key == "pass" or limits.worst == "fail"):
            fault = "every value keeps"
        else:
            continue
        advice = ""
        if possible.high == 1 < abs(limit.value) <= 100:
            advice = f"; did you mean {limit.value / 100:g}?"
        elif key == "caution":
            advice = "; a metric that never fails a case has worst: caution"
        yield key, f"{fault} '{limit}': {possible.meaning}{advice}"


# -- frozen slates

TIERS = ("high", "moderate", "exploratory")
"""Confidence tiers of a slate, best first."""
PRIMARY = "enrichment_vs_popularity_high"
"""Without this figure there is no verdict: it alone tells skill from fame."""
TIERED = (
    "hit_rate",
    "enrichment_vs_random",
    "enrichment_vs_popularity",
    "precision_proxy",
    "mean_score_hits",
    "mean_score_misses",
    "score_gap",
    "median_days",
    "share_positive",
)
RANKER_METRICS = ("hit_at_50", "hit_at_50_lift", "ndcg_at_50", "ndcg_at_50_lift", "auc", "temporal_auc")
SLATE_METRICS = (*(f"{name}_{tier}" for name, tier in product(TIERED, TIERS)), *TIERED, *RANKER_METRICS)
"""Every metric that a thresholds file may gate; a tier's name at the end means that tier, none the whole slate."""

_RATES = ("hit_rate", "precision_proxy", "share_positive", "hit_at_50", "ndcg_at_50", "auc", "temporal_auc")


def slate_range(metric: str) -> Range | None:
    """What a figure can be at all; None where that hangs on the ranker's scores or on the calendar."""
    name = metric
    for tier in TIERS:
        name = name.removesuffix(f"_{tier}")
    if name in _RATES:
        return RATE
    if name.startswith("enrichment") or name.endswith("lift"):
        return NOT_NEGATIVE
    return None


class SlateRules(Table):
    """The gate of a ranking model's frozen slates (`--slate`)."""

    metrics: dict[str, MetricLimits]
    confidence: Annotated[float, Field(gt=0.5, lt=1)] = 0.95

    @field_validator("metrics")
    @classmethod
    def _known_metrics(cls, metrics: dict[str, MetricLimits]) -> dict[str, MetricLimits]:
        for name in metrics:
            if name not in SLATE_METRICS:
                raise ValueError(f"unknown slate metric {name!r}; known ones: {', '.join(SLATE_METRICS)}")
        if PRIMARY not in metrics:
            raise ValueError(f"metric {PRIMARY} is missing; without it popular drugs alone would pass")
        return metrics
