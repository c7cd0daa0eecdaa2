"""What one case has to say when it is not a plain PASS."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from pytest_clinical_drift.report.clean import one_line
from pytest_clinical_drift.report.figures import interval_text, judged_text, shared_reasons, value_text, worse_text
from pytest_clinical_drift.report.sentences import alarm_sentence, alarm_title, event_sentence, opinion_lines
from pytest_clinical_drift.scoring.assessment import CONFIRMED, DISMISSED, OPEN, Alarm, CaseAssessment
from pytest_clinical_drift.verdict.case import in_a_row
from pytest_clinical_drift.verdict.values import (
    CAUTION,
    FAIL,
    INCOMPLETE,
    NOT_EVALUATED,
    SEVERE,
    CaseVerdict,
    Judgement,
    counted,
    label,
)

WIDTH = 80
"""Failure texts go to terminals, junit files and CI pages: none of them is narrower."""
_MOST_ALARMS = 40
_NAMED = 3
"""Facts that a headline names where a rate decided."""
_WIDE = 110
"""From here on the interval has a column of its own."""
_LEAST_ROOM = 18
"""Columns below which text does not wrap beside its row."""


def headline(verdict: CaseVerdict, repeats: Sequence[CaseAssessment]) -> str:
    """One line that tells what went wrong, the deadly things first."""
    if verdict.verdict == INCOMPLETE:
        cause = next((run.incomplete for run in repeats if run.incomplete), "recall or slope could not be evaluated")
        return one_line(f"INCOMPLETE: {cause}", 300)
    wanted = FAIL if verdict.waiver or verdict.verdict == FAIL else CAUTION
    decisive = [item for item in verdict.judgements if item.verdict == wanted]
    decisive.sort(key=lambda item: item.metric not in (*SEVERE, "stale_facts"))
    stops = {(event.fact, event.turn) for item in decisive if item.metric == "hard_stops" for event in item.events}
    told = [text for item in decisive if (text := _reason(item, verdict.verdict, stops))]
    if not any(item.events for item in decisive):
        told += _lost(repeats, confirmed_only=verdict.verdict == FAIL)
    return one_line("; ".join(told) or verdict.verdict, 300)


def _reason(item: Judgement, verdict: str, stops: Collection[tuple[str | None, int]]) -> str:
    """A decisive figure in words; a hard stop that is also a stale fact is told once."""
    if item.value is None:
        return f"{label(item.metric)} not evaluated"
    if item.events:
        wanted = [e for e in item.events if e.state == CONFIRMED or verdict != FAIL]
        if item.metric == "stale_facts":
            wanted = [e for e in wanted if (e.fact, e.turn) not in stops]
        return "; ".join(event_sentence(replace(event, quote=event.around or event.quote)) for event in wanted)
    detail = f" ({item.detail})" if item.detail else ""
    worse = worse_text(item.metric, item.value, item.worst)
    both = f"{value_text(item.metric, item.value)}{f', {worse} with open alarms' if worse else ''}"
    return f"{label(item.metric)} {both} against {item.limit}{detail}"


def _lost(repeats: Sequence[CaseAssessment], *, confirmed_only: bool) -> list[str]:
    """The facts behind a low rate, those at the horizon first; nothing where a case simply passes."""
    alarms = [(run.horizon, alarm) for run in repeats for row in worst_first(run.alarms) for alarm in row]
    wanted = [(h, a) for h, a in alarms if a.state == CONFIRMED or not confirmed_only]
    wanted.sort(key=lambda found: found[0] != found[1].turn)
    return [f"turn {a.turn}: {'open: ' if a.state == OPEN else ''}{alarm_title(a)}" for _, a in wanted[:_NAMED]]


def case_report(verdict: CaseVerdict, repeats: Sequence[CaseAssessment], *, judge: str = "", width: int = WIDTH) -> str:
    """Headline, table of judgements, and every alarm with its state, quote and opinions, the worst first.

    `judge` is the line that names the judge and its limits.
    """
    first = headline(verdict, repeats)
    if not first.startswith(verdict.verdict):
        first = f"{verdict.verdict}: {first}"
    parts = [fill(first, width), *figure_table([asdict(item) for item in verdict.judgements], width)]
    for run in repeats:
        parts += [f"repeat {run.repeat + 1}"] if len(repeats) > 1 else []
        parts += _findings(run, width)
    parts.append(f"diagnosis: {verdict.diagnosis}")
    if judge:
        parts.append(fill(judge, width))
    if waiver := verdict.waiver:
        parts.append(
            fill(f"waived until {waiver.expires} by {one_line(waiver.signed_by)}: {one_line(waiver.reason)}", width)
        )
    return "\n".join(parts)


def fill(text: str, width: int, indent: str = "") -> str:
    """Prose broken to a width, continued lines indented."""
    return textwrap.fill(text, max(40, width), initial_indent=indent, subsequent_indent=indent + "    ")


def figure_table(judgements: Sequence[Mapping[str, Any]], width: int, *, of_set: bool = False) -> list[str]:
    """Metric, value at both ends, interval, limit of PASS and verdict, aligned; what else is to say wraps.

    In a narrow window the interval moves to what wraps. `judgements` are as in the results file.
    """
    rows, shared = [], shared_reasons(judgements)
    for item in judgements:
        metric, value, interval = item["metric"], item["value"], interval_text(item)
        moved = f"interval {interval}" if interval and width < _WIDE else ""
        detail = item.get("detail", "") if of_set or metric == "k_conflict" or value is None else ""
        rows.append(
            (
                label(metric),
                judged_text(item, of_set=of_set),
                worse_text(metric, value, item.get("worst"), of_set=of_set),
                "" if moved else interval,
                item["limit"],
                item["verdict"],
                "; ".join(filter(None, (moved, "" if detail in shared else detail))),
            )
        )
    ends = ("set", "basis") if of_set else ("metric", "")
    headers = (ends[0], "value", "with open", "95 % interval", "PASS limit", "verdict", ends[1])
    return table_lines(rows, headers, width) + [fill(f"{NOT_EVALUATED}: {why}", width) for why in shared]


def table_lines(rows: Sequence[Sequence[str]], headers: Sequence[str], width: int) -> list[str]:
    """A table whose last column wraps, below its row where there is no room; too narrow for a table: prose.

    Columns without a value are left out.
    """
    kept = [column for column in range(len(headers) - 1) if any(row[column] for row in rows)]
    sizes = [max(len(line[column]) for line in (headers, *rows)) for column in kept]
    left = sum(sizes) + 2 * len(sizes)
    if left - 2 > width:
        named = [[row[1], *(f"{headers[c]} {row[c]}" for c in kept[2:] if row[c]), row[-1]] for row in rows]
        return [
            fill(f"{row[0]} {'; '.join(filter(None, cells))}", width) for row, cells in zip(rows, named, strict=True)
        ]
    beside = width - left >= _LEAST_ROOM
    lines = []
    for row in (headers, *rows):
        line = "  ".join(f"{row[column]:<{size}}" for column, size in zip(kept, sizes, strict=True))
        told = textwrap.wrap(row[-1], width - (left if beside else 6))
        if beside:
            first, *more = told or [""]
            lines += [f"{line}  {first}".rstrip(), *(" " * left + text for text in more)]
        else:
            lines += [line.rstrip(), *(f"      {text}" for text in told if row is not headers)]
    return lines


def worst_first(alarms: Sequence[Alarm]) -> list[list[Alarm]]:
    """Severe before others, confirmed before open, by turn; one finding on turns in a row stands together.

    Dismissed ones are left out. What somebody has given an opinion on stands alone.
    """

    def same(alarm: Alarm) -> tuple[object, ...]:
        alone = alarm.turn if alarm.answers or alarm.fact is None else 0
        return alarm.kind, alarm.state, alarm.severe, alarm.fact, alarm.what, alarm.reason, alarm.quote, alone

    runs = in_a_row([a for a in alarms if a.state != DISMISSED], same, lambda alarm: alarm.turn)
    return sorted(runs, key=lambda run: (not run[0].severe, run[0].state != CONFIRMED, run[0].turn))


def _findings(run: CaseAssessment, width: int) -> list[str]:
    told = worst_first(run.alarms)
    lines: list[str] = []
    for first, *more in told[:_MOST_ALARMS]:
        lines.append(fill(alarm_sentence(first, more[-1].turn if more else None), width, "  "))
        lines += [fill(line, width, "      ") for line in opinion_lines(first.answers)]
    if hidden := sum(map(len, told[_MOST_ALARMS:])):
        lines.append(f"  … and {counted(hidden, 'more alarm')}; the dossier lists them all")
    return lines + [fill(line, width, "  ") for line in _remarks(run)]


def _remarks(run: CaseAssessment) -> list[str]:
    dismissed = sum(alarm.state == DISMISSED for alarm in run.alarms)
    told = [f"{counted(dismissed, 'alarm')} dismissed"] if dismissed else []
    if run.truncated:
        every = ", every reply among them" if run.all_cut else ""
        told.append(f"note: {run.truncated} cut off by the token limit{every} (--drift-set max_tokens=N)")
    if run.refused:
        told.append(f"note: {counted(run.refused, 'empty text')}")
    return told + [f"note: {one_line(note)}" for note in run.notes]
