"""The dossier: one self-contained page, from the results and the transcripts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from pytest_clinical_drift.report.dossier_view import alarm_groups, run_view, text_size
from pytest_clinical_drift.report.judge_text import SHARES, confusion_rows, judge_line, limit_rows
from pytest_clinical_drift.report.page import page_source, text_lines
from pytest_clinical_drift.report.sentences import who
from pytest_clinical_drift.report.svg import Line, curve_chart, limit_levels, sparkline
from pytest_clinical_drift.transcript import Transcript

FILE_NAME = "report.html"
_PAGE_LIMIT = 4_000_000
"""Characters of transcript text on one page; beyond it the cases that pass are shown without theirs."""
_ORDER = ("FAIL", "INCOMPLETE", "UNSETTLED", "CAUTION", "PASS")

Plain = Mapping[str, Any]


def render_report(
    record: Plain,
    transcripts: Mapping[str, Sequence[Transcript]],
    *,
    gate: Sequence[Mapping[str, str]],
    dossier: Plain,
    accuracy: Sequence[str],
    attempt: str = "",
) -> str:
    """The page's HTML. `gate` lists the limits in force, `dossier` is the sign-off sheet with every field."""
    recorded = {(case_id, run.repeat): run for case_id, runs in transcripts.items() for run in runs}
    groups = alarm_groups(record, recorded)
    judge = record["manifest"].get("judged")
    return page_source(
        "report.html.j2",
        styles=("page.css", "dossier.css"),
        scripts=("dossier.js",),
        record=record,
        attempt=attempt,
        rests_on=text_lines("meaning.txt.j2", "rests_on", record=record),
        cut=text_lines("meaning.txt.j2", "cut", grounds=record["grounds"]),
        judge_line=judge_line(judge, record["grounds"]),
        judge_rows=limit_rows(judge),
        share_names=list(SHARES.values()),
        confusions=confusion_rows(judge),
        dossier=dossier,
        groups={state: [g for g in groups if g["state"] == state] for state in ("open", "confirmed", "dismissed")},
        recall_chart=_recall_chart(record),
        quality_chart=_quality_chart(record),
        beside=text_lines("beside.txt.j2", "lines", record=record),
        cases=_cases(record, recorded, groups),
        counts={name: sum(case["verdict"] == name for case in record["cases"]) for name in _ORDER},
        gate=gate,
        accuracy=accuracy,
        sparkline=sparkline,
        who=who,
    )


def _recall_chart(record: Plain) -> Markup:
    lines = [
        Line("recall", record["average_recall_curve_critical"], "line-main"),
        Line("strict recall", record["average_strict_recall_curve_critical"], "line-second"),
        Line("extended set", record["average_recall_curve_extended"], "line-third"),
    ]
    if record["average_worst_recall_curve_critical"] != record["average_recall_curve_critical"]:
        lines.append(Line("recall with open alarms", record["average_worst_recall_curve_critical"], "line-fourth"))
    levels = limit_levels(record["limits"].get("recall_at_t10"))
    return curve_chart("Mean recall of critical facts by turn", lines, levels=levels, band=record["trend"]["band"])


def _quality_chart(record: Plain) -> Markup:
    lines = [
        Line("precision", record["average_precision_curve_extended"], "line-main"),
        Line("F1", record["average_f1_curve_extended"], "line-second"),
        Line("hallucinated rate", record["average_hallucinated_rate_curve_extended"], "line-third"),
    ]
    return curve_chart("Precision, F1 and hallucinated entities by turn (extended set)", lines)


def _cases(
    record: Plain, recorded: Mapping[tuple[str, int], Transcript], groups: Sequence[Plain]
) -> list[dict[str, Any]]:
    """The cases, the worst first; texts as far as the page holds them."""
    left = _PAGE_LIMIT
    shown = []
    for case in sorted(record["cases"], key=lambda item: (_ORDER.index(item["verdict"]), item["case_id"])):
        case_id, own = case["case_id"], [group for group in groups if group["case"] == case["case_id"]]
        transcripts = [recorded.get((case_id, run["repeat"])) for run in case["repeats"]]
        left -= sum(map(text_size, filter(None, transcripts)))
        runs = [
            run_view(case_id, run, transcript if left > 0 else None, own)
            for run, transcript in zip(case["repeats"], transcripts, strict=True)
        ]
        states = [group["state"] for group in own]
        shown.append({**case, "runs": runs, "open": states.count("open"), "confirmed": states.count("confirmed")})
    return shown
