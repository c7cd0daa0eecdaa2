"""What is shown of a slate's record in the terminal."""

from collections.abc import Mapping, Sequence
from typing import Any

from tabulate import tabulate

from pytest_clinical_drift.core.text import rounded
from pytest_clinical_drift.report.clean import one_line
from pytest_clinical_drift.report.words import limit_numbers

_PUBLISHED = {
    "hit_rate": "hit rate",
    "enrichment_vs_random": "vs random",
    "enrichment_vs_popularity": "vs popularity",
    "mean_score_hits": "score, hits",
    "mean_score_misses": "score, misses",
    "median_days": "median days",
}


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
