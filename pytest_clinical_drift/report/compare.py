"""Several models or releases side by side: a column each, overlaid curves, and each run against the first."""

from collections.abc import Sequence
from itertools import cycle

from tabulate import tabulate

from pytest_clinical_drift.metrics.intervals import Interval, over_cases
from pytest_clinical_drift.report.clean import inert, one_line
from pytest_clinical_drift.report.headlines import run_headline
from pytest_clinical_drift.report.judge_text import judge_line
from pytest_clinical_drift.report.memory import by_turn, horizon_texts
from pytest_clinical_drift.report.page import Line, curve_chart, limit_levels, page_source
from pytest_clinical_drift.report.reasons import reason_texts
from pytest_clinical_drift.report.terminal import fill
from pytest_clinical_drift.report.words import judged_text, limit_values, number, rounded, span, sparkline, words
from pytest_clinical_drift.results.comparing import NamedRun, RunDifference
from pytest_clinical_drift.results.models import IntervalRecord, RunResult
from pytest_clinical_drift.scoring.assessment import AlarmState
from pytest_clinical_drift.verdict.metric_table import SEVERE

_STYLES = ("line-main", "line-second", "line-third", "line-fourth", "line-fifth", "line-sixth")
_LONGEST = 300
"""Characters of a cell."""
_NARROWEST = 12
"""Columns of the terminal that a run gets at least."""


