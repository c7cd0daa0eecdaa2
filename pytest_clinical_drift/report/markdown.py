"""The summary for a CI page: GitHub-flavoured markdown in which model text stays text, and annotations."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_clinical_drift.report.clean import one_line
from pytest_clinical_drift.report.page import environment
from pytest_clinical_drift.report.terminal import alarm_lines

SUMMARY_VARIABLE = "GITHUB_STEP_SUMMARY"
SIGNS = {"PASS": "🟢", "CAUTION": "🟡", "FAIL": "🔴", "INCOMPLETE": "🟣", "PARTIAL": "⚪", "UNSETTLED": "🟠"}
_ORDER = ("FAIL", "INCOMPLETE", "UNSETTLED")

Plain = Mapping[str, Any]


def render_markdown(record: Plain, slug: str) -> str:
    """Verdict, reasons, alarms with the judge's limits, the gate's table and the cases that need a look."""
    cases = record["cases"]
    return (
        environment()
        .get_template("summary.md.j2")
        .render(
            record=record,
            slug=slug,
            signs=SIGNS,
            lines=alarm_lines(record),
            troubled=[case for wanted in _ORDER for case in cases if case["verdict"] == wanted],
            severe=[
                (case["case_id"], alarm)
                for state in ("confirmed", "open")
                for case in cases
                for run in case["repeats"]
                for alarm in run["alarms"]
                if alarm["severe"] and alarm["state"] == state
            ],
            what=_what,
        )
    )


def publish_markdown(record: Plain, slug: str) -> list[str]:
    """Append the summary to GitHub's page when running there; returns the annotations to print."""
    target = os.environ.get(SUMMARY_VARIABLE)
    if not target:
        return []
    try:
        with Path(target).open("a", encoding="utf-8") as page:
            page.write(render_markdown(record, slug) + "\n")
    except OSError as error:
        return [f"{SUMMARY_VARIABLE}: the summary could not be written ({error.strerror})"]
    return workflow_commands(record)


def workflow_commands(record: Plain) -> list[str]:
    """GitHub workflow commands, one per case that failed, could not be run, or is unsettled."""
    commands = []
    for case in record["cases"]:
        if case["verdict"] in _ORDER:
            level = "error" if case["verdict"] == "FAIL" else "warning"
            text = one_line(f"{case['case_id']}: {_what(case)}", 300).replace("%", "%25")
            commands.append(f"::{level} title=clinical drift::{text}")
    return commands


def _what(case: Plain) -> str:
    return next((run["incomplete"] for run in case["repeats"] if run["incomplete"]), None) or str(case["headline"])
