"""The summary for a CI page: GitHub-flavoured markdown in which model text stays text, and annotations."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_clinical_drift.report import headlines
from pytest_clinical_drift.report.alarm_groups import AlarmGroup, alarm_groups
from pytest_clinical_drift.report.clean import LONGEST_LINE, one_line
from pytest_clinical_drift.report.evidence_text import alarm_lines, reuse_lines
from pytest_clinical_drift.report.figures import FigureRow, figure_rows
from pytest_clinical_drift.report.memory import memory_lines
from pytest_clinical_drift.report.page import render
from pytest_clinical_drift.report.reasons import reason_text, reason_texts, what_this_means
from pytest_clinical_drift.report.sentences import turn_list
from pytest_clinical_drift.report.words import judged_text
from pytest_clinical_drift.results.models import CaseResult, RunResult
from pytest_clinical_drift.scoring.assessment import AlarmState
from pytest_clinical_drift.verdict.reasons import Verdict

SUMMARY_VARIABLE = "GITHUB_STEP_SUMMARY"
SIGNS = {"PASS": "🟢", "CAUTION": "🟡", "FAIL": "🔴", "INCOMPLETE": "🟣", "PARTIAL": "⚪", "UNSETTLED": "🟠"}
_TROUBLED = (Verdict.FAIL, Verdict.INCOMPLETE, Verdict.UNSETTLED)
_MOST_REASONS = 6
_MOST_CASES = 40
_MOST_ALARMS = 20


@dataclass(frozen=True, slots=True)
class SignedFigure:
    """A row of the gate's table, and the sign of its verdict."""

    row: FigureRow
    sign: str


@dataclass(frozen=True, slots=True)
class TroubledCase:
    """A case that failed, could not be run, or is unsettled."""

    id: str
    verdict: Verdict
    sign: str
    recall: str
    what: str


@dataclass(frozen=True, slots=True)
class SevereAlarm:
    state: AlarmState
    case: str
    turns: str
    title: str
    quote: str


@dataclass(frozen=True, slots=True)
class SummaryView:
    """What the page of a CI run shows."""

    sign: str
    slug: str
    headline: str
    reasons: Sequence[str]
    diagnosis: str
    evidence: Sequence[str]
    """A line each: alarms, the judge's limits, what was cut off, waivers."""
    reused: Sequence[str]
    """Which replies were not generated in this run."""
    reviewed: str
    """What reviews changed; empty where there are none."""
    figures: Sequence[SignedFigure]
    memory: Sequence[str]
    troubled: int
    cases: Sequence[TroubledCase]
    """As many of them as the page lists."""
    severe: int
    alarms: Sequence[SevereAlarm]
    meaning: str


def render_markdown(result: RunResult, slug: str) -> str:
    """Verdict, reasons, alarms with the judge's limits, the gate's table and the cases that need a look."""
    return render("summary.md.j2", summary=_summary(result, slug))


def _summary(result: RunResult, slug: str) -> SummaryView:
    troubled: list[CaseResult] = []
    for wanted in _TROUBLED:
        troubled += [case for case in result.cases if case.verdict == wanted]
    groups = alarm_groups(result.cases)
    severe = [group for group in groups if group.severe and group.state != AlarmState.DISMISSED]
    return SummaryView(
        sign=SIGNS.get(result.verdict, ""),
        slug=slug,
        headline=headlines.run_headline(result),
        reasons=reason_texts(result.reasons[:_MOST_REASONS], result.judgements),
        diagnosis=reason_text(result.diagnosed),
        evidence=alarm_lines(result),
        reused=reuse_lines(result),
        reviewed=headlines.review_sentence(result.reviewed) if result.reviewed else "",
        figures=[SignedFigure(row, SIGNS.get(row.verdict, "")) for row in figure_rows(result.judgements, of_set=True)],
        memory=memory_lines(result),
        troubled=len(troubled),
        cases=[_troubled(case) for case in troubled[:_MOST_CASES]],
        severe=len(severe),
        alarms=[_severe(group) for group in severe[:_MOST_ALARMS]],
        meaning=what_this_means(result),
    )


def _troubled(case: CaseResult) -> TroubledCase:
    recall = next((item for item in case.judgements if item.metric == "recall_at_t10"), None)
    return TroubledCase(
        id=case.case_id,
        verdict=case.verdict,
        sign=SIGNS[case.verdict],
        recall="–" if recall is None or recall.value is None else judged_text(recall),
        what=headlines.what_happened(case),
    )


def _severe(group: AlarmGroup) -> SevereAlarm:
    return SevereAlarm(
        state=group.state,
        case=group.case,
        turns=turn_list(group.turns),
        title=group.title,
        quote=group.first.quote,
    )


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
