"""The dossier: one self-contained page, from the results and the transcripts; of large sets with a page per case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from pytest_clinical_drift.report.dossier_pages import (
    MOST_LINES,
    ORDER,
    by_conversation,
    case_index,
    case_order,
    case_view,
    has_case_pages,
    page_of,
)
from pytest_clinical_drift.report.dossier_view import AlarmGroup, Transcripts, alarm_groups, run_view, text_size
from pytest_clinical_drift.report.judge_text import (
    against_answers,
    confusion_rows,
    judge_line,
    limit_rows,
)
from pytest_clinical_drift.report.meaning import cost_lines, rests_on_lines
from pytest_clinical_drift.report.memory import probe_rows, scheduled_turns, single_line
from pytest_clinical_drift.report.page import page_source
from pytest_clinical_drift.report.quality import quality_rows
from pytest_clinical_drift.report.reasons import reason_text, rests_on
from pytest_clinical_drift.report.reviews import review_sentence
from pytest_clinical_drift.report.sentences import alarm_title, who
from pytest_clinical_drift.report.sign_page import sign_values
from pytest_clinical_drift.report.svg import Line, curve_chart, sparkline
from pytest_clinical_drift.report.terminal import sparkline as bars
from pytest_clinical_drift.report.ungated import ungated_lines
from pytest_clinical_drift.report.words import label, words
from pytest_clinical_drift.results.models import RunResult
from pytest_clinical_drift.results.releases import Standing
from pytest_clinical_drift.scoring.assessment import AlarmState
from pytest_clinical_drift.transcript import Transcript
from pytest_clinical_drift.verdict.limits import MetricLimits
from pytest_clinical_drift.verdict.thresholds import Thresholds, load_thresholds

REPORT_FILE = "report.html"
_PAGE_LIMIT = 4_000_000
"""Characters of transcript text on one page; beyond it the cases that pass are shown without theirs."""


def render_report(
    result: RunResult,
    transcripts: Mapping[str, Sequence[Transcript]],
    *,
    thresholds: Thresholds,
    standing: Standing,
) -> str:
    """The page's HTML: the two pages to sign, then the annex."""
    apart = has_case_pages(result)
    recorded = {} if apart else by_conversation(transcripts)
    groups = alarm_groups(result, recorded)
    judge = result.manifest.judged
    memory = result.trend.memory if result.trend else None
    return page_source(
        "report.html.j2",
        styles=("page.css", "dossier.css"),
        scripts=("dossier.js",),
        result=result,
        **sign_values(result, standing, groups),
        diagnosis=reason_text(result.diagnosed),
        reviewed=review_sentence(result.reviewed) if result.reviewed else "",
        basis_lines=rests_on_lines(result),
        judge_line=judge_line(judge, result.counts),
        judge_rows=limit_rows(judge),
        share_names=list(words("shares").values()),
        confusions=confusion_rows(judge),
        groups={state: [group for group in groups if group.state == state] for state in AlarmState},
        quality_chart=_quality_chart(result),
        memory=memory,
        memory_rows=probe_rows(memory) if memory else [],
        single_line=single_line(memory) if memory else "",
        cost_line="; ".join(cost_lines(result)),
        against=result.counts.rules_against_judge if result.counts else {},
        against_answers=against_answers(result.counts),
        quality=quality_rows(result),
        beside=[(line.strip(), line[:1].isspace()) for line in ungated_lines(result)],
        cases=case_index(result, groups) if apart else _cases(result, recorded, groups),
        apart=apart,
        most=MOST_LINES,
        page_of=page_of,
        bars=bars,
        per_verdict={name: sum(case.verdict == name for case in result.cases) for name in ORDER},
        gate=_gate_rows(thresholds),
        manifest=result.manifest.model_dump(mode="json"),
        accuracy=words("measured", "accuracy"),
        sparkline=sparkline,
        who=who,
        title=alarm_title,
        reason_text=reason_text,
        rests_on=rests_on,
    )


def _quality_chart(result: RunResult) -> Markup:
    lines = [
        Line("precision", result.average_precision_curve_extended, "line-main"),
        Line("F1", result.average_f1_curve_extended, "line-second"),
        Line("hallucinated rate", result.average_hallucinated_rate_curve_extended, "line-third"),
    ]
    to = len(result.average_precision_curve_extended)
    title = f"Precision, F1 and hallucinated entities by turn (extended set), to turn {to}"
    return curve_chart(title, lines, probed=scheduled_turns(result))


def _cases(result: RunResult, recorded: Transcripts, groups: Sequence[AlarmGroup]) -> list[dict[str, Any]]:
    """The cases, the worst first; texts as far as the page holds them."""
    left = _PAGE_LIMIT
    shown = []
    for case in sorted(result.cases, key=case_order):
        own = [group for group in groups if group.case == case.case_id]
        transcripts = [recorded.get((case.case_id, run.repeat)) for run in case.repeats]
        left -= sum(map(text_size, filter(None, transcripts)))
        runs = [
            run_view(run, transcript if left > 0 else None, own)
            for run, transcript in zip(case.repeats, transcripts, strict=True)
        ]
        shown.append({**case_view(case, own), "runs": runs})
    return shown


def _gate_rows(thresholds: Thresholds) -> list[dict[str, str]]:
    """One row per limit, saying how it differs from the bundled one."""
    bundled = load_thresholds().metrics
    rows = [_row(name, limits, bundled.get(name)) for name, limits in thresholds.metrics.items()]
    blank = {"pass_limit": "", "caution_limit": "", "why": "", "change": "not gated here, gated by the bundled file"}
    return rows + [{"label": label(name), **blank} for name in bundled if name not in thresholds.metrics]


def _row(name: str, limits: MetricLimits, bundled: MetricLimits | None) -> dict[str, str]:
    change = "as bundled" if bundled else "not in the bundled file"
    if bundled and bundled != limits.model_copy(update={"why": bundled.why}):
        change = f"differs: bundled PASS {bundled.pass_limit}, CAUTION {bundled.caution_limit}"
    return {
        "label": label(name),
        "pass_limit": str(limits.pass_limit),
        "caution_limit": str(limits.caution_limit) + ("" if limits.worst == "fail" else " (never fails alone)"),
        "why": f"Gated although the thresholds leave it out: {limits.why}" if limits.implied else limits.why,
        "change": change,
    }
