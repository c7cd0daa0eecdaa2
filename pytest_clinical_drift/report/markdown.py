"""The summary for a CI page: GitHub-flavoured markdown in which model text stays text, and annotations."""

import os
from pathlib import Path

from pytest_clinical_drift.report.clean import one_line
from pytest_clinical_drift.report.headlines import case_headline, incomplete_cause, review_sentence, run_headline
from pytest_clinical_drift.report.meaning import what_this_means
from pytest_clinical_drift.report.memory import memory_lines
from pytest_clinical_drift.report.page import environment
from pytest_clinical_drift.report.reasons import reason_text, reason_texts
from pytest_clinical_drift.report.sentences import alarm_sentence, worst_first
from pytest_clinical_drift.report.terminal import alarm_lines
from pytest_clinical_drift.results.models import CaseResult, RunResult
from pytest_clinical_drift.scoring.assessment import Alarm, AlarmState
from pytest_clinical_drift.verdict.states import Verdict

SUMMARY_VARIABLE = "GITHUB_STEP_SUMMARY"
SIGNS = {"PASS": "🟢", "CAUTION": "🟡", "FAIL": "🔴", "INCOMPLETE": "🟣", "PARTIAL": "⚪", "UNSETTLED": "🟠"}
_TROUBLED = (Verdict.FAIL, Verdict.INCOMPLETE, Verdict.UNSETTLED)


def render_markdown(result: RunResult, slug: str) -> str:
    """Verdict, reasons, alarms with the judge's limits, the gate's table and the cases that need a look."""
    return (
        environment()
        .get_template("summary.md.j2")
        .render(
            result=result,
            slug=slug,
            headline=run_headline(result),
            reasons=reason_texts(result.reasons, result.judgements),
            diagnosis=reason_text(result.diagnosed),
            meaning=what_this_means(result),
            reviewed=review_sentence(result.reviewed) if result.reviewed else "",
            signs=SIGNS,
            lines=alarm_lines(result),
            memory=[line.strip() for line in memory_lines(result)],
            troubled=[case for wanted in _TROUBLED for case in result.cases if case.verdict == wanted],
            severe=_severe(result),
            what=_what,
        )
    )


def _severe(result: RunResult) -> list[tuple[Alarm, str, str]]:
    """Each severe finding once, with its case and its sentence; confirmed ones first."""
    found = [
        (first, case.case_id, alarm_sentence(first, more[-1].turn if more else None))
        for case in result.cases
        for run in case.repeats
        for first, *more in worst_first(run.alarms, run.probes)
        if first.severe
    ]
    return sorted(found, key=lambda item: item[0].state != AlarmState.CONFIRMED)


def publish_markdown(result: RunResult, slug: str) -> list[str]:
    """Append the summary to GitHub's page when running there; returns the annotations to print."""
    target = os.environ.get(SUMMARY_VARIABLE)
    if not target:
        return []
    try:
        with Path(target).open("a", encoding="utf-8") as page:
            page.write(render_markdown(result, slug) + "\n")
    except OSError as error:
        return [f"{SUMMARY_VARIABLE}: the summary could not be written ({error.strerror})"]
    return workflow_commands(result)


def workflow_commands(result: RunResult) -> list[str]:
    """GitHub workflow commands, one per case that failed, could not be run, or is unsettled."""
    commands = []
    for case in result.cases:
        if case.verdict in _TROUBLED:
            level = "error" if case.verdict == Verdict.FAIL else "warning"
            text = one_line(f"{case.case_id}: {_what(case)}", 300).replace("%", "%25")
            commands.append(f"::{level} title=clinical drift::{text}")
    return commands


def _what(case: CaseResult) -> str:
    return incomplete_cause(case) if any(run.incomplete for run in case.repeats) else case_headline(case)
