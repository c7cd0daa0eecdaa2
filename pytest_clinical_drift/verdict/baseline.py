"""A run against an earlier one, paired by case: no worse within a margin, and without a new severe failure.

`--drift-baseline` gates the run by it; `clinical-drift compare` shows several runs, each against the first.
"""

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

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
from pytest_clinical_drift.verdict.measures import Repeats
from pytest_clinical_drift.verdict.metric_table import CORE, METRICS
from pytest_clinical_drift.verdict.reasons import FigureState, Reason, ReasonCode, Verdict, reason
from pytest_clinical_drift.verdict.thresholds import BaselineRules, Thresholds
from pytest_clinical_drift.verdict.values import CaseVerdict, SetVerdict

MOVES_SHOWN = 5
_COMPARED = {name: metric.compared_span for name, metric in METRICS.items() if metric.compared_span is not None}
"""Compared metrics, with the largest difference of two values (for the slope: in steepest slopes)."""
_RECALL = "recall_at_t10"


def by_id(cases: Iterable[CaseVerdict]) -> dict[str, CaseVerdict]:
    """The cases that were run to the end."""
    return {case.case_id: case for case in cases if case.verdict != Verdict.INCOMPLETE}


def recall_spread(cases: Iterable[CaseVerdict]) -> Spread | None:
    """Recall@T10 over these cases, for planning the next run; None below two cases."""
    values = list(_recalls(cases).values())
    return Spread(statistics.fmean(values), statistics.stdev(values)) if len(values) > 1 else None


def _recalls(cases: Iterable[CaseVerdict]) -> dict[str, float]:
    """Recall@T10 of the cases that have it."""
    return {case.case_id: best[_RECALL] for case in cases if _RECALL in (best := case.best())}


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


class _Pair(NamedTuple):
    now: CaseVerdict
    before: CaseVerdict
    group: str
    horizon: int


def compare_with_baseline(
    earlier: Mapping[str, CaseVerdict],
    cases: Sequence[Repeats],
    verdicts: Sequence[CaseVerdict],
    thresholds: Thresholds,
    *,
    model: str = "",
    notes: Sequence[Reason] = (),
) -> BaselineComparison:
    """Pair every complete case with its earlier self and judge the differences.

    `earlier` are the earlier run's finished cases by id, `model` is its model.
    """
    first, complete = {repeats[0].case_id: repeats[0] for repeats in cases}, by_id(verdicts)
    pairs = [
        _Pair(now, earlier[name], first[name].group, first[name].horizon)
        for name, now in complete.items()
        if name in earlier
    ]
    metrics = {name: _compare_metric(name, pairs, thresholds) for name in thresholds.metrics if name in _COMPARED}
    stopped = _newly([case for case in complete.values() if case.failed_severely], earlier)
    independent, needed = len({pair.group for pair in pairs}), thresholds.set.min_cases
    # the worst metric decides; one that never fails a case can only leave it undecided
    lost = any(metrics[name].verdict == WORSE for name in metrics if thresholds.metrics[name].worst == "fail")
    few = [reason(ReasonCode.TOO_FEW_PAIRS, pairs=independent, needed=needed)]
    verdict = UNDECIDED
    if stopped or lost:
        verdict = WORSE
    elif independent >= needed and all(_lets_pass(name, result, pairs) for name, result in metrics.items()):
        verdict = NOT_WORSE
    new, old = _recalls(pair.now for pair in pairs), _recalls(pair.before for pair in pairs)
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


def _newly(severe: Iterable[CaseVerdict], earlier: Mapping[str, CaseVerdict]) -> tuple[str, ...]:
    """Those cases that had nothing severe in the earlier run."""
    return tuple(v.case_id for v in severe if v.case_id in earlier and not earlier[v.case_id].has_severe_event)


def _compare_metric(name: str, pairs: Sequence[_Pair], thresholds: Thresholds) -> PairedResult:
    """Shown by what is confirmed.

    Worse: even if every open alarm of this run is dismissed and every earlier one stands. Not worse: also the other way
    round.
    """
    rules, known = thresholds.baseline, [p for p in pairs if name in p.now.best() and name in p.before.best()]
    span, groups = _COMPARED[name], [pair.group for pair in known]
    if name == "drift_slope":
        span *= max((-steepest_slope(pair.horizon) for pair in pairs), default=0.0)

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

    now, now_worst = [pair.now.best()[name] for pair in known], [pair.now.worst()[name] for pair in known]
    before, before_worst = [pair.before.best()[name] for pair in known], [pair.before.worst()[name] for pair in known]
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
    items = [item for pair in pairs for item in pair.now.judgements if item.metric == name]
    return all(item.verdict == FigureState.NOT_APPLICABLE for item in items)


