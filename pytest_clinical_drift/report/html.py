"""The dossier: one self-contained page, from the results and the transcripts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from pytest_clinical_drift.cases.files import parse_data, read_text
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.report.dossier_view import alarm_groups, run_view, text_size
from pytest_clinical_drift.report.judge_text import confusion_rows, judge_line, limit_rows
from pytest_clinical_drift.report.page import page_source, text_lines
from pytest_clinical_drift.report.sentences import who
from pytest_clinical_drift.report.svg import Line, curve_chart, limit_levels, sparkline
from pytest_clinical_drift.transcript import Transcript
from pytest_clinical_drift.verdict.limits import MetricLimits
from pytest_clinical_drift.verdict.thresholds import Thresholds, load_thresholds
from pytest_clinical_drift.verdict.values import label, words

FILE_NAME = "report.html"
_PAGE_LIMIT = 4_000_000
"""Characters of transcript text on one page; beyond it the cases that pass are shown without theirs."""
_ORDER = ("FAIL", "INCOMPLETE", "UNSETTLED", "CAUTION", "PASS")
_SHEET = "dossier.yaml"
_FIELDS = ("intended_use", "hazard_ids", "clinical_safety_officer", "reviewed_on", "decision", "signature")
"""Fields of the sign-off sheet that are shown even when they are empty."""

Plain = Mapping[str, Any]


def render_report(
    record: Plain,
    transcripts: Mapping[str, Sequence[Transcript]],
    *,
    thresholds: Thresholds,
    root: Path,
    attempt: str = "",
) -> str:
    """The page's HTML; the project's sign-off sheet is looked for in `root`."""
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
        share_names=list(words("shares").values()),
        confusions=confusion_rows(judge),
        dossier=_sign_off_sheet(root),
        groups={state: [g for g in groups if g["state"] == state] for state in ("open", "confirmed", "dismissed")},
        recall_chart=_recall_chart(record),
        quality_chart=_quality_chart(record),
        beside=text_lines("beside.txt.j2", "lines", record=record),
        cases=_cases(record, recorded, groups),
        counts={name: sum(case["verdict"] == name for case in record["cases"]) for name in _ORDER},
        gate=_gate_rows(thresholds),
        accuracy=words("measured", "accuracy"),
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
        "why": limits.why,
        "change": change,
    }


def _sign_off_sheet(root: Path) -> dict[str, Any]:
    """The project's sign-off sheet with every field; all are empty where there is no sheet."""
    file = root / _SHEET
    data = parse_data(file, read_text(file)) if file.is_file() else {}
    if not isinstance(data, dict):
        raise InputError(f"{file}: expected fields such as {', '.join(_FIELDS[:3])}, found {type(data).__name__}")
    return {**dict.fromkeys(_FIELDS), **{str(key): value for key, value in data.items()}}
