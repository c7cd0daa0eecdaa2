"""Several models or releases side by side, as tables: a column each, and each run against the first."""

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_clinical_drift.metrics.intervals import Interval, over_cases
from pytest_clinical_drift.report.headlines import run_headline
from pytest_clinical_drift.report.memory import by_turn, horizon_texts
from pytest_clinical_drift.report.reasons import reason_texts
from pytest_clinical_drift.report.words import judged_text, limit_values, number, rounded, span, sparkline, words
from pytest_clinical_drift.results.comparing import NamedRun, RunDifference
from pytest_clinical_drift.results.models import CaseResult, IntervalRecord, RunResult
from pytest_clinical_drift.scoring.assessment import AlarmState
from pytest_clinical_drift.verdict.metric_table import SEVERE

_NO_DIFFERENCE = ("",) * 5
"""The cells of the first run, which is compared with nothing."""


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    label: str
    cells: Sequence[str]
    """One per run."""


@dataclass(frozen=True, slots=True)
class ComparisonTable:
    head: str
    """Empty of the first."""
    rows: Sequence[ComparisonRow]


def comparison_tables(runs: Sequence[NamedRun], differences: Sequence[RunDifference]) -> list[ComparisonTable]:
    """The figures with each run's difference from the first, and PDSQI-9 where a run was rated."""
    against = [_NO_DIFFERENCE, *map(_difference, differences)]
    columns = [(*_figures(run.result), *cells) for run, cells in zip(runs, against, strict=True)]
    labels = words("compare")
    rows = [ComparisonRow(label, cells) for label, *cells in zip(labels, *columns, strict=True) if any(cells)]
    tables = [ComparisonTable("", rows)]
    rated = [{row.attribute: rounded(row.at_end) for row in run.result.pdsqi} for run in runs]
    names = next((list(column) for column in rated if column), [])
    if names:
        rows = [ComparisonRow(name, [column.get(name, "–") for column in rated]) for name in names]
        tables.append(ComparisonTable("PDSQI-9, at the end", rows))
    return tables


def recall_by_turn(result: RunResult) -> dict[int, float]:
    """Mean recall at the scheduled probes."""
    means = by_turn(result, result.average_recall_curve_critical)
    return {turn: value for turn, value in means.items() if value is not None}


def _figures(result: RunResult) -> tuple[str, ...]:
    """The cells of a run, in the order of the words."""
    at_end = result.judgement("recall_at_end")
    findings = " / ".join(str(count) for count, _ in result.findings.values())
    return (
        f"{result.cases_complete} of {result.cases_total}",
        _turns(result),
        figure(result, "recall_at_t10", result.entity_recall_at_t10),
        _ends(result.confidence_intervals.get("recall_at_t10"), limit_values(result.judgement("recall_at_t10"))),
        figure(result, "strict_recall_at_t10", result.strict_recall_at_t10),
        figure(result, "recall_at_end", at_end.value if at_end else None),
        _ends(at_end.interval if at_end else None, limit_values(at_end)),
        *_horizons(result),
        figure(result, "drift_slope", result.drift_slope_critical),
        f"{_conflicts(result)} ({result.knowledge_conflict_pairs})",
        f"{_severe(result, AlarmState.CONFIRMED)} ({_severe(result, AlarmState.OPEN)})",
        findings or "–",
        sparkline(list(recall_by_turn(result).values())),
        run_headline(result),
    )


def _turns(result: RunResult) -> str:
    memory = result.memory
    if memory is None:
        return "–"
    return str(memory.turns) if memory.shortest == memory.turns else f"{memory.shortest} to {memory.turns}"


def _horizons(result: RunResult) -> tuple[str, str]:
    """Of all facts and of hard stops."""
    if result.memory is None:
        return "–", "–"
    horizons = horizon_texts(result.memory)
    return horizons.facts, horizons.hard_stops


def _conflicts(result: RunResult) -> str:
    rate = result.judgement("k_conflict")
    return "–" if rate is None or rate.value is None else judged_text(rate)


def _severe(result: RunResult, state: AlarmState) -> int:
    """Cases with a severe event in a state."""
    return sum(_has_severe(case, state) for case in result.cases)


def _has_severe(case: CaseResult, state: AlarmState) -> bool:
    found: set[AlarmState] = set()
    for run in case.repeats:
        found |= {event.state for event in run.events if event.metric in SEVERE}
    return state in found


def figure(result: RunResult, metric: str, value: float | None) -> str:
    """A value of a metric with the digits that its limits ask for."""
    return number(metric, value, limit_values(result.judgement(metric)))


def _ends(interval: Interval | IntervalRecord | None, limits: Sequence[float], spec: str = ".2f") -> str:
    return span(interval.low, interval.high, spec, limits) if interval else "–"


def _difference(item: RunDifference) -> tuple[str, ...]:
    """A run against the first."""
    groups = f" in {item.groups} groups" if item.groups and item.groups != item.cases else ""
    shown = interval = verdict = "–"
    if item.recall:
        recall = item.recall
        held = (recall.margin, -recall.margin)
        shown = rounded(recall.difference, "+.3f", held)
        interval = _ends(over_cases(recall.interval), held, "+.3f")
        verdict = f"{recall.verdict} (margin {recall.margin:g})"
    return f"{item.cases}{groups}", shown, interval, verdict, "; ".join(reason_texts(item.remarks))
