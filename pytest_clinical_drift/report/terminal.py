"""Text for the terminal and the log of a CI job, never wider than the window: a case that is not a plain PASS, and the
summary at the end of a run."""

import textwrap
from collections.abc import Sequence

from pytest_clinical_drift.report.clean import loggable, one_line
from pytest_clinical_drift.report.headlines import case_headline, review_sentence, run_sentence, what_happened
from pytest_clinical_drift.report.judge_text import external_lines, judge_line
from pytest_clinical_drift.report.memory import memory_lines, probe_cells
from pytest_clinical_drift.report.page import text_lines
from pytest_clinical_drift.report.reasons import reason_text, rests_on, shared_lines, ungated_lines, what_this_means
from pytest_clinical_drift.report.sentences import alarm_sentence, opinion_line, worst_first
from pytest_clinical_drift.report.words import (
    counted,
    interval_text,
    judged_text,
    label,
    shared_reasons,
    sparkline,
    words,
    worse_text,
)
from pytest_clinical_drift.results.models import CaseResult, RunResult
from pytest_clinical_drift.scoring.assessment import AlarmState
from pytest_clinical_drift.verdict.reasons import WORST_FIRST, Verdict
from pytest_clinical_drift.verdict.values import MetricVerdict

WIDTH = 80
"""Failure texts go to terminals, junit files and CI pages: none of them is narrower."""
_NARROWEST = 40
_WIDE = 110
"""From here on the interval has a column of its own."""
_LEAST_ROOM = 18
"""Columns below which text does not wrap beside its row."""
_MOST_ALARMS, _MOST_CASES = 40, 10
_TEMPLATE = "terminal.txt.j2"


def fill(text: str, width: int, indent: str = "") -> str:
    """Prose broken to a width, behind an indent besides its own; continued lines are indented further."""
    indent += " " * (len(text) - len(text.lstrip()))
    return textwrap.fill(text.strip(), max(_NARROWEST, width), initial_indent=indent, subsequent_indent=indent + "    ")


# -- one case


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
        groups = worst_first(run.alarms, run.probes)
        for alarms in groups[:_MOST_ALARMS]:
            parts.append(fill(alarm_sentence(*alarms), width, "  "))
            parts += [fill(opinion_line(opinion), width, "      ") for opinion in alarms[0].answers]
        if hidden := sum(map(len, groups[_MOST_ALARMS:])):
            parts.append(f"  … and {counted(hidden, 'more alarm')}; the dossier lists them all")
        dismissed = sum(alarm.state == AlarmState.DISMISSED for alarm in run.alarms)
        parts += [fill(line, width, "  ") for line in text_lines(_TEMPLATE, "remarks", run=run, dismissed=dismissed)]
    parts.append(f"diagnosis: {reason_text(case.diagnosed)}")
    parts += [fill(judge, width)] if judge else []
    if waiver := case.waiver:
        waived = f"waived until {waiver.expires} by {one_line(waiver.signed_by)}: {one_line(waiver.reason)}"
        parts.append(fill(waived, width))
    return "\n".join(parts)


def figure_table(judgements: Sequence[MetricVerdict], width: int, *, of_set: bool = False) -> list[str]:
    """Metric, value at both ends, interval, limit of PASS and verdict, aligned; what else is to say wraps.

    In a narrow window the interval moves to what wraps.
    """
    rows, shared = [], shared_reasons(judgements)
    for item in judgements:
        interval = interval_text(item)
        moved = f"interval {interval}" if interval and width < _WIDE else ""
        explained = of_set or item.metric == "k_conflict" or item.value is None
        detail = rests_on(item) if explained and not any(reason in shared for reason in item.reasons) else ""
        value, worse = judged_text(item, of_set=of_set), worse_text(item, of_set=of_set)
        basis = "; ".join(filter(None, (moved, detail)))
        rows.append((label(item.metric), value, worse, "" if moved else interval, item.limit, str(item.verdict), basis))
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
        return [fill(_in_prose(row, headers, kept[2:]), width) for row in rows]
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


