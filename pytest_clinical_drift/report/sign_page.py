"""The two pages to sign: what a person who accepts or rejects a release has to know, and nothing else."""

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from pytest_clinical_drift.report.dossier_view import AlarmGroup, run_name
from pytest_clinical_drift.report.headlines import headline_rest
from pytest_clinical_drift.report.judge_text import external_rows, external_tables
from pytest_clinical_drift.report.memory import horizon_texts, memory_chart, scheduled_turns
from pytest_clinical_drift.report.reasons import reason_texts
from pytest_clinical_drift.report.svg import Line, curve_chart, limit_levels
from pytest_clinical_drift.results.models import RunResult
from pytest_clinical_drift.results.releases import Standing, made_of
from pytest_clinical_drift.scoring.assessment import AlarmState
from pytest_clinical_drift.verdict.metric_table import SEVERE

_MOST = {"findings": 6, "hazards": 12, "dismissals": 5, "reasons": 4}
"""Lines of each list that fit on the two pages; all of them are in the annex."""


def sign_values(result: RunResult, standing: Standing, groups: Sequence[AlarmGroup]) -> dict[str, Any]:
    """The values of the page's template."""
    memory = result.trend.memory if result.trend else None
    hazards_of: dict[str, list[str]] = {case.case_id: [] for case in result.cases}
    for hazard, cases in result.hazards.items():
        for case in cases:
            hazards_of.setdefault(case, []).append(hazard)
    return {
        "standing": standing,
        "fits": _MOST,
        "headline_rest": headline_rest(result),
        "reasons": reason_texts(result.reasons, result.judgements),
        "severe_groups": {
            state: [group for group in groups if group.severe and group.state == state] for state in AlarmState
        },
        "hazards_of": hazards_of,
        "shown_words": _words(result),
        "severe_figures": [item for item in result.judgements if item.metric in SEVERE],
        "tested": made_of(result.manifest),
        "external": [(table, external_rows(table)) for table in external_tables(result.manifest.judged)],
        "recall_chart": recall_chart(result),
        "memory_chart": memory_chart(result),
        "horizons": horizon_texts(memory) if memory else {},
    }


def _words(result: RunResult) -> dict[tuple[str, str | None, int], str]:
    """The words of a finding among those around them, by conversation, fact and turn."""
    return {
        (run_name(run), event.fact, event.turn): event.around
        for run in result.runs
        for event in run.events
        if event.around
    }


def recall_chart(result: RunResult) -> Markup:
    lines = [
        Line("recall", result.average_recall_curve_critical, "line-main"),
        Line("strict recall", result.average_strict_recall_curve_critical, "line-second"),
    ]
    if result.average_worst_recall_curve_critical != result.average_recall_curve_critical:
        lines.append(Line("recall with open findings", result.average_worst_recall_curve_critical, "line-fourth"))
    levels = limit_levels(result.limits.get("recall_at_t10"))
    band = result.trend.band if result.trend else ()
    title = f"Mean recall of critical facts by turn, to turn {len(result.average_recall_curve_critical)}"
    return curve_chart(title, lines, levels=levels, band=band, probed=scheduled_turns(result))
