"""One case as text, for terminals, junit files and CI pages: its figures, and every alarm with its opinions."""

from collections.abc import Sequence

from pytest_clinical_drift.report.clean import as_lines, one_line
from pytest_clinical_drift.report.figure_table import figure_table
from pytest_clinical_drift.report.headlines import case_headline
from pytest_clinical_drift.report.layout import fill
from pytest_clinical_drift.report.reasons import reason_text
from pytest_clinical_drift.report.sentences import alarm_sentence, opinion_line, worst_first
from pytest_clinical_drift.report.words import counted
from pytest_clinical_drift.results.models import CaseResult
from pytest_clinical_drift.scoring.assessment import Alarm, AlarmState, CaseAssessment
from pytest_clinical_drift.verdict.reasons import Verdict

WIDTH = 80
"""Of all the places where it is shown, none is narrower."""
_MOST_ALARMS = 40


def case_report(case: CaseResult, *, judge: str = "", width: int = WIDTH) -> str:
    """Headline, table of judgements, and every alarm with its state, quote and opinions, the worst first.

    `judge` is the line that names the judge and its limits.
    """
    first = case_headline(case)
    if case.verdict not in (Verdict.INCOMPLETE, first):  # there the verdict is the first word already
        first = f"{case.verdict}: {first}"
    parts = [fill(first, width), *figure_table(case.judgements, width)]
    for run in case.repeats:
        if len(case.repeats) > 1:
            parts.append(f"repeat {run.repeat + 1}")
        parts += _alarms(worst_first(run.alarms, run.probes), width)
        parts += [fill(line, width, "  ") for line in remark_lines(run)]
    parts.append(f"diagnosis: {reason_text(case.diagnosed)}")
    if judge:
        parts.append(fill(judge, width))
    if case.waiver:
        waiver = case.waiver
        waived = f"waived until {waiver.expires} by {one_line(waiver.signed_by)}: {one_line(waiver.reason)}"
        parts.append(fill(waived, width))
    return "\n".join(parts)


def _alarms(groups: Sequence[Sequence[Alarm]], width: int) -> list[str]:
    lines = []
    for alarms in groups[:_MOST_ALARMS]:
        lines.append(fill(alarm_sentence(*alarms), width, "  "))
        lines += [fill(opinion_line(opinion), width, "      ") for opinion in alarms[0].answers]
    hidden = sum(map(len, groups[_MOST_ALARMS:]))
    if hidden:
        lines.append(f"  … and {counted(hidden, 'more alarm')}; the dossier lists them all")
    return lines


def remark_lines(run: CaseAssessment) -> list[str]:
    """What to know of one conversation besides: dismissed alarms, texts cut off or empty, notes."""
    dismissed = sum(alarm.state == AlarmState.DISMISSED for alarm in run.alarms)
    lines = []
    if dismissed:
        lines.append(f"{counted(dismissed, 'alarm')} dismissed")
    if run.truncated:
        every = ", every reply among them" if run.all_cut else ""
        lines.append(f"note: {run.truncated} cut off by the token limit{every} (--drift-set max_tokens=N)")
    if run.refused:
        lines.append(f"note: {counted(run.refused, 'empty text')}")
    if run.replies_silent:
        replies = counted(len(run.turns), "reply")
        lines.append(f"note: {run.replies_silent} of {replies} say nothing (empty, or one word)")
    lines += [f"note: {one_line(note)}" for note in run.notes]
    return as_lines(*lines)
