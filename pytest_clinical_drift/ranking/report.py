"""What is shown of a slate's record: the lines of the terminal, and the self-contained page, whose template draws the
charts and escapes names."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from tabulate import tabulate

from pytest_clinical_drift.core.text import rounded
from pytest_clinical_drift.report.clean import one_line
from pytest_clinical_drift.report.page import page_source
from pytest_clinical_drift.report.words import limit_numbers
from pytest_clinical_drift.verdict.bands import TIERS

_PUBLISHED = {
    "hit_rate": "hit rate",
    "enrichment_vs_random": "vs random",
    "enrichment_vs_popularity": "vs popularity",
    "mean_score_hits": "score, hits",
    "mean_score_misses": "score, misses",
    "median_days": "median days",
}
_MOST_DISEASES = 40
"""Diseases on the page; the results file has all of them."""
_MOST_BARS = 24


def summary_lines(record: Mapping[str, Any]) -> list[str]:
    """The tests, the published formulas beside them, what was observed, remarks on the files, and the verdict."""
    judged = [_judged_row(item) for item in record["judgements"]]
    published = [
        (tier, cell["predictions"], cell["hits"], *(_published(cell.get(name)) for name in _PUBLISHED))
        for tier, cell in record["all_outcomes"]["tiers"].items()
    ]
    reasons = f": {one_line('; '.join(record['reasons']), 400)}" if record["reasons"] else ""
    return [
        *_table(judged, ("metric", "value", "interval", "limit", "verdict", "")),
        "",
        "all outcomes, whenever they happened (published formulas, not gated):",
        *_table(published, ("tier", "predictions", "hits", *_PUBLISHED.values())),
        "",
        one_line(record["observed"], 300),
        *(f"note: {one_line(note, 300)}" for note in record["notes"]),
        f"{record['verdict']}{reasons}",
    ]


def _judged_row(item: Mapping[str, Any]) -> tuple[str, ...]:
    limits = limit_numbers(item["limit"])
    value = "not evaluated" if item["value"] is None else rounded(item["value"], ".3f", limits)
    ends = ", ".join(rounded(end, ".3f", limits) for end in item.get("interval", ()))
    interval = f"[{ends}]" if ends else ""
    return (item["metric"], value, interval, item["limit"], item["verdict"], one_line(item["detail"], 90))


def _published(figure: Mapping[str, Any] | None) -> str:
    return "–" if figure is None or figure["value"] is None else rounded(figure["value"], ".3f")


def _table(rows: Sequence[Sequence[object]], headers: Sequence[str]) -> list[str]:
    return tabulate(rows, headers=headers, tablefmt="plain", disable_numparse=True).splitlines()


def render_slate(record: Mapping[str, Any]) -> str:
    return page_source(
        "slate_report.html.j2",
        styles=("page.css", "slate.css"),
        record=record,
        views=[
            _view("prospective", "Prospective: open pairs, outcomes after the freeze", record["prospective"]),
            _view("history", "All outcomes, whenever they happened (published formulas)", record["all_outcomes"]),
        ],
    )


def _view(key: str, title: str, view: Mapping[str, Any]) -> dict[str, Any]:
    cells = []
    for item in sorted(view["by_disease"], key=lambda item: -item["tiers"]["all"]["hits"]):
        # of each disease the first tier that it has, usually the high one
        tier = next((name for name in TIERS if name in item["tiers"]), "all")
        cells.append((f"{item['disease']} ({tier})", item["tiers"][tier]))
    return {
        "key": key,
        "title": title,
        "tiers": view["tiers"],
        "by_tier": forest(list(view["tiers"].items())),
        "by_disease": forest(cells[:_MOST_DISEASES]),
        "hidden": max(0, len(cells) - _MOST_DISEASES),
        "calibration": calibration(view["calibration_bins"]),
        "days": time_to_event([item["days"] for item in view["days_to_event"]]),
    }


def forest(cells: Sequence[tuple[str, Mapping[str, Any]]]) -> dict[str, Any]:
    """Enrichment over popularity with its interval, a row each, beside 1.0, what drugs of the same popularity earn."""
    rows = []
    for name, cell in cells:
        figure = cell["enrichment_vs_popularity"]
        low, high = figure.get("interval", (None, None))
        rows.append({"label": name, "value": figure["value"], "low": low, "high": high})
    known = [1.0]
    for row in rows:
        known += [number for number in (row["value"], row["high"]) if number is not None]
    return {"rows": rows, "top": _round_up(max(known) * 1.05)}


def calibration(bins: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Mean score (across) and hit rate (up) of each tenth of the predictions, the dot sized by how many there are."""
    if not bins:
        return None
    scores = [item["mean_score"] for item in bins]
    low = min(scores)
    high = max(scores)
    span = (high - low) or 1.0
    points = [
        {
            "score": item["mean_score"],
            "rate": item["hits"] / item["predictions"],
            "count": item["predictions"],
            "x": (item["mean_score"] - low) / span,
            "radius": f"{3 + min(6.0, math.sqrt(item['predictions']) / 3):.1f}",
        }
        for item in bins
    ]
    marks = [(step / 4, f"{low + span * step / 4:.3g}") for step in range(5)]
    return {"points": points, "top": _round_up(max(point["rate"] for point in points) * 1.05 or 0.05), "marks": marks}


def time_to_event(days: Sequence[int]) -> dict[str, Any] | None:
    """How many hits came how many days from the freeze; day 0 begins a bar, so that none mixes before and after."""
    if not days:
        return None
    width = math.ceil((max(*days, 0) - min(*days, 0) + 1) / _MOST_BARS)
    counts = Counter(day // width for day in days)
    low = min(*counts, 0)
    slots = max(*counts, 0) - low + 1
    return {
        "bars": [
            {"begins": slot * width, "ends": (slot + 1) * width - 1, "count": count, "x": (slot - low) / slots}
            for slot, count in sorted(counts.items())
        ],
        "width": 1 / slots,
        "zero": -low / slots,
        "top": _round_up(max(counts.values())),
        "marks": [(at / slots, (low + at) * width) for at in sorted({0, slots // 2, slots - 1, -low})],
        "before": sum(day <= 0 for day in days),
        "after": sum(day > 0 for day in days),
    }


def _round_up(value: float) -> float:
    """The next 1, 2 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= value * (1 - 1e-9))
