"""The page of one slate, self-contained, from its results record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from pytest_clinical_drift.ranking.report_svg import ForestRow, calibration, forest, time_to_event
from pytest_clinical_drift.report.html import environment
from pytest_clinical_drift.verdict.slate_limits import TIERS

FILE_NAME = "slate_report.html"
_MOST_DISEASES = 40
"""Diseases on the page; the results file has all of them."""
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


def render_slate(record: Mapping[str, Any]) -> str:
    """The page's HTML; all names are escaped by the template or the charts."""
    views = [
        _view("prospective", "Prospective: open pairs, outcomes after the freeze", record["prospective"]),
        _view("history", "All outcomes, whenever they happened (published formulas)", record["all_outcomes"]),
    ]
    judgements = [{**item, "shown": _shown(item), "range": _range(item)} for item in record["judgements"]]
    page = environment().get_template("slate_report.html.j2")
    return page.render(record=record, views=views, judgements=judgements, columns=list(_COLUMNS.values()))


def _view(key: str, title: str, view: Mapping[str, Any]) -> dict[str, Any]:
    diseases = view["by_disease"]
    bins = [
        (item["mean_score"], item["hits"] / item["predictions"], item["predictions"])
        for item in view["calibration_bins"]
    ]
    return {
        "key": key,
        "title": title,
        "rows": [_row(name, cell) for name, cell in view["tiers"].items()],
        "by_tier": Markup(_enrichment("Enrichment vs popularity by tier", [*view["tiers"].items()])),
        "by_disease": Markup(_by_disease(diseases)),
        "hidden": max(0, len(diseases) - _MOST_DISEASES),
        "calibration": Markup(calibration("Hit rate by score, each dot a tenth of the predictions", bins)),
        "days": Markup(time_to_event("Days from freeze to outcome", [item["days"] for item in view["days_to_event"]])),
    }


def _by_disease(diseases: list[Mapping[str, Any]]) -> str:
    """The first tier that a disease has, usually the high one."""
    rows = []
    for item in sorted(diseases, key=lambda item: -item["tiers"]["all"]["hits"])[:_MOST_DISEASES]:
        tier = next((name for name in TIERS if name in item["tiers"]), "all")
        rows.append((f"{item['disease']} ({tier})", item["tiers"][tier]))
    return _enrichment("Enrichment vs popularity by disease", rows)


def _enrichment(title: str, cells: list[tuple[str, Mapping[str, Any]]]) -> str:
    rows = []
    for name, cell in cells:
        figure = cell["enrichment_vs_popularity"]
        low, high = figure.get("interval", (None, None))
        rows.append(ForestRow(name, figure["value"], low, high))
    return forest(title, rows, reference=1.0)


def _row(name: str, cell: Mapping[str, Any]) -> dict[str, Any]:
    cells = [_shown(cell[key]) if key in cell else "–" for key in _COLUMNS]
    reasons = sorted({cell[key]["reason"] for key in _COLUMNS if key in cell and cell[key]["value"] is None})
    return {"tier": name, "predictions": cell["predictions"], "hits": cell["hits"], "cells": cells, "reasons": reasons}


def _shown(figure: Mapping[str, Any]) -> str:
    value = figure["value"]
    if value is None:
        return "not evaluated"
    return f"{value:.3f}" + (f" [{_range(figure)}]" if "interval" in figure and "metric" not in figure else "")


def _range(figure: Mapping[str, Any]) -> str:
    return f"{figure['interval'][0]:.3f} to {figure['interval'][1]:.3f}" if "interval" in figure else ""
