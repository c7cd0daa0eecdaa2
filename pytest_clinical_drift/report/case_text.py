"""What one case has to say when it is not a plain PASS."""

import textwrap
from collections.abc import Sequence

from pytest_clinical_drift.report.clean import one_line
from pytest_clinical_drift.report.figures import interval_text, judged_text, shared_reasons, worse_text
from pytest_clinical_drift.report.headlines import case_headline
from pytest_clinical_drift.report.reasons import reason_text, rests_on, shared_lines
from pytest_clinical_drift.report.sentences import alarm_sentence, opinion_lines, worst_first
from pytest_clinical_drift.report.words import counted, label
from pytest_clinical_drift.results.models import CaseResult
from pytest_clinical_drift.scoring.assessment import AlarmState, CaseAssessment
from pytest_clinical_drift.verdict.states import Verdict
from pytest_clinical_drift.verdict.values import MetricVerdict

WIDTH = 80
"""Failure texts go to terminals, junit files and CI pages: none of them is narrower."""
_MOST_ALARMS = 40
_WIDE = 110
"""From here on the interval has a column of its own."""
_LEAST_ROOM = 18
"""Columns below which text does not wrap beside its row."""


def case_report(case: CaseResult, *, judge: str = "", width: int = WIDTH) -> str:
    """Headline, table of judgements, and every alarm with its state, quote and opinions, the worst first.

    `judge` is the line that names the judge and its limits.
    """
    first = case_headline(case)
    if case.verdict not in (Verdict.INCOMPLETE, first):  # there the verdict is the first word already
        first = f"{case.verdict}: {first}"
    parts = [fill(first, width), *figure_table(case.judgements, width)]
    for run in case.repeats:
        parts += [f"repeat {run.repeat + 1}"] if len(case.repeats) > 1 else []
        parts += _alarm_lines(run, width)
    parts.append(f"diagnosis: {reason_text(case.diagnosed)}")
    if judge:
        parts.append(fill(judge, width))
    if waiver := case.waiver:
        parts.append(
            fill(f"waived until {waiver.expires} by {one_line(waiver.signed_by)}: {one_line(waiver.reason)}", width)
        )
    return "\n".join(parts)


def fill(text: str, width: int, indent: str = "") -> str:
    """Prose broken to a width, continued lines indented."""
    return textwrap.fill(text, max(40, width), initial_indent=indent, subsequent_indent=indent + "    ")


def figure_table(judgements: Sequence[MetricVerdict], width: int, *, of_set: bool = False) -> list[str]:
    """Metric, value at both ends, interval, limit of PASS and verdict, aligned; what else is to say wraps.

    In a narrow window the interval moves to what wraps.
    """
    rows, shared = [], shared_reasons(judgements)
    for item in judgements:
        interval = interval_text(item)
        moved = f"interval {interval}" if interval and width < _WIDE else ""
        explained = of_set or item.metric == "k_conflict" or item.value is None
        told_below = any(reason in shared for reason in item.reasons)
        detail = rests_on(item) if explained and not told_below else ""
        rows.append(
            (
                label(item.metric),
                judged_text(item, of_set=of_set),
                worse_text(item, of_set=of_set),
                "" if moved else interval,
                item.limit,
                str(item.verdict),
                "; ".join(filter(None, (moved, detail))),
            )
        )
    ends = ("set", "basis") if of_set else ("metric", "")
    headers = (ends[0], "value", "with open", "95 % interval", "PASS limit", "verdict", ends[1])
    return table_lines(rows, headers, width) + [fill(line, width) for line in shared_lines(judgements)]


def table_lines(rows: Sequence[Sequence[str]], headers: Sequence[str], width: int) -> list[str]:
    """A table whose last column wraps, below its row where there is no room; too narrow for a table: prose.

    Columns without a value are left out.
    """
    kept = [column for column in range(len(headers) - 1) if any(row[column] for row in rows)]
    sizes = [max(len(line[column]) for line in (headers, *rows)) for column in kept]
    left = sum(sizes) + 2 * len(sizes)
    if left - 2 > width:
        said = [[c for c in kept[2:] if row[c] and (headers[c], row[c]) != ("verdict", row[1])] for row in rows]
        named = [
            [row[1], *(f"{headers[c]} {row[c]}" for c in cells), row[-1]] for row, cells in zip(rows, said, strict=True)
        ]
        return [
            fill(f"{row[0]} {'; '.join(filter(None, cells))}", width) for row, cells in zip(rows, named, strict=True)
        ]
    beside = width - left >= _LEAST_ROOM
    lines = []
    for row in (headers, *rows):
        line = "  ".join(f"{row[column]:<{size}}" for column, size in zip(kept, sizes, strict=True))
        wrapped = textwrap.wrap(row[-1], width - (left if beside else 6))
        if beside:
            first, *more = wrapped or [""]
            lines += [f"{line}  {first}".rstrip(), *(" " * left + text for text in more)]
        else:
            lines += [line.rstrip(), *(f"      {text}" for text in wrapped if row is not headers)]
    return lines


def _alarm_lines(run: CaseAssessment, width: int) -> list[str]:
    groups = worst_first(run.alarms, run.probes)
    lines: list[str] = []
    for first, *more in groups[:_MOST_ALARMS]:
        lines.append(fill(alarm_sentence(first, more[-1].turn if more else None), width, "  "))
        lines += [fill(line, width, "      ") for line in opinion_lines(first.answers)]
    if hidden := sum(map(len, groups[_MOST_ALARMS:])):
        lines.append(f"  … and {counted(hidden, 'more alarm')}; the dossier lists them all")
    return lines + [fill(line, width, "  ") for line in _remarks(run)]


def _remarks(run: CaseAssessment) -> list[str]:
    dismissed = sum(alarm.state == AlarmState.DISMISSED for alarm in run.alarms)
    notes = [f"{counted(dismissed, 'alarm')} dismissed"] if dismissed else []
    if run.truncated:
        every = ", every reply among them" if run.all_cut else ""
        notes.append(f"note: {run.truncated} cut off by the token limit{every} (--drift-set max_tokens=N)")
    if run.refused:
        notes.append(f"note: {counted(run.refused, 'empty text')}")
    if run.replies_silent:
        notes.append(
            f"note: {run.replies_silent} of {counted(len(run.turns), 'reply')} say nothing (empty, or one word)"
        )
    return notes + [f"note: {one_line(note)}" for note in run.notes]
