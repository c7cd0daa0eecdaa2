"""Several models or releases side by side: one table, overlaid curves, paired differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from ..verdict import number
from .html import environment
from .markdown import inert
from .svg import Level, Line, curve_chart

STYLES = ("line-main", "line-second", "line-third", "line-fourth", "line-fifth", "line-sixth")


@dataclass(frozen=True, slots=True)
class Difference:
    """One model against the first, paired by case."""

    model: str
    against: str
    cases: int
    """Cases that both have."""
    recall: float | None
    """Mean difference of Recall@T10; positive: better than the first."""
    low: float | None
    high: float | None
    remark: str = ""
    """Why the two cannot be paired, if they cannot."""


def render_markdown(records: Sequence[tuple[str, Mapping[str, Any]]], differences: Sequence[Difference]) -> str:
    """The comparison for a CI page or a paper's draft."""
    lines = ["# Clinical drift: comparison", "", "| " + " | ".join(_HEADERS) + " |", "|" + " --- |" * len(_HEADERS)]
    lines += ["| " + " | ".join(inert(cell) for cell in _row(name, record)) + " |" for name, record in records]
    if differences:
        lines += ["", "| model | against | cases | ΔRecall@T10 | interval | remark |", "|" + " --- |" * 6]
        lines += ["| " + " | ".join(inert(cell) for cell in _difference(item)) + " |" for item in differences]
    curves = [(name, record["average_recall_curve_critical"]) for name, record in records]
    turns = max((len(curve) for _, curve in curves), default=0)
    numbers = " | ".join(str(turn) for turn in range(1, turns + 1))
    lines += ["", f"| mean recall, turn | {numbers} |", "|" + " --- |" * (turns + 1)]
    for name, curve in curves:
        cells = [_figure(curve[turn] if turn < len(curve) else None) for turn in range(turns)]
        lines.append(f"| {inert(name)} | " + " | ".join(cells) + " |")
    return "\n".join((*lines, ""))


def render_html(records: Sequence[tuple[str, Mapping[str, Any]]], differences: Sequence[Difference]) -> str:
    """The comparison as one self-contained page."""
    lines = [
        Line(name, record["average_recall_curve_critical"], STYLES[position % len(STYLES)])
        for position, (name, record) in enumerate(records)
    ]
    levels = [Level("pass line 0.80", 0.80), Level("fail line 0.70", 0.70)]
    chart = curve_chart("Mean recall of critical facts by turn", lines, levels=levels, marker=10)
    return (
        environment()
        .get_template("compare.html.j2")
        .render(
            headers=_HEADERS,
            rows=[(_row(name, record), record["verdict"]) for name, record in records],
            differences=[_difference(item) for item in differences],
            chart=Markup(chart),
            legend=[(line.label, line.style) for line in lines],
        )
    )


_HEADERS = (
    "model",
    "cases",
    "Recall@T10",
    "95 % interval",
    "strict",
    "β",
    "K (pairs)",
    "hard stop or breach",
    "verdict",
)


def _row(name: str, record: Mapping[str, Any]) -> tuple[str, ...]:
    interval = record["confidence_intervals"].get("recall_at_t10")
    rate = record["knowledge_conflict_rate"]
    stops = sum(any(run["hard_stops"] or run["breaches"] for run in case["repeats"]) for case in record["cases"])
    slope = record["drift_slope_critical"]
    return (
        name,
        f"{record['cases_complete']}/{record['cases_total']}",
        _figure(record["entity_recall_at_t10"]),
        f"{interval['low']:.2f} to {interval['high']:.2f}" if interval else "–",
        _figure(record["strict_recall_at_t10"]),
        "–" if slope is None else number("drift_slope", slope),
        f"{'–' if rate is None else format(rate, '.3f')} ({record['knowledge_conflict_pairs']})",
        str(stops),
        record["headline"],
    )


def _difference(item: Difference) -> tuple[str, ...]:
    interval = "–" if item.low is None or item.high is None else f"{item.low:+.3f} to {item.high:+.3f}"
    shown = "–" if item.recall is None else f"{item.recall:+.3f}"
    return item.model, item.against, str(item.cases), shown, interval, item.remark


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
