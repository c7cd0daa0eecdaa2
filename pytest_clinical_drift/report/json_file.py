"""`study_c_results.json`: every figure with its evidence, and a manifest of what produced it."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from pydantic_core import to_jsonable_python

from pytest_clinical_drift.metrics.drift import token_decay_rate
from pytest_clinical_drift.metrics.recall import mean, mean_curve
from pytest_clinical_drift.report.case_text import headline
from pytest_clinical_drift.report.page import text_lines
from pytest_clinical_drift.report.sentences import alarm_title, event_sentence
from pytest_clinical_drift.scoring.assessment import CaseAssessment
from pytest_clinical_drift.verdict.grounds import Grounds, ungated
from pytest_clinical_drift.verdict.limits import MetricLimits
from pytest_clinical_drift.verdict.results_file import FILE_NAME, SCHEMA
from pytest_clinical_drift.verdict.thresholds import Thresholds
from pytest_clinical_drift.verdict.values import CaseVerdict, Judgement, SetVerdict


def results(
    cases: Sequence[tuple[Sequence[CaseAssessment], CaseVerdict]],
    verdict: SetVerdict,
    manifest: dict[str, Any],
    *,
    grounds: Grounds,
    thresholds: Thresholds,
) -> dict[str, Any]:
    runs = [run for repeats, _ in cases for run in repeats]
    complete = [run for run in runs if run.incomplete is None]
    values = {item.metric: item.value for item in verdict.judgements}
    counts = to_jsonable_python(grounds)
    record: dict[str, Any] = {
        "schema": SCHEMA,
        "verdict": verdict.verdict,
        "headline": verdict.headline,
        "reasons": list(verdict.reasons),
        "diagnosis": verdict.diagnosis,
        "cases_total": verdict.total,
        "cases_selected": verdict.selected,
        "cases_complete": verdict.complete,
        "failing_cases": list(verdict.failing),
        "entity_recall_at_t10": values.get("recall_at_t10"),
        "entity_recall_at_t10_extended": mean(_extended_at_horizon(run) for run in complete),
        "strict_recall_at_t10": values.get("strict_recall_at_t10"),
        "knowledge_conflict_rate": values.get("k_conflict"),
        "knowledge_conflict_pairs": sum(run.conflict.pairs for run in complete),
        "drift_slope_critical": values.get("drift_slope"),
        "drift_slope_extended": mean(run.slope_extended.slope if run.slope_extended else None for run in complete),
        "r_squared": mean(run.slope.r_squared if run.slope else None for run in complete),
        **_curves(complete),
        "confidence_intervals": {
            item.metric: {"low": item.interval.low, "high": item.interval.high, "method": item.interval.method}
            for item in verdict.judgements
            if item.interval is not None
        },
        "judgements": [_judgement(item) for item in verdict.judgements],
        "waivers": to_jsonable_python(verdict.waivers),
        "limits": {name: _limits(limits) for name, limits in thresholds.metrics.items()},
        "not_gated": list(ungated(thresholds)),
        "gated_anyway": thresholds.stand_anyway,
        "alarms": _alarm_counts(runs),
        "to_read": verdict.to_read,
        "severe_to_read": verdict.severe_to_read,
        "unread": verdict.unread,
        "grounds": counts,
        "cases": [_case(repeats, judged) for repeats, judged in cases],
        "what_this_means": " ".join(text_lines("meaning.txt.j2", "means", grounds=counts, verdict=verdict.verdict)),
        "manifest": manifest,
    }
    continuity = mean(run.alignment for run in complete)
    if continuity is not None:
        record["continuity_score"] = continuity
    else:
        record["continuity_not_evaluated"] = next(
            (run.alignment_reason for run in complete if run.alignment_reason), ""
        )
    return record


def write_results(record: dict[str, Any], folder: Path) -> Path:
    return write_atomically(folder / FILE_NAME, json.dumps(record, indent=1, ensure_ascii=True, allow_nan=False) + "\n")


def write_atomically(path: Path, text: str) -> Path:
    """Write a file in one step, so that nobody ever reads half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.write_text(text, encoding="utf-8")
    draft.replace(path)
    return path


