"""The limits of frozen slates: which figures of a ranking model a thresholds file may gate."""

from typing import Annotated

from pydantic import Field, field_validator

from pytest_clinical_drift.verdict.bands import NOT_NEGATIVE, RATE, MetricLimits, Range, Table

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
SLATE_METRICS = (*(f"{name}_{tier}" for name in TIERED for tier in TIERS), *TIERED, *RANKER_METRICS)
"""Every metric that a thresholds file may gate; a tier's name at the end means that tier, none the whole slate."""

_RATES = ("hit_rate", "precision_proxy", "share_positive", "hit_at_50", "ndcg_at_50", "auc", "temporal_auc")


def slate_range(metric: str) -> Range | None:
    """What a figure can be at all; None where that hangs on the ranker's scores or on the calendar."""
    name = next((metric.removesuffix(f"_{tier}") for tier in TIERS if metric.endswith(f"_{tier}")), metric)
    if name in _RATES:
        return RATE
    return NOT_NEGATIVE if name.startswith("enrichment") or name.endswith("lift") else None


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
