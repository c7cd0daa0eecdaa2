"""The junit file of a run that was not made by pytest itself: the same tests, messages and figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import pytest

from pytest_clinical_drift.gate.collected import CollectedCases
from pytest_clinical_drift.gate.finished import FinishedRun
from pytest_clinical_drift.gate.inside_pytest import write_junit
from pytest_clinical_drift.gate.items import STUDY, DriftResult
from pytest_clinical_drift.gate.publishing import whole_result
from pytest_clinical_drift.gate.reporting import WholeResult, figure_lines
from pytest_clinical_drift.report.judge_text import judge_line
from pytest_clinical_drift.results.models import CaseResult
from pytest_clinical_drift.transcript import Transcript

Report = tuple[pytest.TestReport, str]
"""A report and its system-out."""


def write_run_junit(
    file: Path, finished: FinishedRun, collected: CollectedCases, transcripts: Mapping[str, Sequence[Transcript]]
) -> None:
    """One test for each case, and one for the set."""
    judge = judge_line(finished.result.manifest.judged)
    cases = {case.id: case for case in finished.gate.cases}
    reports: list[Report] = []
    for case in finished.result.cases:
        held = tuple(transcripts.get(case.case_id, ()))
        reports += _of_case(finished, DriftResult(cases[case.case_id], held, case, judge))
    reports += _of_whole(whole_result(finished, collected))
    write_junit(file, f"clinical-drift {finished.gate.slug}", reports)


def _of_case(finished: FinishedRun, result: DriftResult) -> list[Report]:
    slug, case = finished.gate.slug, result.verdict
    place = f"{STUDY}/{case.case_id}"
    figures = result.properties(finished.result.manifest.judge)
    whole = WholeResult(
        place=place,
        name=slug,
        verdict=str(case.verdict),
        outcome="failed" if result.undecided or finished.gate.fails(case) else "passed",
        message=result.message,
        figures=figures,
        text=result.text,
        error=result.undecided,
    )
    return _reports(whole, result.text, duration=_seconds(case))


def _of_whole(whole: WholeResult) -> list[Report]:
    return _reports(whole, "", duration=0.0)


def _reports(whole: WholeResult, text: str, *, duration: float) -> list[Report]:
    when: Literal["setup", "call"] = "setup" if whole.error else "call"
    reports: list[Report] = []
    for phase in (when, "teardown"):
        decisive = phase == when
        report: Any = pytest.TestReport(
            nodeid=f"{whole.place}::{whole.name}",
            location=(whole.place, None, whole.name),
            keywords={},
            outcome=whole.outcome if decisive else "passed",
            longrepr=whole.longrepr if decisive else None,
            when=phase,
            user_properties=whole.figures,
            duration=duration if decisive else 0.0,
        )
        reports.append((report, figure_lines(whole.figures, text) if decisive else ""))
    return reports


def _seconds(case: CaseResult) -> float:
    return sum(run.generation_seconds or 0.0 for run in case.repeats)
