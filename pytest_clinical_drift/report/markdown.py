"""The summary for a CI page: GitHub-flavoured markdown in which model text stays text, and annotations."""

import os
from pathlib import Path

from pytest_clinical_drift.report import headlines, memory, reasons, terminal
from pytest_clinical_drift.report.clean import LONGEST_LINE, one_line
from pytest_clinical_drift.report.dossier_view import alarm_groups
from pytest_clinical_drift.report.page import environment, functions_of
from pytest_clinical_drift.results.models import RunResult
from pytest_clinical_drift.scoring.assessment import AlarmState
from pytest_clinical_drift.verdict.reasons import Verdict

SUMMARY_VARIABLE = "GITHUB_STEP_SUMMARY"
SIGNS = {"PASS": "🟢", "CAUTION": "🟡", "FAIL": "🔴", "INCOMPLETE": "🟣", "PARTIAL": "⚪", "UNSETTLED": "🟠"}
_TROUBLED = (Verdict.FAIL, Verdict.INCOMPLETE, Verdict.UNSETTLED)


def render_markdown(result: RunResult, slug: str) -> str:
    """Verdict, reasons, alarms with the judge's limits, the gate's table and the cases that need a look."""
    groups = alarm_groups(result.cases)
    values = {
        "result": result,
        "slug": slug,
        "signs": SIGNS,
        "troubled": [case for wanted in _TROUBLED for case in result.cases if case.verdict == wanted],
        "severe": [group for group in groups if group.severe and group.state != AlarmState.DISMISSED],
    }
    tools = functions_of(headlines, memory, reasons, terminal)
    return environment().get_template("summary.md.j2").render(**tools | values)


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
            text = one_line(f"{case.case_id}: {headlines.what_happened(case)}", LONGEST_LINE).replace("%", "%25")
            commands.append(f"::{level} title=clinical drift::{text}")
    return commands