def _in_prose(row: Sequence[str], headers: Sequence[str], columns: Sequence[int]) -> str:
    cells = [f"{headers[c]} {row[c]}" for c in columns if row[c] and (headers[c], row[c]) != ("verdict", row[1])]
    return f"{row[0]} {'; '.join(filter(None, (row[1], *cells, row[-1])))}"


# -- the whole run


def verdict_line(result: RunResult, width: int) -> str:
    """Headline and first reasons, broken to the window."""
    return loggable(fill(loggable(run_sentence(result)), width - 1))


def render_summary(
    result: RunResult, slug: str, *, attempt: str = "", width: int = 80, verbosity: int = 0
) -> list[str]:
    """Lines for the terminal: below 0 the verdict alone, above 0 with every fact lost."""
    verdict = verdict_line(result, width)
    width = max(_NARROWEST, width - 1)
    reused = [fill(line, width, "  ") for line in reuse_lines(result)]
    if verbosity < 0:
        return [verdict, *reused]
    reviewed = [fill(review_sentence(result.reviewed), width, "  ")] if result.reviewed else []
    head = text_lines(_TEMPLATE, "head", result=result, slug=slug, diagnosis=reason_text(result.diagnosed))
    origin = text_lines(_TEMPLATE, "origin", result=result, attempt=attempt)
    probed = probe_cells(result, shortened=True)
    blocks = [
        [_cut(line, width) for line in head],
        [f"  {line}" for line in figure_table(result.judgements, width - 2, of_set=True)],
        [fill(line, width, "  ") for line in alarm_lines(result)],
        _worst_cases(result, width),
        _losses(result, width) if verbosity > 0 else [],
        [fill(line, width, "  ") for line in memory_lines(result)],
        [f"  {line}" for line in table_lines(probed, words("probes"), width - 2)] if probed else [],
        [fill(line, width, "  ") for line in (*ungated_lines(result), *origin)],
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


def reuse_lines(result: RunResult) -> list[str]:
    """Which replies were not generated in this run, or only before it was interrupted, and what was not used."""
    return text_lines(_TEMPLATE, "reused", result=result)


def alarm_lines(result: RunResult) -> list[str]:
    """Alarms by state and who settled them, the judge's limits, what was not gated, what was cut off, waivers."""
    judges = (judge_line(result.manifest.judged, result.counts), *external_lines(result.manifest.judged))
    return text_lines(_TEMPLATE, "alarms", result=result, judges=judges)


def _worst_cases(result: RunResult, width: int) -> list[str]:
    """Cases that did not pass, the worst first, each with its curve."""
    wanted = [case for case in result.cases if case.verdict != Verdict.PASS]
    wanted.sort(key=lambda case: (WORST_FIRST.index(case.verdict), case.repeats[0].recall_at_t10 or 0.0, case.case_id))
    shown = wanted[:_MOST_CASES]
    longest = max((len(case.case_id) for case in shown), default=0)
    lines = []
    for case in shown:
        curve = sparkline([turn.recall for turn in case.repeats[0].turns if turn.probed])
        lines.append(_cut(f"  {case.verdict:<10} {case.case_id:<{longest}} {curve}", width))
        wrapped = textwrap.wrap(what_happened(case), max(_NARROWEST, width - 13))
        lines += [f"             {line}" for line in wrapped[:3]]
        if len(wrapped) > 3:
            lines[-1] = _cut(f"{lines[-1]} …", width)
    hidden = len(wanted) - len(shown)
    return lines + ([f"  … and {counted(hidden, 'more case')}"] if hidden else [])


def _losses(result: RunResult, width: int) -> list[str]:
    lines: list[str] = []
    for case in result.cases:
        of_facts = [([alarm for alarm in run.alarms if alarm.fact is not None], run.probes) for run in case.repeats]
        groups = [alarms for found, probes in of_facts for alarms in worst_first(found, probes)]
        lines += [f"  {case.case_id}"] if groups else []
        lines += [fill(alarm_sentence(*alarms), width, "    ") for alarms in groups]
    return ["  facts lost by turn", *lines] if lines else []
