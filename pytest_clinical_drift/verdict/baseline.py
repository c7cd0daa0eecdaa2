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
from pytest_clinical_drift.verdict.thresholds import BaselineRules, Thresholds
from pytest_clinical_drift.verdict.values import CaseResult, SetVerdict

MOVES_SHOWN = 5
_COMPARED = {name: metric.compared_span for name, metric in METRICS.items() if metric.compared_span is not None}
"""Compared metrics, with the largest difference of two values (for the slope: in steepest slopes)."""
RECALL = "recall_at_t10"


@dataclass(frozen=True, slots=True)
class _Pair:
    """A case now, and in the earlier run."""

    now: CaseResult
    before: CaseResult

    def has(self, metric: str) -> bool:
        """Whether both have a value of this metric."""
        return metric in self.now.best() and metric in self.before.best()


def by_id(cases: Iterable[CaseResult]) -> dict[str, CaseResult]:
    """The cases that were run to the end."""
    return {case.case_id: case for case in cases if case.verdict != Verdict.INCOMPLETE}


def recall_spread(cases: Iterable[CaseResult]) -> Spread | None:
    """Recall@T10 over these cases, for planning the next run; None below two cases."""
    values = list(recalls(cases).values())
    if len(values) < 2:
        return None
    return Spread(statistics.fmean(values), statistics.stdev(values))


def recalls(cases: Iterable[CaseResult]) -> dict[str, float]:
    """Recall@T10 of the cases that have it."""
    found: dict[str, float] = {}
    for case in cases:
        best = case.best()
        if RECALL in best:
            found[case.case_id] = best[RECALL]
    return found


def comparison_rules(thresholds: Thresholds) -> Comparison:
    """The rules by which recall is compared; each compared metric that may fail a run is a claim."""
    rules = thresholds.baseline
    claims = sum(name in _COMPARED and limits.worst == "fail" for name, limits in thresholds.metrics.items())
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
    pairs = [_Pair(now, earlier[name]) for name, now in complete.items() if name in earlier]
    metrics = {name: _compare_metric(name, pairs, thresholds) for name in thresholds.metrics if name in _COMPARED}
    stopped = newly_severe(_failed_severely(complete.values()), earlier)
    groups = len({pair.now.group for pair in pairs})
    needed = thresholds.set.min_cases
    lost = _is_lost(metrics, thresholds)
    verdict = UNDECIDED
    if stopped or lost:
        verdict = WORSE
    elif groups >= needed and _all_let_pass(metrics, pairs):
        verdict = NOT_WORSE
    too_few = [TooFewPairs(pairs=groups, needed=needed)] if groups < needed and not lost else []
    return BaselineComparison(
        verdict=verdict,
        model=model,
        metrics=metrics,
        new_hard_stops=stopped,
        moved=tuple(_moves(pairs)[:MOVES_SHOWN]),
        pairs=len(pairs),
        unpaired=tuple(name for name in complete if name not in earlier),
        notes=(*notes, *too_few),
    )


def _failed_severely(cases: Iterable[CaseResult]) -> list[CaseResult]:
    return [case for case in cases if case.failed_severely]


def _all_let_pass(metrics: Mapping[str, PairedResult], pairs: Sequence[_Pair]) -> bool:
    return all(_lets_pass(name, result, pairs) for name, result in metrics.items())


def _is_lost(metrics: Mapping[str, PairedResult], thresholds: Thresholds) -> bool:
    """The worst metric decides; one that never fails a case can only leave it undecided."""
    worse = [name for name, result in metrics.items() if result.verdict == WORSE]
    return any(thresholds.metrics[name].worst == "fail" for name in worse)


def _moves(pairs: Sequence[_Pair]) -> list[Move]:
    """Cases whose recall changed, the largest change first."""
    new = recalls(pair.now for pair in pairs)
    old = recalls(pair.before for pair in pairs)
    moves = [Move(name, old[name], new[name]) for name in new if name in old]
    moved = [move for move in moves if abs(move.after - move.before) > 1e-9]
    return sorted(moved, key=lambda move: (-abs(move.after - move.before), move.case_id))


