"""The summary of a slate for the terminal and the log of a CI job."""

from __future__ import annotations

from collections.abc import Sequence

from tabulate import tabulate

from pytest_clinical_drift.ranking.figure import Figure
from pytest_clinical_drift.ranking.gate import NOT_EVALUATED, SlateJudgement, SlateVerdict
from pytest_clinical_drift.ranking.prospective import ViewFigures
from pytest_clinical_drift.ranking.report_json import observed_sentence
from pytest_clinical_drift.report.clean import one_line

_PUBLISHED = {
    "hit_rate": "hit rate",
    "enrichment_vs_random": "vs random",
    "enrichment_vs_popularity": "vs popularity",
    "mean_score_hits": "score, hits",
    "mean_score_misses": "score, misses",
    "median_days": "median days",
}


def summary_lines(
    verdict: SlateVerdict,
    judgements: Sequence[SlateJudgement],
    prospective: ViewFigures,
    everything: ViewFigures,
    notes: Sequence[str] = (),
) -> list[str]:
    """A table of the tests, the published formulas beside it, what was observed and what in the files does not count,
    and the verdict with its reasons."""
    rows = []
    for item in judgements:
        figure = item.figure
        interval = f"[{figure.interval.low:.3f}, {figure.interval.high:.3f}]" if figure.interval else ""
        value = NOT_EVALUATED if figure.value is None else f"{figure.value:.3f}"
        rows.append((item.metric, value, interval, item.limit, item.verdict, one_line(item.detail, 90)))
    reasons = f": {one_line('; '.join(verdict.reasons), 400)}" if verdict.reasons else ""
    return [
        *_table(rows, ("metric", "value", "interval", "limit", "verdict", "")),
        "",
        "all outcomes, whenever they happened (published formulas, not gated):",
        *_table(_published(everything), ("tier", "predictions", "hits", *_PUBLISHED.values())),
        "",
        one_line(observed_sentence(prospective), 300),
        *(f"note: {one_line(note, 300)}" for note in notes),
        f"{verdict.verdict}{reasons}",
    ]


def _published(figures: ViewFigures) -> list[tuple[str, ...]]:
    return [
        (tier, str(cell.predictions), str(cell.hits), *(_shown(cell.figures.get(name)) for name in _PUBLISHED))
        for tier, cell in figures.tiers.items()
    ]


def _shown(figure: Figure | None) -> str:
    return "–" if figure is None or figure.value is None else f"{figure.value:.3f}"


def _table(rows: Sequence[Sequence[str]], headers: Sequence[str]) -> list[str]:
    return tabulate(rows, headers=headers, tablefmt="plain", disable_numparse=True).splitlines()