def package_versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name in ("pytest-clinical-drift", "pytest", "numpy", "scipy", "pydantic", "torch", "transformers", "spacy"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _curves(complete: Sequence[CaseAssessment]) -> dict[str, Any]:
    curves: dict[str, Any] = {}
    for gold in ("critical", "extended"):
        for figure in ("recall", "precision", "f1", "hallucinated_rate"):
            per_case = [[getattr(getattr(turn, gold), figure) for turn in run.turns] for run in complete]
            curves[f"average_{figure}_curve_{gold}"] = mean_curve(per_case)
    curves["average_strict_recall_curve_critical"] = mean_curve([run.strict_curve for run in complete])
    curves["average_worst_recall_curve_critical"] = mean_curve([run.worst_curve for run in complete])
    context = [[turn.prompt_tokens for turn in run.turns] for run in complete]
    curves["average_context_tokens_curve"] = mean_curve(context)
    curves["truth_decay_rate_per_1000_tokens"] = mean(
        token_decay_rate(run.recall_curve[: run.horizon], tokens[: run.horizon])
        for run, tokens in zip(complete, context, strict=True)
    )
    lengths = [len(run.turns) for run in complete]
    curves["cases_per_turn"] = [sum(length > turn for length in lengths) for turn in range(max(lengths, default=0))]
    return curves


def _limits(limits: MetricLimits) -> dict[str, Any]:
    """A metric's limits in force: as comparisons to read, as numbers to draw."""
    return {
        "direction": limits.direction,
        "pass": str(limits.pass_limit),
        "caution": str(limits.caution_limit),
        "pass_value": limits.pass_limit.value,
        "caution_value": limits.caution_limit.value,
        "worst": limits.worst,
        "why": limits.why,
    }


def _alarm_counts(runs: Sequence[CaseAssessment]) -> dict[str, dict[str, int]]:
    counted: dict[str, dict[str, int]] = {}
    for run in runs:
        for alarm in run.alarms:
            of_kind = counted.setdefault(alarm.kind, {"confirmed": 0, "open": 0, "dismissed": 0})
            of_kind[alarm.state] += 1
    return dict(sorted(counted.items()))


def _case(repeats: Sequence[CaseAssessment], verdict: CaseVerdict) -> dict[str, Any]:
    return {
        "case_id": verdict.case_id,
        "verdict": verdict.verdict,
        "headline": headline(verdict, repeats),
        "diagnosis": verdict.diagnosis,
        "judgements": [_judgement(item) for item in verdict.judgements],
        "waiver": to_jsonable_python(verdict.waiver),
        "repeats": [_run(run) for run in repeats],
    }


def _run(run: CaseAssessment) -> dict[str, Any]:
    plain: dict[str, Any] = to_jsonable_python(run)
    # wall time differs between two equal runs; everything else in the file must not
    plain.pop("generation_seconds")
    for metric in ("hard_stops", "hard_stop_slips", "stale_facts", "contradicted_facts"):
        plain[metric] = [event_sentence(event) for event in run.events_of(metric)]
    for told, alarm in zip(plain["alarms"], run.alarms, strict=True):
        told["title"] = alarm_title(alarm)
    return {
        **plain,
        "recall_curve": list(run.recall_curve),
        "strict_recall_curve": list(run.strict_curve),
        "worst_recall_curve": list(run.worst_curve),
    }


def _judgement(item: Judgement) -> dict[str, Any]:
    plain = to_jsonable_python(item)
    return {key: value for key, value in plain.items() if value not in (None, "", [])} | {"value": item.value}


def _extended_at_horizon(run: CaseAssessment) -> float | None:
    return run.turns[run.horizon - 1].extended.recall if run.horizon <= len(run.turns) else None
