"""What one case has to say when it is not a plain PASS."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from tabulate import tabulate

from pytest_clinical_drift.report.clean import one_line
from pytest_clinical_drift.report.figures import value_text, worse_text
from pytest_clinical_drift.report.sentences import alarm_sentence, alarm_title, event_sentence, opinion_lines
from pytest_clinical_drift.scoring.assessment import CONFIRMED, DISMISSED, OPEN, Alarm, CaseAssessment, FactFinding
from pytest_clinical_drift.verdict.values import (
    CAUTION,
    FAIL,
    INCOMPLETE,
    NOT_EVALUATED,
    SEVERE,
    CaseVerdict,
    Judgement,
    label,
)

WIDTH = 80
"""Failure texts go to terminals, junit files and CI pages: none of them is narrower."""
_MOST_ALARMS = 40
_NAMED = 3
"""Facts that a headline names where a rate decided."""
_ORDER = {CONFIRMED: 0, OPEN: 1, DISMISSED: 2}


def headline(verdict: CaseVerdict, repeats: Sequence[CaseAssessment]) -> str:
    """One line that tells what went wrong, the deadly things first."""
    if verdict.verdict == INCOMPLETE:
        cause = next((run.incomplete for run in repeats if run.incomplete), "recall or slope could not be evaluated")
        return one_line(f"INCOMPLETE: {cause}", 300)
    wanted = FAIL if verdict.waiver or verdict.verdict == FAIL else CAUTION
    decisive = [item for item in verdict.judgements if item.verdict == wanted]
    decisive.sort(key=lambda item: item.metric not in (*SEVERE, "stale_facts"))
    told = [text for item in decisive if (text := _reason(item, verdict.verdict))]
    if not any(item.events for item in decisive):
        told += _lost(repeats, confirmed_only=verdict.verdict == FAIL)
    return one_line("; ".join(told) or verdict.verdict, 300)


def _reason(item: Judgement, verdict: str) -> str:
    if item.value is None:
        return f"{label(item.metric)} not evaluated"
    if item.events:
        wanted = [e for e in item.events if e.state == CONFIRMED] if verdict == FAIL else item.events
        return "; ".join(event_sentence(event) for event in wanted)
    detail = f" ({item.detail})" if item.detail else ""
    worse = worse_text(item.metric, item.value, item.worst)
    both = f"{value_text(item.metric, item.value)}{f', {worse} with open alarms' if worse else ''}"
    return f"{label(item.metric)} {both} against {item.limit}{detail}"


def _lost(repeats: Sequence[CaseAssessment], *, confirmed_only: bool) -> list[str]:
    """The facts behind a low rate, those at the horizon first; nothing where a case simply passes."""
    alarms = [(run.horizon, alarm) for run in repeats for alarm in worst_first(run.alarms)]
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
    parts = [fill(first, width), judgement_table(verdict.judgements, width)]
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


def judgement_table(judgements: Sequence[Judgement], width: int = WIDTH) -> str:
    """Metric, value at both ends, limit of PASS and verdict, aligned; what else is to say wraps."""
    rows = [
        (
            label(item.metric),
            value_text(item.metric, item.value),
            worse_text(item.metric, item.value, item.worst),
            item.limit,
            item.verdict,
        )
        for item in judgements
    ]
    remarks = [
        item.detail if item.verdict == NOT_EVALUATED or item.metric == "k_conflict" else "" for item in judgements
    ]
    return "\n".join(table_lines(rows, ("metric", "value", "with open", "PASS limit", "verdict"), remarks, "", width))


def table_lines(
    rows: Sequence[Sequence[str]], headers: Sequence[str], remarks: Sequence[str], title: str, width: int
) -> list[str]:
    """A table whose last column wraps; columns without a value are left out, and where nothing fits it goes below."""
    kept = [column for column in range(len(headers)) if any(row[column] for row in rows)]
    cells = [[row[column] for column in kept] for row in rows]
    table = tabulate(cells, headers=[headers[column] for column in kept], tablefmt="plain", disable_numparse=True)
    lines = table.splitlines()
    column = max(map(len, lines)) + 2
    if column - 2 > width:
        return _blocks(rows, headers, remarks, width)
    room, beside = (width - column, True) if width - column >= 18 else (width - 6, False)
    shown = [f"{lines[0]:<{column}}{title if beside else ''}".rstrip()]
    for line, remark in zip(lines[1:], remarks, strict=True):
        told = textwrap.wrap(remark, max(18, room))
        if beside and told:
            shown.append(f"{line:<{column}}{told[0]}")
            shown += [" " * column + more for more in told[1:]]
        else:
            shown += [line.rstrip(), *(f"      {more}" for more in told)]
    return shown


def _blocks(rows: Sequence[Sequence[str]], headers: Sequence[str], remarks: Sequence[str], width: int) -> list[str]:
    """The rows of a table that does not fit, as prose."""
    shown = []
    for (name, value, *others), remark in zip(rows, remarks, strict=True):
        told = [f"{header} {cell}" for header, cell in zip(headers[2:], others, strict=True) if cell]
        shown.append(fill("; ".join((f"{name} {value}", *told, *filter(None, (remark,)))), width))
    return shown


def worst_first(alarms: Sequence[Alarm]) -> list[Alarm]:
    """Severe before others, confirmed before open, by turn; dismissed ones are left out."""
    kept = [alarm for alarm in alarms if alarm.state != DISMISSED]
    return sorted(kept, key=lambda a: (not a.severe, _ORDER[a.state], a.turn))


def runs_of_turns(alarms: Sequence[Alarm]) -> list[list[Alarm]]:
    """Alarms in the order given; those that repeat one finding on the turns that follow stand together."""
    runs: list[list[Alarm]] = []
    latest: dict[tuple[object, ...], list[Alarm]] = {}
    for alarm in alarms:
        same = (alarm.kind, alarm.state, alarm.fact, alarm.what, alarm.reason, alarm.quote)
        run = latest.get(same, [])
        if run and alarm.fact is not None and run[-1].turn + 1 == alarm.turn and not alarm.answers:
            run.append(alarm)
        else:
            latest[same] = [alarm]
            runs.append(latest[same])
    return runs


def _findings(run: CaseAssessment, width: int) -> list[str]:
    told = runs_of_turns(worst_first(run.alarms))
    lines: list[str] = []
    for first, *more in told[:_MOST_ALARMS]:
        lines.append(fill(alarm_sentence(first, more[-1].turn if more else None), width, "  "))
        lines += [fill(line, width, "      ") for line in opinion_lines(first.answers)]
    if len(told) > _MOST_ALARMS:
        hidden = sum(map(len, told[_MOST_ALARMS:]))
        lines.append(f"  … and {hidden} more {'alarm' if hidden == 1 else 'alarms'}; the dossier lists them all")
    dismissed = sum(alarm.state == DISMISSED for alarm in run.alarms)
    if dismissed:
        lines.append(f"  {dismissed} {'alarm was' if dismissed == 1 else 'alarms were'} dismissed")
    if run.truncated:
        lines.append(fill(f"note: {run.truncated} cut off by the token limit (--drift-set max_tokens=N)", width, "  "))
    if run.refused:
        lines.append(f"  note: {run.refused} empty {'text' if run.refused == 1 else 'texts'}")
    return lines + [fill(f"note: {one_line(note)}", width, "  ") for note in run.notes]


def facts_lost(run: CaseAssessment) -> list[str]:
    """One line for every change for the worse: which fact, on which turn, and the words that show it."""
    lines: list[str] = []
    before: dict[str, str | None] = {}
    for turn in run.turns:
        for finding in turn.findings:
            kind = finding.counts(worst=True)
            if kind is not None and kind != before.get(finding.fact_id):
                lines.append(f"turn {turn.turn}: {_loss(finding, kind)}")
            before[finding.fact_id] = kind
    return lines


def _loss(finding: FactFinding, kind: str) -> str:
    mark = " (hard stop)" if finding.hard_stop else ""
    state = "open: " if finding.state == OPEN else ""
    words = f': "{one_line(finding.quotes[0].text)}"' if finding.quotes and kind != "lost" else ""
    reason = f" – {one_line(finding.reason)}" if finding.reason and kind != "lost" else ""
    return f'{state}{kind} "{one_line(finding.text)}"{mark}{words}{reason}'
