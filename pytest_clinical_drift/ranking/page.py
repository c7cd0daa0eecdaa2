"""The page of a slate, from its record."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_clinical_drift.ranking.slate_charts import Calibration, Days, Forest, calibration, forest, time_to_event
from pytest_clinical_drift.report.page import page_source
from pytest_clinical_drift.report.words import limit_numbers, rounded, span
from pytest_clinical_drift.verdict.bands import TIERS

_COLUMNS = {
    "hit_rate": "hit rate",
    "enrichment_vs_random": "enrichment vs random",
    "enrichment_vs_popularity": "enrichment vs popularity",
    "precision_proxy": "precision proxy",
    "mean_score_hits": "mean score, hits",
    "mean_score_misses": "mean score, misses",
    "median_days": "median days to event",
    "share_negative": "before freeze",
    "share_zero": "on that day",
    "share_positive": "after freeze",
}
_MOST_DISEASES = 40
"""Diseases on the page; the results file has all of them."""


@dataclass(frozen=True, slots=True)
class JudgedMetric:
    metric: str
    value: str
    interval: str
    limit: str
    verdict: str
    remark: str


@dataclass(frozen=True, slots=True)
class TierRow:
    """A tier of the predictions, with the published formulas."""

    tier: str
    predictions: int
    hits: int
    cells: Sequence[str]
    """In the order of the columns."""
    missing: str
    """Why some were not evaluated; empty where all were."""


@dataclass(frozen=True, slots=True)
class SlateSection:
    """One reading of the outcomes."""

    key: str
    title: str
    columns: Sequence[str]
    tiers: Sequence[TierRow]
    by_tier: Forest
    by_disease: Forest
    hidden: int
    """Diseases that only the results file has."""
    calibration: Calibration | None
    days: Days | None


@dataclass(frozen=True, slots=True)
class NamedValue:
    name: str
    value: str


@dataclass(frozen=True, slots=True)
class SlatePage:
    slate_id: str
    created_at: str
    predictions: int
    distinct_pairs: int
    diseases: int
    outcomes: int
    verdict: str
    observed: str
    reasons: Sequence[str]
    metrics: Sequence[JudgedMetric]
    by_year: Sequence[NamedValue]
    """Temporal AUC."""
    sections: Sequence[SlateSection]
    notes: Sequence[str]
    meaning: str
    made_of: Sequence[NamedValue]
    versions: Sequence[NamedValue]


def render_slate(record: Mapping[str, Any]) -> str:
    return page_source("slate_report.html.j2", styles=("page.css", "slate.css"), slate=_slate_page(record))


def _slate_page(record: Mapping[str, Any]) -> SlatePage:
    years = record.get("temporal_auc_by_year") or {}
    return SlatePage(
        slate_id=record["slate_id"],
        created_at=str(record["created_at"]),
        predictions=record["predictions"],
        distinct_pairs=record["distinct_pairs"],
        diseases=record["diseases"],
        outcomes=record["outcomes"],
        verdict=record["verdict"],
        observed=record["observed"],
        reasons=record["reasons"],
        metrics=[_judged(item) for item in record["judgements"]],
        by_year=[NamedValue(str(year), _number(value)) for year, value in years.items()],
        sections=[
            _section("prospective", "Prospective: open pairs, outcomes after the freeze", record["prospective"]),
            _section("history", "All outcomes, whenever they happened (published formulas)", record["all_outcomes"]),
        ],
        notes=record["notes"],
        meaning=record["what_this_means"],
        made_of=_made_of(record["manifest"]),
        versions=[NamedValue(name, str(value)) for name, value in record["manifest"]["versions"].items()],
    )


def _number(value: float | None) -> str:
    return "not evaluated" if value is None else rounded(value, ".3f")


def _shown(figure: Mapping[str, Any]) -> str:
    if figure["value"] is None:
        return "not evaluated"
    return rounded(figure["value"], ".3f", limit_numbers(figure.get("limit", "")))


def _interval(figure: Mapping[str, Any]) -> str:
    if "interval" not in figure:
        return ""
    low, high = figure["interval"]
    return span(low, high, ".3f", limit_numbers(figure.get("limit", "")))


def _judged(item: Mapping[str, Any]) -> JudgedMetric:
    return JudgedMetric(
        metric=item["metric"],
        value=_shown(item),
        interval=_interval(item),
        limit=item["limit"],
        verdict=item["verdict"],
        remark=item["detail"],
    )


def _section(key: str, title: str, view: Mapping[str, Any]) -> SlateSection:
    diseases = []
    for item in sorted(view["by_disease"], key=lambda item: -item["tiers"]["all"]["hits"]):
        # of each disease the first tier that it has, usually the high one
        tier = next((name for name in TIERS if name in item["tiers"]), "all")
        diseases.append((f"{item['disease']} ({tier})", item["tiers"][tier]))
    return SlateSection(
        key=key,
        title=title,
        columns=list(_COLUMNS.values()),
        tiers=[_tier(name, cell) for name, cell in view["tiers"].items()],
        by_tier=forest(list(view["tiers"].items())),
        by_disease=forest(diseases[:_MOST_DISEASES]),
        hidden=max(0, len(diseases) - _MOST_DISEASES),
        calibration=calibration(view["calibration_bins"]),
        days=time_to_event([item["days"] for item in view["days_to_event"]]),
    )


def _tier(name: str, cell: Mapping[str, Any]) -> TierRow:
    reasons = {cell[column]["reason"] for column in _COLUMNS if column in cell and cell[column]["value"] is None}
    return TierRow(
        tier=name,
        predictions=cell["predictions"],
        hits=cell["hits"],
        cells=[_cell(cell.get(column)) for column in _COLUMNS],
        missing="; ".join(sorted(reasons, key=str.lower)),
    )


def _cell(figure: Mapping[str, Any] | None) -> str:
    if figure is None:
        return "–"
    interval = _interval(figure)
    return f"{_shown(figure)} [{interval}]" if interval else _shown(figure)


def _made_of(manifest: Mapping[str, Any]) -> list[NamedValue]:
    values = []
    slate = manifest["slate"]
    if slate:
        values.append(NamedValue("Model version", slate["model_version"]))
        values.append(NamedValue("SHA-256", slate["sha256"] or "none"))
        values += [NamedValue(name, str(value)) for name, value in slate["parameters"].items()]
    if manifest["ranker"]:
        values.append(NamedValue("Ranker", manifest["ranker"]))
    return values
