"""The dossier: one self-contained page, from the results and the transcripts; of large sets with a page per case."""

from collections.abc import Iterator

from pytest_clinical_drift.report.alarm_groups import Transcripts
from pytest_clinical_drift.report.dossier.page import case_pages, dossier_view
from pytest_clinical_drift.report.page import page_source
from pytest_clinical_drift.results.models import RunResult
from pytest_clinical_drift.results.releases import Standing
from pytest_clinical_drift.verdict.thresholds import Thresholds

REPORT_FILE = "report.html"
ONE_PAGE = 80
"""Most cases that one page holds with everything."""
_STYLES = ("page.css", "dossier.css")
_SCRIPTS = ("dossier.js",)


def render_report(result: RunResult, transcripts: Transcripts, thresholds: Thresholds, standing: Standing) -> str:
    """The page's HTML: the pages to sign, then the annex."""
    view = dossier_view(result, transcripts, thresholds, standing, apart=_has_case_pages(result))
    return page_source("dossier.html.j2", styles=_STYLES, scripts=_SCRIPTS, dossier=view)


def render_case_pages(result: RunResult, transcripts: Transcripts) -> Iterator[tuple[str, str]]:
    """File name and HTML of each case of a large set; nothing where one page holds them all."""
    if not _has_case_pages(result):
        return
    for view in case_pages(result, transcripts, REPORT_FILE):
        page = page_source("dossier_case_page.html.j2", styles=_STYLES, scripts=_SCRIPTS, page=view)
        yield f"{view.case.id}.html", page


def _has_case_pages(result: RunResult) -> bool:
    """Whether the set is too large for one page."""
    return len(result.cases) > ONE_PAGE