def apply_baseline(verdict: SetVerdict, comparison: BaselineComparison) -> SetVerdict:
    """The set's verdict with the comparison applied: it can only get worse; a subset stays PARTIAL."""
    if comparison.verdict == NOT_WORSE:
        return verdict
    metrics = [name for name, result in comparison.metrics.items() if result.verdict == comparison.verdict]
    why = reason(ReasonCode.BASELINE_UNDECIDED, metrics=metrics)
    now = Verdict.CAUTION if verdict.verdict == Verdict.PASS else verdict.verdict
    if comparison.verdict == WORSE:
        why = reason(ReasonCode.BASELINE_WORSE, metrics=metrics, new_severe=list(comparison.new_hard_stops))
        now = Verdict.PARTIAL if now == Verdict.PARTIAL else Verdict.FAIL
    first = now == Verdict.FAIL and verdict.verdict != Verdict.FAIL
    reasons = (why, *verdict.reasons) if first else (*verdict.reasons, why)
    return replace(verdict, verdict=now, reasons=reasons)


@dataclass(frozen=True, slots=True)
class RunDifference:
    """One run against the first, paired by case."""

    model: str
    against: str
    cases: int = 0
    """Cases that both have."""
    groups: int = 0
    """Independent groups among the cases: those are what the interval rests on."""
    recall: PairedResult | None = None
    """Recall@T10, positive: better than the first; None where they cannot be paired."""
    remarks: tuple[Reason, ...] = ()
    """Why the two cannot be paired, or in which cases something severe is new; whose recall nobody has read to the
    end."""


def compare_cases(
    names: tuple[str, str],
    cases: tuple[Sequence[CaseVerdict], Sequence[CaseVerdict]],
    groups: Mapping[str, str],
    rules: BaselineRules,
) -> RunDifference:
    """A run's cases against the first run's; `names` and `cases` are in that order, `groups` by case id."""
    new, old = map(_recalls, cases)
    shared = [case_id for case_id in old if case_id in new]
    after, before, group = [new[c] for c in shared], [old[c] for c in shared], [groups[c] for c in shared]
    result = compare_paired(after, before, group, margin=rules.margin, alpha=rules.alpha)
    stopped = _newly([case for case in by_id(cases[0]).values() if case.has_severe_event], by_id(cases[1]))
    remarks: list[Reason] = []
    if stopped:
        result = replace(result, verdict=WORSE)
        remarks.append(reason(ReasonCode.NEW_SEVERE, cases=list(stopped)))
    # the first run first
    told = (_unread_recall(name, run, shared) for name, run in zip(reversed(names), reversed(cases), strict=True))
    if unread := [run for run in told if run]:
        remarks.append(reason(ReasonCode.RECALL_UNREAD, runs=unread))
    return RunDifference(*names, len(shared), len(set(group)), result, tuple(remarks))


def _unread_recall(name: str, cases: Sequence[CaseVerdict], shared: Sequence[str]) -> dict[str, Any] | None:
    """Recall@T10 of a run at both ends, where alarms are open or only rules have looked; None where it was read."""
    paired = [case for case in cases if case.case_id in set(shared)]
    best, worst = [case.best()[_RECALL] for case in paired], [case.worst()[_RECALL] for case in paired]
    items = [item for case in paired for item in case.judgements if item.metric == _RECALL]
    if best == worst and all(item.verdict != FigureState.UNREAD for item in items):
        return None
    return {"name": name, "recall": statistics.fmean(best), "worst": statistics.fmean(worst)}


def comparison_exit_code(differences: Sequence[RunDifference]) -> int:
    """Of a comparison that gates: 1 where a run is worse than the first, 7 where it is undecided, else 0."""
    verdicts = {item.recall.verdict if item.recall else UNDECIDED for item in differences}
    if WORSE in verdicts:
        return 1
    return 0 if verdicts == {NOT_WORSE} else 7