def newly_severe(severe: Iterable[CaseResult], earlier: Mapping[str, CaseResult]) -> tuple[str, ...]:
    """Those cases that had nothing severe in the earlier run."""
    known = [case.case_id for case in severe if case.case_id in earlier]
    return tuple(name for name in known if not earlier[name].has_severe_event)


@dataclass(frozen=True, slots=True)
class _Comparer:
    """How one metric is compared, and on which cases."""

    groups: Sequence[str]
    margin: float
    alpha: float
    claims: int
    span: float
    higher_is_better: bool

    def __call__(self, now: Sequence[float], before: Sequence[float]) -> PairedResult:
        return compare_paired(
            now,
            before,
            self.groups,
            margin=self.margin,
            alpha=self.alpha,
            claims=self.claims,
            span=self.span,
            higher_is_better=self.higher_is_better,
        )


def _compare_metric(name: str, pairs: Sequence[_Pair], thresholds: Thresholds) -> PairedResult:
    """Shown by what is confirmed.

    Worse: even if every open alarm of this run is dismissed and every earlier one stands. Not worse: also the other way
    round.
    """
    known = [pair for pair in pairs if pair.has(name)]
    compare = _Comparer(
        groups=[pair.now.group for pair in known],
        margin=_margin(name, thresholds.baseline),
        alpha=thresholds.baseline.alpha,
        claims=comparison_rules(thresholds).claims,
        span=_span(name, pairs),
        higher_is_better=thresholds.metrics[name].direction == "higher",
    )
    now = [pair.now.best()[name] for pair in known]
    before = [pair.before.best()[name] for pair in known]
    now_worst = [pair.now.worst()[name] for pair in known]
    before_worst = [pair.before.worst()[name] for pair in known]
    shown = compare(now, before)
    if now == now_worst and before == before_worst:
        return shown
    if compare(now, before_worst).verdict == WORSE:
        return replace(shown, verdict=WORSE)
    not_worse = compare(now_worst, before).verdict == NOT_WORSE
    return replace(shown, verdict=NOT_WORSE if not_worse else UNDECIDED)


def _margin(name: str, rules: BaselineRules) -> float:
    if name == "drift_slope":
        return rules.slope_margin
    return rules.conflict_margin if name == "k_conflict" else rules.margin


def _span(name: str, pairs: Sequence[_Pair]) -> float:
    """The largest difference that two values of a metric can have."""
    if name != "drift_slope":
        return _COMPARED[name]
    steepest = max((-steepest_slope(pair.now.repeats[0].t10_turn) for pair in pairs), default=0.0)
    return _COMPARED[name] * steepest


def _lets_pass(name: str, result: PairedResult, pairs: Sequence[_Pair]) -> bool:
    """Whether a metric is not worse, or has no pair: one without which there is no verdict only if it cannot happen."""
    if result.pairs:
        return result.verdict == NOT_WORSE
    return name not in CORE or all(_cannot_happen(name, pair.now) for pair in pairs)


def _cannot_happen(name: str, case: CaseResult) -> bool:
    items = [item for item in case.judgements if item.metric == name]
    return all(item.verdict == FigureState.NOT_APPLICABLE for item in items)


def apply_baseline(verdict: SetVerdict, comparison: BaselineComparison) -> SetVerdict:
    """The set's verdict with the comparison applied: it can only get worse; a subset stays PARTIAL."""
    if comparison.verdict == NOT_WORSE:
        return verdict
    metrics = tuple(name for name, result in comparison.metrics.items() if result.verdict == comparison.verdict)
    if comparison.verdict == WORSE:
        return _with_worse(verdict, BaselineWorse(metrics, new_severe=comparison.new_hard_stops))
    now = Verdict.CAUTION if verdict.verdict == Verdict.PASS else verdict.verdict
    return replace(verdict, verdict=now, reasons=(*verdict.reasons, BaselineUndecided(metrics)))


def _with_worse(verdict: SetVerdict, why: BaselineWorse) -> SetVerdict:
    if verdict.verdict in (Verdict.PARTIAL, Verdict.FAIL):
        return replace(verdict, reasons=(*verdict.reasons, why))
    return replace(verdict, verdict=Verdict.FAIL, reasons=(why, *verdict.reasons))
