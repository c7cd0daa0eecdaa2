"""The summary at the end of a run, for the terminal and the log of a CI job: nothing wider than the window."""

import textwrap
from collections.abc import Sequence
from typing import Any

from pytest_clinical_drift.report.case_text import figure_table, fill
from pytest_clinical_drift.report.clean import loggable
from pytest_clinical_drift.report.headlines import review_sentence, run_sentence, what_happened
from pytest_clinical_drift.report.judge_text import external_lines, judge_line
from pytest_clinical_drift.report.meaning import cut_lines, ungated_lines, what_this_means
from pytest_clinical_drift.report.memory import memory_lines, probe_table
from pytest_clinical_drift.report.page import text_lines
from pytest_clinical_drift.report.reasons import reason_text
from pytest_clinical_drift.report.sentences import alarm_sentence, worst_first
from pytest_clinical_drift.report.words import counted
from pytest_clinical_drift.results.models import RunResult
from pytest_clinical_drift.verdict.states import WORST_FIRST, Verdict

_BARS = "▁▂▃▄▅▆▇█"
_NARROWEST = 40
_MOST_CASES = 10


def verdict_line(result: RunResult, width: int) -> str:
    """Headline and first reasons, broken to the window."""
    return loggable(fill(loggable(run_sentence(result)), max(_NARROWEST, width - 1)))


def render_summary(
    result: RunResult, slug: str, *, attempt: str = "", width: int = 80, verbosity: int = 0
) -> list[str]:
    """Lines for the terminal: below 0 the verdict alone, above 0 with every fact lost."""
    verdict = verdict_line(result, width)
    width = max(_NARROWEST, width - 1)
    reused = [fill(line, width, "  ") for line in _part("reused", result=result)]
    if verbosity < 0:
        return [verdict, *reused]
    reviewed = [fill(review_sentence(result.reviewed), width, "  ")] if result.reviewed else []
    head = _part("head", result=result, slug=slug, diagnosis=reason_text(result.diagnosed))
    origin = _part("origin", result=result, attempt=attempt)
    blocks = [
        [_cut(line, width) for line in head],
        [f"  {line}" for line in figure_table(result.judgements, width - 2, of_set=True)],
        [fill(line, width, "  ") for line in alarm_lines(result)],
        _worst_cases(result, width),
        _losses(result, width) if verbosity > 0 else [],
        [_indented(line, width) for line in memory_lines(result)],
        [f"  {line}" for line in probe_table(result, width - 2)],
        [_indented(line, width) for line in (*ungated_lines(result), *origin)],
        [verdict, *reused, *reviewed],
        [textwrap.fill(what_this_means(result), width)],
    ]
    lines: list[str] = []
    for block in filter(None, blocks):
        lines += ["", *block] if lines else block
    return [loggable(line) for line in lines]  # once more: breaking a long word may begin a line with anything


def _cut(line: str, width: int) -> str:
    """A line cut to the window; only a name can be too long."""
    return line if len(line) <= width else line[: width - 1] + "…"


def alarm_lines(result: RunResult) -> list[str]:
    """Alarms by state and who settled them, the judge's limits, what was not gated, what was cut off, waivers."""
    judge = judge_line(result.manifest.judged, result.counts)
    judges = (judge, *external_lines(result.manifest.judged))
    return [*_part("alarms", result=result, judges=judges), *cut_lines(result), *_part("waivers", result=result)]


def _part(name: str, **values: Any) -> list[str]:
    return text_lines("terminal.txt.j2", name, **values)


def _indented(line: str, width: int) -> str:
    depth = len(line) - len(line.lstrip())
    return fill(line.strip(), width, " " * (depth + 2))


def _worst_cases(result: RunResult, width: int) -> list[str]:
    """Cases that did not pass, the worst first, each with its curve."""
    shown = [case for case in result.cases if case.verdict != Verdict.PASS]
    shown.sort(key=lambda case: (WORST_FIRST.index(case.verdict), case.repeats[0].recall_at_t10 or 0.0, case.case_id))
    longest = max((len(case.case_id) for case in shown[:_MOST_CASES]), default=0)
    lines = []
    for case in shown[:_MOST_CASES]:
        run = case.repeats[0]
        curve = sparkline([turn.recall for turn in run.turns if turn.probed])
        lines.append(_cut(f"  {case.verdict:<10} {case.case_id:<{longest}} {curve}", width))
        wrapped = textwrap.wrap(what_happened(case), max(_NARROWEST, width - 13))
        lines += [f"             {line}" for line in wrapped[:3]]
        if len(wrapped) > 3:
            lines[-1] = _cut(f"{lines[-1]} …", width)
    if len(shown) > _MOST_CASES:
        lines.append(f"  … and {counted(len(shown) - _MOST_CASES, 'more case')}")
    return lines


def _losses(result: RunResult, width: int) -> list[str]:
    lines: list[str] = []
    for case in result.cases:
        groups = [
            group
            for run in case.repeats
            for group in worst_first([a for a in run.alarms if a.fact is not None], run.probes)
        ]
        sentences = [alarm_sentence(first, more[-1].turn if more else None) for first, *more in groups]
        if sentences:
            lines += [f"  {case.case_id}", *(fill(line, width, "    ") for line in sentences)]
    return ["  facts lost by turn", *lines] if lines else []


def sparkline(curve: Sequence[float | None]) -> str:
    """A recall curve in one character per probed turn; a dot where nothing was evaluated."""
    return "".join("·" if value is None else _BARS[min(7, int(value * 8))] for value in curve)
