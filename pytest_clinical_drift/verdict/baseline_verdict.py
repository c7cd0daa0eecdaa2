"""This run against an earlier one: paired by case, no worse than a margin, and no new hard stop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pytest_clinical_drift.metrics.line import steepest_slope
from pytest_clinical_drift.metrics.paired import NOT_WORSE, UNDECIDED, WORSE, PairedResult, compare_paired
from pytest_clinical_drift.verdict.baseline import Baseline
from pytest_clinical_drift.verdict.case_values import Repeats, case_value
from pytest_clinical_drift.verdict.thresholds import Thresholds
from pytest_clinical_drift.verdict.values import (
    CAUTION,
    FAIL,
    INCOMPLETE,
    PARTIAL,
    PASS,
    CaseVerdict,
    SetVerdict,
    label,
)

MOVES_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Move:
    """A case whose Recall@T10 changed."""

    case_id: str
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class BaselineComparison:
    """This run against the earlier one."""

    verdict: str
    """worse, not worse or undecided."""
    model: str
    """The earlier run's model."""
    metrics: Mapping[str, PairedResult]
    new_hard_stops: tuple[str, ...]
    """Cases without a hard stop or breach in the earlier run, and with one now."""
    moved: tuple[Move, ...]
    """The cases that moved most, the largest first."""
    pairs: int
    unpaired: tuple[str, ...]
    """Cases of this run that the earlier one did not bring to the end."""
    notes: tuple[str, ...] = ()


def compare_with_baseline(
    baseline: Baseline,
    cases: Sequence[Repeats],
    verdicts: Sequence[CaseVerdict],
    thresholds: Thresholds,
    notes: Sequence[str] = (),
) -> BaselineComparison:
    """Pair every complete case with its earlier self and judge the differences."""
    complete = [
        (repeats, verdict) for repeats, verdict in zip(cases, verdicts, strict=True) if verdict.verdict != INCOMPLETE
    ]
    paired = [(repeats, verdict) for repeats, verdict in complete if verdict.case_id in baseline.cases]
    metrics = {
        name: _compare_metric(name, baseline, [repeats for repeats, _ in paired], thresholds)
        for name in thresholds.metrics
        if name in _SPANS
    }
    stopped = tuple(v.case_id for _, v in paired if v.hard and not baseline.cases[v.case_id].hard)
    verdict, remarks = _overall(metrics, paired, thresholds)
    return BaselineComparison(
        verdict=WORSE if stopped else verdict,
        model=baseline.model,
        metrics=metrics,
        new_hard_stops=stopped,
        moved=_moves(baseline, [repeats for repeats, _ in paired]),
        pairs=len(paired),
        unpaired=tuple(v.case_id for _, v in complete if v.case_id not in baseline.cases),
        notes=(*notes, *remarks),
    )


_SPANS = {"recall_at_t10": 1.0, "strict_recall_at_t10": 1.0, "drift_slope": 2.0, "k_conflict": 1.0}
"""Compared metrics, with the largest difference of two values (for the slope: in steepest slopes)."""


def _compare_metric(name: str, baseline: Baseline, paired: Sequence[Repeats], thresholds: Thresholds) -> PairedResult:
    """Shown by what is confirmed.

    Worse: even if every open alarm of this run is dismissed and every earlier one stands. Not worse: also the other way
    round.
    """
    values = [(case_value(name, repeats), baseline.cases[repeats[0].case_id], repeats[0].group) for repeats in paired]
    shown, kindly, harshly = [], [], []
    for now, before, group in values:
        if now.best is None or name not in before.best:
            continue
        worst = now.best if now.worst is None else now.worst
        shown.append((now.best, before.best[name], group))
        kindly.append((now.best, before.worst[name], group))
        harshly.append((worst, before.best[name], group))
    span = _SPANS[name]
    if name == "drift_slope":
        span *= max((-steepest_slope(repeats[0].horizon) for repeats in paired), default=0.0)
    result = _paired(name, shown, span, thresholds)
    if kindly == harshly:
        return result
    is_worse = _paired(name, kindly, span, thresholds).verdict == WORSE
    is_not_worse = _paired(name, harshly, span, thresholds).verdict == NOT_WORSE
    return replace(result, verdict=WORSE if is_worse else NOT_WORSE if is_not_worse else UNDECIDED)


def _paired(name: str, rows: Sequence[tuple[float, float, str]], span: float, thresholds: Thresholds) -> PairedResult:
    rules, limits = thresholds.baseline, thresholds.metrics
    margins = {"drift_slope": rules.slope_margin, "k_conflict": rules.conflict_margin}
    return compare_paired(
        [after for after, _, _ in rows],
        [before for _, before, _ in rows],
        [group for _, _, group in rows],
        margin=margins.get(name, rules.margin),
        alpha=rules.alpha,
        claims=sum(metric in _SPANS and limits[metric].worst == "fail" for metric in limits),
        span=span,
        higher_is_better=limits[name].direction == "higher",
    )


def _overall(
    metrics: Mapping[str, PairedResult], paired: Sequence[tuple[Repeats, CaseVerdict]], thresholds: Thresholds
) -> tuple[str, list[str]]:
    """The worst metric decides; one that never fails a case can only leave it undecided."""
    fails = {name for name, limits in thresholds.metrics.items() if limits.worst == "fail"}
    if any(result.verdict == WORSE for name, result in metrics.items() if name in fails):
        return WORSE, []
    independent = len({repeats[0].group for repeats, _ in paired})
    if independent < thresholds.set.min_cases:
        return UNDECIDED, [f"{independent} independent pairs are fewer than the {thresholds.set.min_cases} needed"]
    open_questions = [result for result in metrics.values() if result.verdict != NOT_WORSE and result.pairs]
    missing = [name for name in ("recall_at_t10", "drift_slope") if metrics[name].pairs == 0]
    return (UNDECIDED if open_questions or missing else NOT_WORSE), []


def _moves(baseline: Baseline, paired: Sequence[Repeats]) -> tuple[Move, ...]:
    moves = []
    for repeats in paired:
        case_id = repeats[0].case_id
        after, before = case_value("recall_at_t10", repeats).best, baseline.cases[case_id].best.get("recall_at_t10")
        if after is not None and before is not None and abs(after - before) > 1e-9:
            moves.append(Move(case_id, before, after))
    moves.sort(key=lambda move: (-abs(move.after - move.before), move.case_id))
    return tuple(moves[:MOVES_SHOWN])


def apply_baseline(verdict: SetVerdict, comparison: BaselineComparison) -> SetVerdict:
    """The set's verdict with the comparison taken in: it can only get worse; a subset stays PARTIAL."""
    if comparison.verdict == NOT_WORSE:
        return verdict
    reason = f"baseline: {_sentence(comparison)}"
    outcome = verdict.verdict
    if comparison.verdict == WORSE and outcome != PARTIAL:
        outcome = FAIL
    elif outcome == PASS:
        outcome = CAUTION
    first = outcome == FAIL and verdict.verdict != FAIL
    reasons = (reason, *verdict.reasons) if first else (*verdict.reasons, reason)
    return replace(verdict, verdict=outcome, reasons=reasons)


def _sentence(comparison: BaselineComparison) -> str:
    if comparison.new_hard_stops:
        return f"new hard stop in {', '.join(comparison.new_hard_stops[:3])}"
    named = [label(name) for name, result in comparison.metrics.items() if result.verdict == comparison.verdict]
    where = f" in {', '.join(named)}" if named else ""
    return f"{comparison.verdict}{where} than the earlier run" if comparison.verdict == WORSE else f"undecided{where}"
