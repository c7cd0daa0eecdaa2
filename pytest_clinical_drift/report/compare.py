"""Several models or releases side by side: a column each, overlaid curves, and each run against the first."""

from collections.abc import Sequence

from tabulate import tabulate

from pytest_clinical_drift.metrics.intervals import over_cases
from pytest_clinical_drift.report.clean import inert, one_line
from pytest_clinical_drift.report.headlines import run_headline
from pytest_clinical_drift.report.judge_text import judge_line
from pytest_clinical_drift.report.memory import horizon_texts, scheduled_turns
from pytest_clinical_drift.report.page import page_source
from pytest_clinical_drift.report.reasons import reason_texts
from pytest_clinical_drift.report.svg import Line, curve_chart, limit_levels
from pytest_clinical_drift.report.terminal import fill, sparkline
from pytest_clinical_drift.report.words import judged_text, limit_values, number, rounded, span, words
from pytest_clinical_drift.results.comparing import NamedRun
from pytest_clinical_drift.results.models import RunResult
from pytest_clinical_drift.scoring.assessment import AlarmState
from pytest_clinical_drift.verdict.baseline import RunDifference
from pytest_clinical_drift.verdict.memory import Memory
from pytest_clinical_drift.verdict.metric_table import SEVERE

STYLES = ("line-main", "line-second", "line-third", "line-fourth", "line-fifth", "line-sixth")
_LONGEST = 300
"""Characters of a cell."""
_NARROWEST = 12
"""Columns of the terminal that a run gets at least."""

_HELD = ("recall_at_t10", "strict_recall_at_t10", "recall_at_end", "drift_slope")
"""Figures of a column that a gate has limits for, besides K_Conflict."""

Rows = list[tuple[str, ...]]
"""A label and a cell per run."""


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


def render_text(runs: Sequence[NamedRun], differences: Sequence[RunDifference], width: int) -> str:
    """The comparison for a terminal; cells wrap, so that it fits."""
    room = max(_NARROWEST, (width - 1) // (len(runs) + 1) - 2)
    parts = _drawn(runs, differences, "plain", room)
    judges = [fill(f"{one_line(name)}: {one_line(line, 400)}", width - 1) for name, line in _judges(runs)]
    return "\n".join((parts[0], "", *judges, *parts[1:]))


def render_markdown(runs: Sequence[NamedRun], differences: Sequence[RunDifference]) -> str:
    parts = ["# Clinical drift: comparison", *_drawn(runs, differences, "github")]
    curves = [_by_turn(result) for _, result in runs]
    turns = sorted({turn for curve in curves for turn in curve})
    rows = [
        (
            inert(name),
            *(rounded(curve.get(turn), limits=limit_values(result.judgement("recall_at_t10"))) for turn in turns),
        )
        for (name, result), curve in zip(runs, curves, strict=True)
    ]
    parts.append(tabulate(rows, ("mean recall, turn", *map(str, turns)), "github", disable_numparse=True))
    parts.append("\n".join(f"- {inert(name)}: {inert(line, 400)}" for name, line in _judges(runs)))
    return "\n\n".join(parts) + "\n"


def render_html(runs: Sequence[NamedRun], differences: Sequence[RunDifference]) -> str:
    lines = [
        Line(name, result.average_recall_curve_critical, STYLES[position % len(STYLES)])
        for position, (name, result) in enumerate(runs)
    ]
    turns = max((len(line.values) for line in lines), default=0)
    title = f"Mean recall of critical facts by turn, to turn {turns}"
    # the limits that each run was held to; the same ones once
    levels = dict.fromkeys(level for _, result in runs for level in limit_levels(result.limits.get("recall_at_t10")))
    probed = sorted({turn for _, result in runs for turn in _by_turn(result)})
    return page_source(
        "compare.html.j2",
        styles=("page.css",),
        runs=runs,
        tables=_tables(runs, differences),
        judges=_judges(runs),
        chart=curve_chart(title, lines, levels=list(levels), probed=probed),
        legend=lines,
        doubtful=any(
            result.average_worst_recall_curve_critical != result.average_recall_curve_critical for _, result in runs
        ),
    )


def _tables(runs: Sequence[NamedRun], differences: Sequence[RunDifference]) -> list[tuple[str, Rows]]:
    """Heads and rows: the figures with each run's difference from the first, and PDSQI-9 where a run was rated."""
    columns = [
        (*_figures(result), *_difference(difference))
        for (_, result), difference in zip(runs, (None, *differences), strict=True)
    ]
    rows = zip(words("compare"), *columns, strict=True)
    tables = [("", [row for row in rows if any(row[1:])])]
    rated = [{row.attribute: rounded(row.at_end) for row in result.pdsqi} for _, result in runs]
    if names := next((list(column) for column in rated if column), []):
        tables.append(("PDSQI-9, at the end", [(name, *(column.get(name, "–") for column in rated)) for name in names]))
    return tables


def _by_turn(result: RunResult) -> dict[int, float]:
    """Mean recall at the scheduled probes."""
    curve = result.average_recall_curve_critical
    shown = scheduled_turns(result) or range(1, len(curve) + 1)
    return {turn: value for turn in shown if (value := curve[turn - 1]) is not None}


def _judges(runs: Sequence[NamedRun]) -> list[tuple[str, str]]:
    return [(name, judge_line(result.manifest.judged)) for name, result in runs]


def _figures(result: RunResult) -> tuple[str, ...]:
    interval = result.confidence_intervals.get("recall_at_t10")
    rate, slope = result.judgement("k_conflict"), result.drift_slope_critical
    memory, at_end = result.memory, result.judgement("recall_at_end")
    horizons = horizon_texts(memory) if memory else {"facts": "–", "hard_stops": "–"}
    severe, waiting = (_cases_with(result, state) for state in (AlarmState.CONFIRMED, AlarmState.OPEN))
    early, strict, ends, slopes = (limit_values(result.judgement(name)) for name in _HELD)
    return (
        f"{result.cases_complete} of {result.cases_total}",
        _turns(memory),
        rounded(result.entity_recall_at_t10, limits=early),
        span(interval.low, interval.high, limits=early) if interval else "–",
        rounded(result.strict_recall_at_t10, limits=strict),
        rounded(at_end.value if at_end else None, limits=ends),
        span(at_end.interval.low, at_end.interval.high, limits=ends) if at_end and at_end.interval else "–",
        horizons["facts"],
        horizons["hard_stops"],
        "–" if slope is None else number("drift_slope", slope, slopes),
        f"{'–' if rate is None or rate.value is None else judged_text(rate)} ({result.knowledge_conflict_pairs})",
        f"{severe} ({waiting})",
        " / ".join(str(count) for count, _ in result.findings.values()) or "–",
        sparkline(list(_by_turn(result).values())),
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


def _difference(item: RunDifference | None) -> tuple[str, ...]:
    """A run against the first; nothing for the first itself."""
    if item is None:
        return ("",) * 5
    groups = f" in {item.groups} groups" if item.groups and item.groups != item.cases else ""
    shown = interval = verdict = "–"
    if result := item.recall:
        held = (result.margin, -result.margin)
        shown = "–" if result.difference is None else rounded(result.difference, "+.3f", held)
        among = over_cases(result.interval)
        interval = span(among.low, among.high, "+.3f", held) if among else "–"
        verdict = f"{result.verdict} (margin {result.margin:g})"
    return f"{item.cases}{groups}", shown, interval, verdict, "; ".join(reason_texts(item.remarks))
