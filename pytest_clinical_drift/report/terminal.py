"""The summary at the end of a run, for the terminal and the log of a CI job, never wider than the window."""

import textwrap

from pytest_clinical_drift.report.clean import as_lines, loggable
from pytest_clinical_drift.report.evidence_text import alarm_lines, cost_lines, reuse_lines
from pytest_clinical_drift.report.figure_table import figure_table
from pytest_clinical_drift.report.headlines import review_sentence, run_sentence, what_happened
from pytest_clinical_drift.report.layout import NARROWEST, cut, fill, table_lines
from pytest_clinical_drift.report.memory import memory_lines, probe_cells
from pytest_clinical_drift.report.reasons import reason_text, ungated_lines, what_this_means
from pytest_clinical_drift.report.sentences import alarm_sentence, worst_first
from pytest_clinical_drift.report.words import (
    counted,
    is_unread_zero,
    judged_text,
    limit_values,
    number,
    rounded,
    sparkline,
    words,
)
from pytest_clinical_drift.results.models import CaseResult, RunResult
from pytest_clinical_drift.verdict.reasons import WORST_FIRST, Verdict

_MOST_CASES = 10
_MOST_LINES = 3
"""Lines of a case among the worst ones."""
_BESIDE_CASE = 13
_NAME = 21
"""Columns of the names at the top."""


def verdict_line(result: RunResult, width: int) -> str:
    """Headline and first reasons, broken to the window."""
    return loggable(fill(loggable(run_sentence(result)), width - 1))


def render_summary(
    result: RunResult, slug: str, *, attempt: str = "", width: int = 80, verbosity: int = 0
) -> list[str]:
    """Lines for the terminal: below 0 the verdict alone, above 0 with every fact lost."""
    verdict = verdict_line(result, width)
    width = max(NARROWEST, width - 1)
    reused = _indented(reuse_lines(result), width)
    if verbosity < 0:
        return [verdict, *reused]
    reviewed = _indented([review_sentence(result.reviewed)], width) if result.reviewed else []
    origin = as_lines(*cost_lines(result), attempt)
    blocks = [
        [cut(line, width) for line in _head(result, slug)],
        [f"  {line}" for line in figure_table(result.judgements, width - 2, of_set=True)],
        _indented(alarm_lines(result), width),
        _worst_cases(result, width),
        _losses(result, width) if verbosity > 0 else [],
        _indented(memory_lines(result), width),
        _probes(result, width),
        _indented([*ungated_lines(result), *origin], width),
        [verdict, *reused, *reviewed],
        [textwrap.fill(what_this_means(result), width)],
    ]
    lines: list[str] = []
    for block in filter(None, blocks):
        lines += ["", *block] if lines else block
    return [loggable(line) for line in lines]  # once more: breaking a long word may begin a line with anything


def _indented(lines: list[str], width: int) -> list[str]:
    return [fill(line, width, "  ") for line in lines]


def _head(result: RunResult, slug: str) -> list[str]:
    """The figures that everybody asks for first, a line each."""
    curve = result.average_recall_curve_critical
    turns = result.memory.turns if result.memory else 0
    slope = f"{_figure(result, 'drift_slope', result.drift_slope_critical)} ({rounded(result.r_squared)})"
    rows = (
        ("model", slug),
        ("complete", f"{result.cases_complete} of {counted(result.cases_total, 'case')} in the set"),
        ("R@T1", _figure(result, "recall_at_t10", curve[0] if curve else None)),
        ("R@T5", _figure(result, "recall_at_t10", curve[4] if len(curve) > 4 else None)),
        ("R@T10", _figure(result, "recall_at_t10", result.entity_recall_at_t10)),
        (f"R@end (T{turns})", _judged(result, "recall_at_end")),
        ("strict", _figure(result, "strict_recall_at_t10", result.strict_recall_at_t10)),
        ("β (R²)", slope),
        ("K (pairs)", f"{_conflicts(result)} ({result.knowledge_conflict_pairs})"),
        ("cases with hard stop", _judged(result, "hard_stops")),
        ("cases with breach", _judged(result, "breaches")),
        ("verdict", str(result.verdict)),
        ("diagnosis", reason_text(result.diagnosed)),
    )
    return as_lines(*(f"{name:<{_NAME}} {value}" for name, value in rows))


def _figure(result: RunResult, metric: str, value: float | None) -> str:
    return "–" if value is None else number(metric, value, limit_values(result.judgement(metric)))


def _judged(result: RunResult, metric: str) -> str:
    item = result.judgement(metric)
    if item is not None and is_unread_zero(item):
        return str(item.verdict)
    return _figure(result, metric, item.value if item else None)


def _conflicts(result: RunResult) -> str:
    item = result.judgement("k_conflict")
    return "–" if item is None or item.value is None else judged_text(item)


def _probes(result: RunResult, width: int) -> list[str]:
    rows = probe_cells(result, shortened=True)
    return [f"  {line}" for line in table_lines(rows, words("probes"), width - 2)] if rows else []


def _worst_cases(result: RunResult, width: int) -> list[str]:
    """Cases that did not pass, the worst first, each with its curve."""
    wanted = [case for case in result.cases if case.verdict != Verdict.PASS]
    wanted.sort(key=lambda case: (WORST_FIRST.index(case.verdict), case.repeats[0].recall_at_t10 or 0.0, case.case_id))
    shown = wanted[:_MOST_CASES]
    longest = max((len(case.case_id) for case in shown), default=0)
    lines = []
    for case in shown:
        lines += _worst_case(case, longest, width)
    hidden = len(wanted) - len(shown)
    if hidden:
        lines.append(f"  … and {counted(hidden, 'more case')}")
    return lines


def _worst_case(case: CaseResult, longest: int, width: int) -> list[str]:
    """Verdict, name and curve, then what happened; `longest` is the width of the names."""
    curve = sparkline([turn.recall for turn in case.repeats[0].turns if turn.probed])
    lines = [cut(f"  {case.verdict:<10} {case.case_id:<{longest}} {curve}", width)]
    wrapped = textwrap.wrap(what_happened(case), max(NARROWEST, width - _BESIDE_CASE))
    lines += [" " * _BESIDE_CASE + line for line in wrapped[:_MOST_LINES]]
    if len(wrapped) > _MOST_LINES:
        lines[-1] = cut(f"{lines[-1]} …", width)
    return lines


def _losses(result: RunResult, width: int) -> list[str]:
    lines: list[str] = []
    for case in result.cases:
        sentences = []
        for run in case.repeats:
            found = [alarm for alarm in run.alarms if alarm.fact is not None]
            sentences += [fill(alarm_sentence(*group), width, "    ") for group in worst_first(found, run.probes)]
        if sentences:
            lines += [f"  {case.case_id}", *sentences]
    return ["  facts lost by turn", *lines] if lines else []
