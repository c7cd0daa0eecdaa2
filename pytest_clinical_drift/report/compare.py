"""A comparison of runs as text for a terminal, as markdown, and as a page with overlaid curves."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import cycle

from markupsafe import Markup
from tabulate import tabulate

from pytest_clinical_drift.report.charts import Extras, Level, Line, curve_chart, limit_levels
from pytest_clinical_drift.report.clean import inert, one_line
from pytest_clinical_drift.report.comparison import ComparisonTable, comparison_tables, figure, recall_by_turn
from pytest_clinical_drift.report.judge_text import judge_line
from pytest_clinical_drift.report.layout import fill
from pytest_clinical_drift.report.page import page_source
from pytest_clinical_drift.results.comparing import NamedRun, RunDifference
from pytest_clinical_drift.verdict.reasons import Verdict

_STYLES = ("line-main", "line-second", "line-third", "line-fourth", "line-fifth", "line-sixth")
_LONGEST = 300
"""Characters of a cell."""
_LONGEST_JUDGE = 400
_NARROWEST = 12
"""Columns of the terminal that a run gets at least."""


def render_text(runs: Sequence[NamedRun], differences: Sequence[RunDifference], width: int) -> str:
    """The comparison for a terminal; cells wrap, so that it fits."""
    room = max(_NARROWEST, (width - 1) // (len(runs) + 1) - 2)
    tables = [_drawn(table, runs, one_line, room) for table in comparison_tables(runs, differences)]
    judges = [f"{one_line(run.name)}: {one_line(_judge(run), _LONGEST_JUDGE)}" for run in runs]
    return "\n".join((tables[0], "", *(fill(judge, width - 1) for judge in judges), *tables[1:]))


def render_markdown(runs: Sequence[NamedRun], differences: Sequence[RunDifference]) -> str:
    tables = [_drawn(table, runs, inert) for table in comparison_tables(runs, differences)]
    judges = "\n".join(f"- {inert(run.name)}: {inert(_judge(run), _LONGEST_JUDGE)}" for run in runs)
    return "\n\n".join(("# Clinical drift: comparison", *tables, _recall_table(runs), judges)) + "\n"


def _recall_table(runs: Sequence[NamedRun]) -> str:
    """Mean recall, a row per run and a column per probed turn."""
    turns = _probed(runs)
    rows = []
    for run in runs:
        curve = recall_by_turn(run.result)
        rows.append((inert(run.name), *(figure(run.result, "recall_at_t10", curve.get(turn)) for turn in turns)))
    return tabulate(rows, ("mean recall, turn", *map(str, turns)), "github", disable_numparse=True)


def _probed(runs: Sequence[NamedRun]) -> list[int]:
    turns: set[int] = set()
    for run in runs:
        turns |= recall_by_turn(run.result).keys()
    return sorted(turns)


def _judge(run: NamedRun) -> str:
    return judge_line(run.result.manifest.judged)


def _drawn(
    table: ComparisonTable, runs: Sequence[NamedRun], clean: Callable[[str, int], str], room: int | None = None
) -> str:
    """A table for a terminal, where cells wrap in some room; without one for markdown."""
    heads = (table.head, *(clean(run.name, _LONGEST) for run in runs))
    cells = [(row.label, *(clean(cell, _LONGEST) for cell in row.cells)) for row in table.rows]
    form = "github" if room is None else "plain"
    return tabulate(cells, heads, form, disable_numparse=True, maxcolwidths=room, maxheadercolwidths=room)


# -- the page


@dataclass(frozen=True, slots=True)
class ComparedRun:
    name: str
    verdict: Verdict
    judge: str


@dataclass(frozen=True, slots=True)
class ComparisonView:
    runs: Sequence[ComparedRun]
    tables: Sequence[ComparisonTable]
    chart: Markup
    legend: Sequence[Line]
    doubtful: bool
    """Whether open findings make a difference."""


def render_html(runs: Sequence[NamedRun], differences: Sequence[RunDifference]) -> str:
    return page_source("compare.html.j2", styles=("page.css",), comparison=_comparison_view(runs, differences))


def _comparison_view(runs: Sequence[NamedRun], differences: Sequence[RunDifference]) -> ComparisonView:
    results = [run.result for run in runs]
    turns = max(len(result.average_recall_curve_critical) for result in results)
    lines = _lines(runs)
    title = f"Mean recall of critical facts by turn, to turn {turns}"
    doubtful = [
        result.average_worst_recall_curve_critical != result.average_recall_curve_critical for result in results
    ]
    return ComparisonView(
        runs=[ComparedRun(run.name, run.result.verdict, _judge(run)) for run in runs],
        tables=comparison_tables(runs, differences),
        chart=curve_chart(title, turns, lines, Extras(levels=_levels(runs))),
        legend=lines,
        doubtful=any(doubtful),
    )


def _lines(runs: Sequence[NamedRun]) -> list[Line]:
    """The mean recall of each run, at the turns that any of them probed."""
    probed = _probed(runs)
    lines = []
    for run, style in zip(runs, cycle(_STYLES), strict=False):
        curve = run.result.average_recall_curve_critical
        lines.append(Line(run.name, {turn: curve[turn - 1] for turn in probed if turn <= len(curve)}, style))
    return lines


def _levels(runs: Sequence[NamedRun]) -> list[Level]:
    """The limits that each run was held to; the same ones once."""
    levels: dict[Level, None] = {}
    for run in runs:
        levels |= dict.fromkeys(limit_levels(run.result.limits.get("recall_at_t10")))
    return list(levels)
