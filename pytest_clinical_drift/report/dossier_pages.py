"""The dossier of a large set: its first page lists alarms and cases, each case has a page of its own in a folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pytest_clinical_drift.report.dossier_view import AlarmGroup, Transcripts, groups_of, run_view
from pytest_clinical_drift.report.headlines import case_headline
from pytest_clinical_drift.report.page import page_source
from pytest_clinical_drift.report.reasons import reason_text, rests_on
from pytest_clinical_drift.report.sentences import alarm_title, who
from pytest_clinical_drift.report.svg import sparkline
from pytest_clinical_drift.results.folders import CASE_PAGES
from pytest_clinical_drift.results.models import CaseResult, RunResult
from pytest_clinical_drift.scoring.assessment import AlarmState
from pytest_clinical_drift.transcript import Transcript
from pytest_clinical_drift.verdict.states import Verdict

ONE_PAGE = 80
"""Most cases that one page holds with everything."""
MOST_LINES = 1000
"""Groups of alarms of a state that the first page of a large set lists; all are on the pages of their cases."""
ORDER = (Verdict.FAIL, Verdict.INCOMPLETE, Verdict.UNSETTLED, Verdict.CAUTION, Verdict.PASS)


def has_case_pages(result: RunResult) -> bool:
    """Whether the set is too large for one page."""
    return len(result.cases) > ONE_PAGE


def page_of(case_id: str) -> str:
    """Where the first page finds that of a case; ids of cases are fit for file names."""
    return f"{CASE_PAGES}/{case_id}.html"


def by_conversation(transcripts: Mapping[str, Sequence[Transcript]]) -> Transcripts:
    return {(case_id, run.repeat): run for case_id, runs in transcripts.items() for run in runs}


def case_order(case: CaseResult) -> tuple[int, str]:
    """The worst first."""
    return ORDER.index(case.verdict), case.case_id


def case_view(case: CaseResult, groups: Sequence[AlarmGroup]) -> dict[str, Any]:
    """A case without its conversations."""
    states = [group.state for group in groups]
    return {
        "case_id": case.case_id,
        "verdict": case.verdict,
        "headline": case_headline(case),
        "diagnosis": reason_text(case.diagnosed),
        "waiver": case.waiver,
        "judgements": case.judgements,
        "open": states.count(AlarmState.OPEN),
        "confirmed": states.count(AlarmState.CONFIRMED),
    }


def case_index(result: RunResult, groups: Sequence[AlarmGroup]) -> list[dict[str, Any]]:
    """A line for each case, the worst first."""
    of_case: dict[str, list[AlarmGroup]] = {}
    for group in groups:
        of_case.setdefault(group.case, []).append(group)
    return [
        {**case_view(case, of_case.get(case.case_id, ())), "curves": [run.recall_curve for run in case.repeats]}
        for case in sorted(result.cases, key=case_order)
    ]


def render_case_pages(
    result: RunResult, transcripts: Mapping[str, Sequence[Transcript]], *, report: str
) -> Iterator[tuple[str, str]]:
    """File name and HTML of each case of a large set; nothing where one page holds them all."""
    for case in result.cases if has_case_pages(result) else ():
        recorded = by_conversation({case.case_id: transcripts.get(case.case_id, ())})
        groups = groups_of([case], recorded)
        runs = [run_view(run, recorded.get((case.case_id, run.repeat)), groups) for run in case.repeats]
        page = page_source(
            "dossier_case_page.html.j2",
            styles=("page.css", "dossier.css"),
            scripts=("dossier.js",),
            case={**case_view(case, groups), "runs": runs},
            groups=groups,
            model=result.manifest.model,
            report=report,
            sparkline=sparkline,
            who=who,
            title=alarm_title,
            reason_text=reason_text,
            rests_on=rests_on,
        )
        yield f"{case.case_id}.html", page