def render_text(runs: Sequence[NamedRun], differences: Sequence[RunDifference], width: int) -> str:
    """The comparison for a terminal; cells wrap, so that it fits."""
    room = max(_NARROWEST, (width - 1) // (len(runs) + 1) - 2)
    figures, *others = _drawn(runs, differences, "plain", room)
    judges = [
        fill(f"{one_line(name)}: {one_line(judge_line(result.manifest.judged), 400)}", width - 1)
        for name, result in runs
    ]
    return "\n".join((figures, "", *judges, *others))


def render_markdown(runs: Sequence[NamedRun], differences: Sequence[RunDifference]) -> str:
    curves = [_recall(result) for _, result in runs]
    turns = sorted({turn for curve in curves for turn in curve})
    rows = [
        (inert(name), *(_figure(result, "recall_at_t10", curve.get(turn)) for turn in turns))
        for (name, result), curve in zip(runs, curves, strict=True)
    ]
    by_turn = tabulate(rows, ("mean recall, turn", *map(str, turns)), "github", disable_numparse=True)
    judges = "\n".join(f"- {inert(name)}: {inert(judge_line(result.manifest.judged), 400)}" for name, result in runs)
    return "\n\n".join(("# Clinical drift: comparison", *_drawn(runs, differences, "github"), by_turn, judges)) + "\n"


def render_html(runs: Sequence[NamedRun], differences: Sequence[RunDifference]) -> str:
    curves = [result.average_recall_curve_critical for _, result in runs]
    probed = sorted({turn for _, result in runs for turn in _recall(result)})
    lines = [
        Line(run.name, {turn: curve[turn - 1] for turn in probed if turn <= len(curve)}, style)
        for run, curve, style in zip(runs, curves, cycle(_STYLES), strict=False)
    ]
    turns = max(map(len, curves))
    # the limits that each run was held to; the same ones once
    levels = dict.fromkeys(level for _, result in runs for level in limit_levels(result.limits.get("recall_at_t10")))
    return page_source(
        "compare.html.j2",
        styles=("page.css",),
        runs=runs,
        tables=_tables(runs, differences),
        judge_line=judge_line,
        chart=curve_chart(f"Mean recall of critical facts by turn, to turn {turns}", turns, lines, levels=list(levels)),
        legend=lines,
        doubtful=any(
            result.average_worst_recall_curve_critical != result.average_recall_curve_critical for _, result in runs
        ),
    )


def _drawn(
    runs: Sequence[NamedRun], differences: Sequence[RunDifference], form: str, room: int | None = None
) -> list[str]:
    """The tables in a form of tabulate; cells wrap where they have only some room."""
    clean = inert if form == "github" else one_line
    parts = []
    for head, rows in _tables(runs, differences):
        heads = (head, *(clean(name, _LONGEST) for name, _ in runs))
        cells = [(label, *(clean(cell, _LONGEST) for cell in row)) for label, *row in rows]
        parts.append(tabulate(cells, heads, form, disable_numparse=True, maxcolwidths=room, maxheadercolwidths=room))
    return parts


def _tables(runs: Sequence[NamedRun], differences: Sequence[RunDifference]) -> list[tuple[str, list[tuple[str, ...]]]]:
    """Heads and rows: the figures with each run's difference from the first, and PDSQI-9 where a run was rated."""
    against = [("",) * 5, *map(_difference, differences)]  # nothing for the first itself
    columns = [(*_figures(result), *cells) for (_, result), cells in zip(runs, against, strict=True)]
    rows = zip(words("compare"), *columns, strict=True)
    tables = [("", [row for row in rows if any(row[1:])])]
    rated = [{row.attribute: rounded(row.at_end) for row in result.pdsqi} for _, result in runs]
    if names := next((list(column) for column in rated if column), []):
        tables.append(("PDSQI-9, at the end", [(name, *(column.get(name, "–") for column in rated)) for name in names]))
    return tables


def _recall(result: RunResult) -> dict[int, float]:
    """Mean recall at the scheduled probes."""
    means = by_turn(result, result.average_recall_curve_critical)
    return {turn: value for turn, value in means.items() if value is not None}


def _figures(result: RunResult) -> tuple[str, ...]:
    """The cells of a run, in the order of the words."""
    rate, at_end = result.judgement("k_conflict"), result.judgement("recall_at_end")
    early, turns, horizons = result.confidence_intervals.get("recall_at_t10"), "–", {"facts": "–", "hard_stops": "–"}
    if memory := result.memory:
        turns = f"{memory.shortest} to {memory.turns}" if memory.shortest != memory.turns else str(memory.turns)
        horizons = horizon_texts(memory)
    confirmed, waiting = (
        # cases with a severe event
        sum(
            any(e.metric in SEVERE and e.state == state for run in case.repeats for e in run.events)
            for case in result.cases
        )
        for state in (AlarmState.CONFIRMED, AlarmState.OPEN)
    )
    return (
        f"{result.cases_complete} of {result.cases_total}",
        turns,
        _figure(result, "recall_at_t10", result.entity_recall_at_t10),
        _ends(early, limit_values(result.judgement("recall_at_t10"))),
        _figure(result, "strict_recall_at_t10", result.strict_recall_at_t10),
        _figure(result, "recall_at_end", at_end.value if at_end else None),
        _ends(at_end.interval if at_end else None, limit_values(at_end)),
        horizons["facts"],
        horizons["hard_stops"],
        _figure(result, "drift_slope", result.drift_slope_critical),
        f"{'–' if rate is None or rate.value is None else judged_text(rate)} ({result.knowledge_conflict_pairs})",
        f"{confirmed} ({waiting})",
        " / ".join(str(count) for count, _ in result.findings.values()) or "–",
        sparkline(list(_recall(result).values())),
        run_headline(result),
    )


def _figure(result: RunResult, metric: str, value: float | None) -> str:
    return number(metric, value, limit_values(result.judgement(metric)))


def _ends(interval: Interval | IntervalRecord | None, limits: Sequence[float], spec: str = ".2f") -> str:
    return span(interval.low, interval.high, spec, limits) if interval else "–"


def _difference(item: RunDifference) -> tuple[str, ...]:
    """A run against the first."""
    groups = f" in {item.groups} groups" if item.groups and item.groups != item.cases else ""
    shown = interval = verdict = "–"
    if recall := item.recall:
        held = (recall.margin, -recall.margin)
        shown = rounded(recall.difference, "+.3f", held)
        interval = _ends(over_cases(recall.interval), held, "+.3f")
        verdict = f"{recall.verdict} (margin {recall.margin:g})"
    return f"{item.cases}{groups}", shown, interval, verdict, "; ".join(reason_texts(item.remarks))
