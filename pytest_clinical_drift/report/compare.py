"""Several models or releases side by side: one table, overlaid curves, paired differences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tabulate import tabulate

from pytest_clinical_drift.report.case_text import fill
from pytest_clinical_drift.report.clean import one_line
from pytest_clinical_drift.report.figures import judged_text
from pytest_clinical_drift.report.headlines import run_headline
from pytest_clinical_drift.report.judge_text import judge_line
from pytest_clinical_drift.report.memory import horizon_texts, scheduled_turns
from pytest_clinical_drift.report.page import environment, page_source
from pytest_clinical_drift.report.quality import quality_table
from pytest_clinical_drift.report.reasons import reason_text
from pytest_clinical_drift.report.svg import Level, Line, curve_chart, limit_levels
from pytest_clinical_drift.report.terminal import sparkline
from pytest_clinical_drift.report.words import number, words
from pytest_clinical_drift.results.files import NamedRun
from pytest_clinical_drift.results.models import RunResult
from pytest_clinical_drift.scoring.assessment import AlarmState
from pytest_clinical_drift.verdict.baseline import RunDifference
from pytest_clinical_drift.verdict.memory import Memory
from pytest_clinical_drift.verdict.metric_table import SEVERE

STYLES = ("line-main", "line-second", "line-third", "line-fourth", "line-fifth", "line-sixth")
_NARROWEST = 12
"""Columns of the terminal that a run gets at least."""


def render_markdown(runs: Sequence[NamedRun], differences: Sequence[RunDifference]) -> str:
    curves = [(name, _by_turn(result)) for name, result in runs]
    turns = sorted({turn for _, curve in curves for turn in curve})
    cells = [(name, *(_figure(curve.get(turn)) for turn in turns)) for name, curve in curves]
    return environment().get_template("compare.md.j2").render(turns=turns, curves=cells, **_tables(runs, differences))


def _by_turn(result: RunResult) -> dict[int, float]:
    """Mean recall at the scheduled probes."""
    curve = result.average_recall_curve_critical
    shown = scheduled_turns(result) or range(1, len(curve) + 1)
    return {turn: value for turn in shown if (value := curve[turn - 1]) is not None}


def render_text(runs: Sequence[NamedRun], differences: Sequence[RunDifference], width: int) -> str:
    """The comparison for a terminal: a column for each run, so that it fits."""
    of_models, of_pairs = words("compare")["models"], words("compare")["differences"]
    labels = (*of_models[1:], "recall by turn", "cases compared with the first", *of_pairs[3:])
    others = ["", *(_difference(item)[2:] for item in differences)]
    columns = [
        (*_row(name, result)[1:], sparkline(list(_by_turn(result).values())), *(other or [""] * 5))
        for (name, result), other in zip(runs, others, strict=True)
    ]
    rows = [tuple(map(one_line, row)) for row in zip(labels, *columns, strict=True) if any(row[1:])]
    room = max(_NARROWEST, (width - 1) // (len(runs) + 1) - 2)
    names = ["", *(one_line(name) for name, _ in runs)]
    table = tabulate(rows, names, tablefmt="plain", disable_numparse=True, maxcolwidths=room, maxheadercolwidths=room)
    judges = [fill(f"{one_line(name)}: {one_line(line, 400)}", width - 1) for name, line in _judges(runs)]
    rated = [tuple(map(one_line, row)) for row in quality_table(runs)]
    quality = ["", tabulate(rated, ["PDSQI-9, at the end", *names[1:]], tablefmt="plain", disable_numparse=True)]
    return "\n".join((table, "", *judges, *(quality if rated else ())))


def render_html(runs: Sequence[NamedRun], differences: Sequence[RunDifference]) -> str:
    lines = [
        Line(name, result.average_recall_curve_critical, STYLES[position % len(STYLES)])
        for position, (name, result) in enumerate(runs)
    ]
    turns = max((len(line.values) for line in lines), default=0)
    probed = sorted({turn for _, result in runs for turn in _by_turn(result)})
    title = f"Mean recall of critical facts by turn, to turn {turns}"
    chart = curve_chart(title, lines, levels=_levels(runs), probed=probed)
    tables = _tables(runs, differences)
    return page_source("compare.html.j2", styles=("page.css",), chart=chart, legend=lines, **tables)


def _tables(runs: Sequence[NamedRun], differences: Sequence[RunDifference]) -> dict[str, Any]:
    return {
        "headers": words("compare")["models"],
        "rows": [(_row(name, result), result.verdict) for name, result in runs],
        "judges": _judges(runs),
        "quality_headers": ("PDSQI-9, at the end", *(name for name, _ in runs)),
        "quality": quality_table(runs),
        "difference_headers": words("compare")["differences"],
        "differences": [_difference(item) for item in differences],
    }


def _judges(runs: Sequence[NamedRun]) -> list[tuple[str, str]]:
    return [(name, judge_line(result.manifest.judged)) for name, result in runs]


def _levels(runs: Sequence[NamedRun]) -> list[Level]:
    """The limits that each run was held to; the same ones once."""
    levels = [level for _, result in runs for level in limit_levels(result.limits.get("recall_at_t10"))]
    return list(dict.fromkeys(levels))


def _row(name: str, result: RunResult) -> tuple[str, ...]:
    interval = result.confidence_intervals.get("recall_at_t10")
    rate, slope = result.judgement("k_conflict"), result.drift_slope_critical
    memory, at_end = result.trend.memory if result.trend else None, result.judgement("recall_at_end")
    horizons = horizon_texts(memory) if memory else {"facts": "–", "hard_stops": "–"}
    severe, waiting = (_cases_with(result, state) for state in (AlarmState.CONFIRMED, AlarmState.OPEN))
    return (
        name,
        f"{result.cases_complete} of {result.cases_total}",
        _turns(memory),
        _figure(result.entity_recall_at_t10),
        f"{interval.low:.2f} to {interval.high:.2f}" if interval else "–",
        _figure(result.strict_recall_at_t10),
        _figure(at_end.value if at_end else None),
        f"{at_end.interval.low:.2f} to {at_end.interval.high:.2f}" if at_end and at_end.interval else "–",
        horizons["facts"],
        horizons["hard_stops"],
        "–" if slope is None else number("drift_slope", slope),
        f"{'–' if rate is None or rate.value is None else judged_text(rate)} ({result.knowledge_conflict_pairs})",
        f"{severe} ({waiting})",
        " / ".join(str(count) for count, _ in result.findings.values()) or "–",
        run_headline(result),
    )


def _turns(memory: Memory | None) -> str:
    if memory is None:
        return "–"
    return str(memory.turns) if memory.shortest == memory.turns else f"{memory.shortest} to {memory.turns}"


def _cases_with(result: RunResult, state: AlarmState) -> int:
    """Cases with a severe event in a state."""
    return sum(
        any(event.metric in SEVERE and event.state == state for run in case.repeats for event in run.events)
        for case in result.cases
    )


def _difference(item: RunDifference) -> tuple[str, ...]:
    groups = f" in {item.groups} groups" if item.groups and item.groups != item.cases else ""
    shown = interval = verdict = "–"
    if result := item.recall:
        shown = "–" if result.difference is None else f"{result.difference:+.3f}"
        interval = f"{result.interval.low:+.3f} to {result.interval.high:+.3f}" if result.interval else "–"
        verdict = f"{result.verdict} (margin {result.margin:g})"
    remark = reason_text(item.remark) if item.remark else ""
    return item.model, item.against, f"{item.cases}{groups}", shown, interval, verdict, remark


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
