"""The dossier: one self-contained page, from the results and the transcripts; of large sets with a page per case."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from pytest_clinical_drift.metrics.horizon import SLOPE_TURNS
from pytest_clinical_drift.report.dossier_view import alarm_groups, case_view
from pytest_clinical_drift.report.headlines import review_sentence
from pytest_clinical_drift.report.judge_text import against_answers, judge_line, limit_rows
from pytest_clinical_drift.report.memory import probe_cells, scheduled_turns
from pytest_clinical_drift.report.page import page_source, text_lines
from pytest_clinical_drift.report.reasons import reason_text, rests_on, rests_on_lines, shared_lines, ungated_lines
from pytest_clinical_drift.report.sentences import alarm_title, who
from pytest_clinical_drift.report.sign_page import sign_values
from pytest_clinical_drift.report.svg import Line, curve_chart
from pytest_clinical_drift.report.terminal import sparkline
from pytest_clinical_drift.results.folders import CASE_PAGES
from pytest_clinical_drift.results.models import CaseResult, RunResult
from pytest_clinical_drift.results.releases import Standing
from pytest_clinical_drift.scoring.assessment import AlarmState
from pytest_clinical_drift.transcript import Transcript
from pytest_clinical_drift.verdict.bands import MetricLimits
from pytest_clinical_drift.verdict.states import WORST_FIRST
from pytest_clinical_drift.verdict.thresholds import Thresholds, load_thresholds

REPORT_FILE = "report.html"
ONE_PAGE = 80
"""Most cases that one page holds with everything."""
MOST_LINES = 1000
"""Groups of alarms of a state that the first page of a large set lists; all are on the pages of their cases."""
_PAGE_LIMIT = 4_000_000
"""Characters of transcript text on one page; beyond it the cases that pass are shown without theirs."""

Transcripts = Mapping[str, Sequence[Transcript]]
"""Conversations by case."""


def render_report(result: RunResult, transcripts: Transcripts, thresholds: Thresholds, standing: Standing) -> str:
    """The page's HTML: the two pages to sign, then the annex."""
    groups = alarm_groups(result.cases, transcripts)
    judge = result.manifest.judged
    memory = result.memory
    return _page(
        "dossier.html.j2",
        result=result,
        **sign_values(result, standing, groups),
        diagnosis=reason_text(result.diagnosed),
        reviewed=review_sentence(result.reviewed) if result.reviewed else "",
        basis_lines=rests_on_lines(result),
        judge_line=judge_line(judge, result.counts),
        judge_rows=limit_rows(judge),
        against_answers=against_answers(result.counts),
        groups={state: [group for group in groups if group.state == state] for state in AlarmState},
        quality_chart=_quality_chart(result),
        memory=memory,
        long=memory is not None and memory.turns > SLOPE_TURNS,
        memory_rows=probe_cells(result),
        end_lines=text_lines("memory.txt.j2", "end", result=result, memory=memory) if memory else [],
        single_lines=text_lines("memory.txt.j2", "single", memory=memory) if memory and memory.single else [],
        cost_line="; ".join(text_lines("terminal.txt.j2", "costs", result=result)),
        beside=[(line.strip(), line[:1].isspace()) for line in ungated_lines(result)],
        cases=_cases(result, transcripts),
        apart=_has_case_pages(result),
        most=MOST_LINES,
        folder=CASE_PAGES,
        per_verdict={name: sum(case.verdict == name for case in result.cases) for name in WORST_FIRST},
        gate=_gate_rows(thresholds),
        manifest=result.manifest.model_dump(mode="json"),
    )


def render_case_pages(result: RunResult, transcripts: Transcripts) -> Iterator[tuple[str, str]]:
    """File name and HTML of each case of a large set; nothing where one page holds them all."""
    for case in result.cases if _has_case_pages(result) else ():
        groups = alarm_groups([case], transcripts)
        view = case_view(case, groups, _by_repeat(case, transcripts))
        model = result.manifest.model
        page = _page("dossier_case_page.html.j2", view=view, groups=groups, model=model, report=REPORT_FILE)
        yield f"{case.case_id}.html", page


def _page(template: str, **values: Any) -> str:
    return page_source(
        template,
        styles=("page.css", "dossier.css"),
        scripts=("dossier.js",),
        **values,
        bars=sparkline,
        who=who,
        title=alarm_title,
        shared_lines=shared_lines,
        rests_on=rests_on,
    )


def _has_case_pages(result: RunResult) -> bool:
    """Whether the set is too large for one page."""
    return len(result.cases) > ONE_PAGE


def _by_repeat(case: CaseResult, transcripts: Transcripts) -> dict[int, Transcript]:
    return {run.repeat: run for run in transcripts.get(case.case_id, ())}


def _cases(result: RunResult, transcripts: Transcripts) -> list[dict[str, Any]]:
    """The cases, the worst first; texts as far as the page holds them."""
    left = _PAGE_LIMIT
    shown = []
    for case in sorted(result.cases, key=lambda case: (WORST_FIRST.index(case.verdict), case.case_id)):
        groups = alarm_groups([case])
        if _has_case_pages(result):
            shown.append(case_view(case, groups))
            continue
        recorded = _by_repeat(case, transcripts)
        left -= sum(len(e.reply.text) + len(e.summary.text) for run in recorded.values() for e in run.exchanges)
        shown.append(case_view(case, groups, recorded if left > 0 else {}))
    return shown


def _quality_chart(result: RunResult) -> Markup:
    lines = [
        Line("precision", result.average_precision_curve_extended, "line-main"),
        Line("F1", result.average_f1_curve_extended, "line-second"),
        Line("hallucinated rate", result.average_hallucinated_rate_curve_extended, "line-third"),
    ]
    to = len(result.average_precision_curve_extended)
    title = f"Precision, F1 and hallucinated entities by turn (extended set), to turn {to}"
    return curve_chart(title, lines, probed=scheduled_turns(result))


def _gate_rows(thresholds: Thresholds) -> list[tuple[str, MetricLimits | None, str]]:
    """Each metric with its limits, and how they differ from the bundled ones."""
    bundled, gated = load_thresholds().metrics, thresholds.metrics
    rows: list[tuple[str, MetricLimits | None, str]] = [
        (name, limits, _against(limits, bundled.get(name))) for name, limits in gated.items()
    ]
    return rows + [(name, None, "not gated here, gated by the bundled file") for name in bundled if name not in gated]


def _against(limits: MetricLimits, bundled: MetricLimits | None) -> str:
    if bundled is None:
        return "not in the bundled file"
    if bundled == limits.model_copy(update={"why": bundled.why}):
        return "as bundled"
    return f"differs: bundled PASS {bundled.pass_limit}, CAUTION {bundled.caution_limit}"
