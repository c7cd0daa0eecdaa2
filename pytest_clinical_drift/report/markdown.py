"""The summary for a CI page: GitHub-flavoured markdown in which model text stays text, and annotations."""

import os
from collections.abc import Collection
from pathlib import Path

from pytest_clinical_drift.report.clean import LONGEST_LINE, one_line
from pytest_clinical_drift.report.dossier_view import alarm_groups
from pytest_clinical_drift.report.headlines import review_sentence, run_headline, what_happened
from pytest_clinical_drift.report.memory import memory_lines
from pytest_clinical_drift.report.page import environment
from pytest_clinical_drift.report.reasons import reason_text, reason_texts, what_this_means
from pytest_clinical_drift.report.terminal import alarm_lines
from pytest_clinical_drift.results.models import RunResult
from pytest_clinical_drift.scoring.assessment import AlarmState
from pytest_clinical_drift.verdict.measures import in_a_row
from pytest_clinical_drift.verdict.reasons import Verdict

SUMMARY_VARIABLE = "GITHUB_STEP_SUMMARY"
SIGNS = {"PASS": "🟢", "CAUTION": "🟡", "FAIL": "🔴", "INCOMPLETE": "🟣", "PARTIAL": "⚪", "UNSETTLED": "🟠"}
_TROUBLED = (Verdict.FAIL, Verdict.INCOMPLETE, Verdict.UNSETTLED)


def render_markdown(result: RunResult, slug: str) -> str:
    """Verdict, reasons, alarms with the judge's limits, the gate's table and the cases that need a look."""
    groups = alarm_groups(result.cases)
    template = environment().get_template("summary.md.j2")
    return template.render(
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
        severe=[group for group in groups if group.severe and group.state != AlarmState.DISMISSED],
        turn_list=turn_list,
        what=what_happened,
    )


def turn_list(turns: Collection[int]) -> str:
    """ "turn 3", "turns 3, 5 to 7": runs of three or more are joined."""
    runs = in_a_row(turns, lambda _: None, lambda turn: turn)
    parts = [f"{run[0]} to {run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs]
    return f"{'turn' if len(turns) == 1 else 'turns'} {', '.join(parts)}"


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
    lines = [
        ("error" if case.verdict == Verdict.FAIL else "warning", f"{case.case_id}: {what_happened(case)}")
        for case in result.cases
        if case.verdict in _TROUBLED
    ]
    return [
        f"::{level} title=clinical drift::{one_line(text, LONGEST_LINE).replace('%', '%25')}" for level, text in lines
    ]
