"""A run against an earlier one, paired by case: no worse within a margin, and without a new severe failure.

`--drift-baseline` gates the run by it.
"""

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from pytest_clinical_drift.metrics.paired import (
    NOT_WORSE,
    UNDECIDED,
    WORSE,
    Comparison,
    PairedResult,
    Spread,
    compare_paired,
)
from pytest_clinical_drift.metrics.recall import steepest_slope
from pytest_clinical_drift.verdict.metric_table import CORE, METRICS
from pytest_clinical_drift.verdict.reasons import (
    BaselineUndecided,
    BaselineWorse,
    FigureState,
    Reason,
    TooFewPairs,
    Verdict,
)
from pytest_clinical_drift.verdict.thresholds import Thresholds
from pytest_clinical_drift.verdict.values import CaseResult, SetVerdict

MOVES_SHOWN = 5
_COMPARED = {name: metric.compared_span for name, metric in METRICS.items() if metric.compared_span is not None}
"""Compared metrics, with the largest difference of two values (for the slope: in steepest slopes)."""
RECALL = "recall_at_t10"
_Pair = tuple[CaseResult, CaseResult]
"""A case now, and in the earlier run."""


def by_id(cases: Iterable[CaseResult]) -> dict[str, CaseResult]:
    """The cases that were run to the end."""
    return {case.case_id: case for case in cases if case.verdict != Verdict.INCOMPLETE}


def recall_spread(cases: Iterable[CaseResult]) -> Spread | None:
    """Recall@T10 over these cases, for planning the next run; None below two cases."""
    values = list(recalls(cases).values())
    return Spread(statistics.fmean(values), statistics.stdev(values)) if len(values) > 1 else None


def recalls(cases: Iterable[CaseResult]) -> dict[str, float]:
    """Recall@T10 of the cases that have it."""
    return {case.case_id: best[RECALL] for case in cases if RECALL in (best := case.best())}


def comparison_rules(thresholds: Thresholds) -> Comparison:
    """The rules by which recall is compared; each compared metric that may fail a run is a claim."""
    rules, limits = thresholds.baseline, thresholds.metrics
    claims = sum(name in _COMPARED and limits[name].worst == "fail" for name in limits)
    return Comparison(rules.margin, rules.alpha, claims, thresholds.set.min_cases)


@dataclass(frozen=True, slots=True)
class Move:
    case_id: str
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class BaselineComparison:
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
    notes: tuple[Reason, ...] = ()


def compare_with_baseline(
    earlier: Mapping[str, CaseResult],
    cases: Sequence[CaseResult],
    thresholds: Thresholds,
    *,
    model: str = "",
    notes: Sequence[Reason] = (),
) -> BaselineComparison:
    """Pair every complete case with its earlier self and judge the differences.

    `earlier` are the earlier run's finished cases by id, `model` is its model.
    """
    complete = by_id(cases)
    pairs = [(now, earlier[name]) for name, now in complete.items() if name in earlier]
    metrics = {name: _compare_metric(name, pairs, thresholds) for name in thresholds.metrics if name in _COMPARED}
    stopped = newly_severe([case for case in complete.values() if case.failed_severely], earlier)
    independent, needed = len({now.group for now, _ in pairs}), thresholds.set.min_cases
    # the worst metric decides; one that never fails a case can only leave it undecided
    lost = any(metrics[name].verdict == WORSE for name in metrics if thresholds.metrics[name].worst == "fail")
    few = [TooFewPairs(pairs=independent, needed=needed)]
    verdict = UNDECIDED
    if stopped or lost:
        verdict = WORSE
    elif independent >= needed and all(_lets_pass(name, result, pairs) for name, result in metrics.items()):
        verdict = NOT_WORSE
    new, old = recalls(now for now, _ in pairs), recalls(before for _, before in pairs)
    moves = [Move(name, old[name], new[name]) for name in new if name in old and abs(new[name] - old[name]) > 1e-9]
    moves.sort(key=lambda move: (-abs(move.after - move.before), move.case_id))
    return BaselineComparison(
        verdict=verdict,
        model=model,
        metrics=metrics,
        new_hard_stops=stopped,
        moved=tuple(moves[:MOVES_SHOWN]),
        pairs=len(pairs),
        unpaired=tuple(name for name in complete if name not in earlier),
        notes=(*notes, *(few if independent < needed and not lost else ())),
    )


def newly_severe(severe: Iterable[CaseResult], earlier: Mapping[str, CaseResult]) -> tuple[str, ...]:
    """Those cases that had nothing severe in the earlier run."""
    return tuple(v.case_id for v in severe if v.case_id in earlier and not earlier[v.case_id].has_severe_event)


def _compare_metric(name: str, pairs: Sequence[_Pair], thresholds: Thresholds) -> PairedResult:
    """Shown by what is confirmed.

    Worse: even if every open alarm of this run is dismissed and every earlier one stands. Not worse: also the other way
    round.
    """
    rules, known = thresholds.baseline, [pair for pair in pairs if all(name in case.best() for case in pair)]
    span, groups = _COMPARED[name], [now.group for now, _ in known]
    if name == "drift_slope":
        span *= max((-steepest_slope(now.repeats[0].t10_turn) for now, _ in pairs), default=0.0)

    def compare(now: Sequence[float], before: Sequence[float]) -> PairedResult:
        return compare_paired(
            now,
            before,
            groups,
            margin={"drift_slope": rules.slope_margin, "k_conflict": rules.conflict_margin}.get(name, rules.margin),
            alpha=rules.alpha,
            claims=comparison_rules(thresholds).claims,
            span=span,
            higher_is_better=thresholds.metrics[name].direction == "higher",
        )

    now, before = ([pair[which].best()[name] for pair in known] for which in (0, 1))
    now_worst, before_worst = ([pair[which].worst()[name] for pair in known] for which in (0, 1))
    shown = compare(now, before)
    if (now, before) == (now_worst, before_worst):
        return shown
    verdict = UNDECIDED
    if compare(now, before_worst).verdict == WORSE:
        verdict = WORSE
    elif compare(now_worst, before).verdict == NOT_WORSE:
        verdict = NOT_WORSE
    return replace(shown, verdict=verdict)


def _lets_pass(name: str, result: PairedResult, pairs: Sequence[_Pair]) -> bool:
    """Whether a metric is not worse, or has no pair: one without which there is no verdict only if it cannot happen."""
    if result.pairs or name not in CORE:
        return result.verdict == NOT_WORSE or not result.pairs
    items = [item for now, _ in pairs for item in now.judgements if item.metric == name]
    return all(item.verdict == FigureState.NOT_APPLICABLE for item in items)


def apply_baseline(verdict: SetVerdict, comparison: BaselineComparison) -> SetVerdict:
    """The set's verdict with the comparison applied: it can only get worse; a subset stays PARTIAL."""
    if comparison.verdict == NOT_WORSE:
        return verdict
    metrics = [name for name, result in comparison.metrics.items() if result.verdict == comparison.verdict]
    why: Reason = BaselineUndecided(tuple(metrics))
    now = Verdict.CAUTION if verdict.verdict == Verdict.PASS else verdict.verdict
    if comparison.verdict == WORSE:
        why = BaselineWorse(metrics=tuple(metrics), new_severe=comparison.new_hard_stops)
        now = Verdict.PARTIAL if now == Verdict.PARTIAL else Verdict.FAIL
    first = now == Verdict.FAIL and verdict.verdict != Verdict.FAIL
    reasons = (why, *verdict.reasons) if first else (*verdict.reasons, why)
    return replace(verdict, verdict=now, reasons=reasons)
