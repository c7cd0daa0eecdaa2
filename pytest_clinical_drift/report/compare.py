"""Several models or releases side by side: one table, overlaid curves, paired differences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tabulate import tabulate

from pytest_clinical_drift.report.case_text import fill
from pytest_clinical_drift.report.clean import one_line
from pytest_clinical_drift.report.judge_text import judge_line
from pytest_clinical_drift.report.page import environment, page_source
from pytest_clinical_drift.report.svg import Level, Line, curve_chart, limit_levels
from pytest_clinical_drift.report.terminal import sparkline
from pytest_clinical_drift.scoring.assessment import CONFIRMED, OPEN
from pytest_clinical_drift.verdict.baseline import Difference, Named
from pytest_clinical_drift.verdict.results_file import Results
from pytest_clinical_drift.verdict.values import SEVERE, number, words

STYLES = ("line-main", "line-second", "line-third", "line-fourth", "line-fifth", "line-sixth")
_NARROWEST = 12
"""Columns of the terminal that a run gets at least."""


def render_markdown(records: Sequence[Named], differences: Sequence[Difference]) -> str:
    curves = [(name, record.average_recall_curve_critical) for name, record in records]
    turns = max((len(curve) for _, curve in curves), default=0)
    cells = [(name, *map(_figure, curve), *["–"] * (turns - len(curve))) for name, curve in curves]
    return (
        environment().get_template("compare.md.j2").render(turns=turns, curves=cells, **_tables(records, differences))
    )


def render_text(records: Sequence[Named], differences: Sequence[Difference], width: int) -> str:
    """The comparison for a terminal: a column for each run, so that it fits."""
    of_models, of_pairs = words("compare")["models"], words("compare")["differences"]
    labels = (*of_models[1:], "recall by turn", "cases compared with the first", *of_pairs[3:])
    others = ["", *(_difference(item)[2:] for item in differences)]
    columns = [
        (*_row(name, record)[1:], sparkline(record.average_recall_curve_critical), *(other or [""] * 5))
        for (name, record), other in zip(records, others, strict=True)
    ]
    rows = [tuple(map(one_line, row)) for row in zip(labels, *columns, strict=True) if any(row[1:])]
    room = max(_NARROWEST, (width - 1) // (len(records) + 1) - 2)
    names = ["", *(one_line(name) for name, _ in records)]
    table = tabulate(rows, names, tablefmt="plain", disable_numparse=True, maxcolwidths=room, maxheadercolwidths=room)
    judges = [fill(f"{one_line(name)}: {one_line(line, 400)}", width - 1) for name, line in _judges(records)]
    return "\n".join((table, "", *judges))


def render_html(records: Sequence[Named], differences: Sequence[Difference]) -> str:
    lines = [
        Line(name, record.average_recall_curve_critical, STYLES[position % len(STYLES)])
        for position, (name, record) in enumerate(records)
    ]
    chart = curve_chart("Mean recall of critical facts by turn", lines, levels=_levels(records))
    tables = _tables(records, differences)
    return page_source("compare.html.j2", styles=("page.css",), chart=chart, legend=lines, **tables)


def _tables(records: Sequence[Named], differences: Sequence[Difference]) -> dict[str, Any]:
    return {
        "headers": words("compare")["models"],
        "rows": [(_row(name, record), record.verdict) for name, record in records],
        "judges": _judges(records),
        "difference_headers": words("compare")["differences"],
        "differences": [_difference(item) for item in differences],
    }


def _judges(records: Sequence[Named]) -> list[tuple[str, str]]:
    return [(name, judge_line((record.manifest.model_extra or {}).get("judged"))) for name, record in records]


def _levels(records: Sequence[Named]) -> list[Level]:
    """The limits that each run was held to; the same ones once."""
    levels = [level for _, record in records for level in limit_levels(record.limits.get("recall_at_t10"))]
    return list(dict.fromkeys(levels))


def _row(name: str, record: Results) -> tuple[str, ...]:
    interval = record.confidence_intervals.get("recall_at_t10")
    rate, slope = record.knowledge_conflict_rate, record.drift_slope_critical
    severe, waiting = (_cases_with(record, state) for state in (CONFIRMED, OPEN))
    return (
        name,
        f"{record.cases_complete} of {record.cases_total}",
        _figure(record.entity_recall_at_t10),
        f"{interval.low:.2f} to {interval.high:.2f}" if interval else "–",
        _figure(record.strict_recall_at_t10),
        "–" if slope is None else number("drift_slope", slope),
        f"{'–' if rate is None else format(rate, '.3f')} ({record.knowledge_conflict_pairs})",
        f"{severe} ({waiting})",
        " / ".join(str(count) for count in _states(record)),
        record.headline or record.verdict,
    )


def _cases_with(record: Results, state: str) -> int:
    """Cases with a severe event in a state."""
    return sum(
        any(event.metric in SEVERE and event.state == state for run in case.repeats for event in run.events)
        for case in record.cases
    )


def _states(record: Results) -> list[int]:
    found = [alarm.state for case in record.cases for run in case.repeats for alarm in run.alarms]
    return [found.count(state) for state in ("confirmed", "open", "dismissed")]


def _difference(item: Difference) -> tuple[str, ...]:
    groups = f" in {item.groups} groups" if item.groups and item.groups != item.cases else ""
    shown = interval = verdict = "–"
    if result := item.recall:
        shown = "–" if result.difference is None else f"{result.difference:+.3f}"
        interval = f"{result.interval.low:+.3f} to {result.interval.high:+.3f}" if result.interval else "–"
        verdict = f"{result.verdict} (margin {result.margin:g})"
    return item.model, item.against, f"{item.cases}{groups}", shown, interval, verdict, item.remark


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
