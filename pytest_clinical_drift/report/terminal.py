"""The summary at the end of a run, for the terminal and the log of a CI job: nothing wider than the window."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_clinical_drift.report.case_text import figure_table, fill, headline, worst_first
from pytest_clinical_drift.report.clean import printable
from pytest_clinical_drift.report.judge_text import judge_line
from pytest_clinical_drift.report.page import text_lines
from pytest_clinical_drift.report.sentences import alarm_sentence
from pytest_clinical_drift.scoring.assessment import CaseAssessment
from pytest_clinical_drift.verdict.values import CaseVerdict, counted

Cases = Sequence[tuple[Sequence[CaseAssessment], CaseVerdict]]
Record = Mapping[str, Any]

_BARS = "▁▂▃▄▅▆▇█"
_NARROWEST = 40


def render_summary(
    record: Record, cases: Cases, slug: str, *, attempt: str = "", width: int = 80, verbosity: int = 0
) -> list[str]:
    """Lines for the terminal: below 0 the verdict alone, above 0 with every fact lost."""
    width = max(_NARROWEST, width - 1)
    verdict = [fill(_verdict(record), width), *(fill(line, width, "  ") for line in _part("reused", record=record))]
    if verbosity < 0:
        return verdict
    beside = text_lines("beside.txt.j2", "lines", record=record)
    blocks = [
        [_cut(line, width) for line in _part("head", record=record, slug=slug)],
        [f"  {line}" for line in figure_table(record["judgements"], width - 2, of_set=True)],
        [fill(line, width, "  ") for line in alarm_lines(record)],
        _worst_cases(cases, width),
        _losses(cases, width) if verbosity > 0 else [],
        [_indented(line, width) for line in (*beside, *_part("origin", record=record, attempt=attempt))],
        [*verdict, *([fill(record["reviewed"]["sentence"], width, "  ")] if "reviewed" in record else [])],
        [textwrap.fill(str(record["what_this_means"]), width)],
    ]
    lines: list[str] = []
    for block in filter(None, blocks):
        lines += ["", *block] if lines else block
    return lines


def _verdict(record: Record) -> str:
    reasons = f": {'; '.join(record['reasons'][:4])}" if record["reasons"] else ""
    return printable(f"{record['headline']}{reasons}")


def _cut(line: str, width: int) -> str:
    """A line cut to the window; only a name can be too long."""
    return line if len(line) <= width else line[: width - 1] + "…"


def alarm_lines(record: Record) -> list[str]:
    """Alarms by state and who settled them, the judge's limits, what was not gated, what was cut off, waivers."""
    judge = judge_line(record["manifest"].get("judged"), record["grounds"])
    cut = text_lines("meaning.txt.j2", "cut", grounds=record["grounds"])
    return [*_part("alarms", record=record, judge=judge), *cut, *_part("waivers", record=record)]


def _part(name: str, **values: Any) -> list[str]:
    return text_lines("terminal.txt.j2", name, **values)


def _indented(line: str, width: int) -> str:
    depth = len(line) - len(line.lstrip())
    return fill(line.strip(), width, " " * (depth + 2))


def _worst_cases(cases: Cases, width: int, limit: int = 10) -> list[str]:
    """Cases that did not pass, the worst first, each with its curve."""
    order = {"FAIL": 0, "INCOMPLETE": 1, "UNSETTLED": 2, "CAUTION": 3}
    shown = [(repeats, verdict) for repeats, verdict in cases if verdict.verdict in order]
    shown.sort(key=lambda item: (order[item[1].verdict], item[0][0].recall_at_horizon or 0.0, item[1].case_id))
    longest = max((len(verdict.case_id) for _, verdict in shown[:limit]), default=0)
    lines = []
    for repeats, verdict in shown[:limit]:
        curve = sparkline(repeats[0].recall_curve)
        lines.append(_cut(f"  {verdict.verdict:<10} {verdict.case_id:<{longest}} {curve}", width))
        told = textwrap.wrap(headline(verdict, repeats), max(_NARROWEST, width - 13))
        lines += [f"             {line}" for line in told[:3]]
        if len(told) > 3:
            lines[-1] = _cut(f"{lines[-1]} …", width)
    if len(shown) > limit:
        lines.append(f"  … and {counted(len(shown) - limit, 'more case')}")
    return lines


def _losses(cases: Cases, width: int) -> list[str]:
    lines: list[str] = []
    for repeats, verdict in cases:
        found = [run for repeat in repeats for run in worst_first([a for a in repeat.alarms if a.fact is not None])]
        told = [alarm_sentence(first, more[-1].turn if more else None) for first, *more in found]
        lines += [f"  {verdict.case_id}", *(fill(line, width, "    ") for line in told)] if told else []
    return ["  facts lost by turn", *lines] if lines else []


def sparkline(curve: Sequence[float | None]) -> str:
    """A recall curve in one character per turn; a dot where nothing was evaluated."""
    return "".join("·" if value is None else _BARS[min(7, int(value * 8))] for value in curve)
