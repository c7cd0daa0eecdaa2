"""A run against an earlier one, paired by case: no worse within a margin, and without a new severe failure.

`--drift-baseline` gates the run by it; `clinical-drift compare` shows several runs, each against the first.
"""

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pytest_clinical_drift.metrics.paired import NOT_WORSE, UNDECIDED, WORSE, PairedResult, compare_paired
from pytest_clinical_drift.metrics.power import Comparison, Spread
from pytest_clinical_drift.metrics.recall import steepest_slope
from pytest_clinical_drift.verdict.measures import Repeats
from pytest_clinical_drift.verdict.metric_table import CORE, METRICS, case_value
from pytest_clinical_drift.verdict.reasons import Reason, ReasonCode, reason
from pytest_clinical_drift.verdict.states import FigureState, Verdict
from pytest_clinical_drift.verdict.thresholds import BaselineRules, Thresholds
from pytest_clinical_drift.verdict.values import CaseVerdict, SetVerdict

MOVES_SHOWN = 5
_COMPARED = {name: metric.compared_span for name, metric in METRICS.items() if metric.compared_span is not None}
"""Compared metrics, with the largest difference of two values (for the slope: in steepest slopes)."""

Earlier = Mapping[str, CaseVerdict]
"""The earlier run's finished cases by id."""


def by_id(cases: Iterable[CaseVerdict]) -> dict[str, CaseVerdict]:
    """The cases that were run to the end."""
    return {case.case_id: case for case in cases if case.verdict != Verdict.INCOMPLETE}


def recall_spread(cases: Iterable[CaseVerdict]) -> Spread | None:
    """Recall@T10 over these cases, for planning the next run; None below two cases."""
    values = [value for case in cases if (value := case.best().get("recall_at_t10")) is not None]
    return Spread(statistics.fmean(values), statistics.stdev(values)) if len(values) > 1 else None


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
    earlier: Earlier,
    cases: Sequence[Repeats],
    verdicts: Sequence[CaseVerdict],
    thresholds: Thresholds,
    *,
    model: str = "",
    notes: Sequence[Reason] = (),
) -> BaselineComparison:
    """Pair every complete case with its earlier self and judge the differences; `model` is the earlier run's."""
    complete = [both for both in zip(cases, verdicts, strict=True) if both[1].verdict != Verdict.INCOMPLETE]
    paired = [repeats for repeats, _ in complete if repeats[0].case_id in earlier]
    metrics = {
        name: _compare_metric(name, earlier, paired, thresholds) for name in thresholds.metrics if name in _COMPARED
    }
    now = [verdict for _, verdict in complete]
    stopped = _newly([v for v in now if v.failed_severely], earlier)
    verdict, remarks = _overall(metrics, paired, thresholds)
    return BaselineComparison(
        verdict=WORSE if stopped else verdict,
        model=model,
        metrics=metrics,
        new_hard_stops=stopped,
        moved=_moves(earlier, paired),
        pairs=len(paired),
        unpaired=tuple(v.case_id for v in now if v.case_id not in earlier),
        notes=(*notes, *remarks),
    )


def _newly(severe: Iterable[CaseVerdict], earlier: Earlier) -> tuple[str, ...]:
    """Those cases that had nothing severe in the earlier run."""
    return tuple(v.case_id for v in severe if v.case_id in earlier and not earlier[v.case_id].has_severe_event)


def _compare_metric(name: str, earlier: Earlier, paired: Sequence[Repeats], thresholds: Thresholds) -> PairedResult:
    """Shown by what is confirmed.

    Worse: even if every open alarm of this run is dismissed and every earlier one stands. Not worse: also the other way
    round.
    """
    shown, kindly, harshly = [], [], []
    for repeats in paired:
        now, before, group = case_value(name, repeats), earlier[repeats[0].case_id], repeats[0].group
        best, worst = before.best().get(name), before.worst().get(name)
        if now.best is None or now.worst is None or best is None or worst is None:
            continue
        shown.append((now.best, best, group))
        kindly.append((now.best, worst, group))
        harshly.append((now.worst, best, group))
    span = _COMPARED[name]
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
        claims=comparison_rules(thresholds).claims,
        span=span,
        higher_is_better=limits[name].direction == "higher",
    )


def _overall(
    metrics: Mapping[str, PairedResult], paired: Sequence[Repeats], thresholds: Thresholds
) -> tuple[str, list[Reason]]:
    """The worst metric decides; one that never fails a case can only leave it undecided."""
    fails = {name for name, limits in thresholds.metrics.items() if limits.worst == "fail"}
    if any(result.verdict == WORSE for name, result in metrics.items() if name in fails):
        return WORSE, []
    independent, needed = len({repeats[0].group for repeats in paired}), thresholds.set.min_cases
    if independent < needed:
        return UNDECIDED, [reason(ReasonCode.TOO_FEW_PAIRS, pairs=independent, needed=needed)]
    undecided = [result for result in metrics.values() if result.verdict != NOT_WORSE and result.pairs]
    missing = [
        name
        for name in CORE
        if not metrics[name].pairs and any(case_value(name, repeats).can_happen for repeats in paired)
    ]
    return (UNDECIDED if undecided or missing else NOT_WORSE), []


def _moves(earlier: Earlier, paired: Sequence[Repeats]) -> tuple[Move, ...]:
    moves = []
    for repeats in paired:
        case_id = repeats[0].case_id
        after, before = case_value("recall_at_t10", repeats).best, earlier[case_id].best().get("recall_at_t10")
        if after is not None and before is not None and abs(after - before) > 1e-9:
            moves.append(Move(case_id, before, after))
    moves.sort(key=lambda move: (-abs(move.after - move.before), move.case_id))
    return tuple(moves[:MOVES_SHOWN])


def apply_baseline(verdict: SetVerdict, comparison: BaselineComparison) -> SetVerdict:
    """The set's verdict with the comparison applied: it can only get worse; a subset stays PARTIAL."""
    if comparison.verdict == NOT_WORSE:
        return verdict
    metrics = [name for name, result in comparison.metrics.items() if result.verdict == comparison.verdict]
    worse = comparison.verdict == WORSE
    why = reason(ReasonCode.BASELINE_UNDECIDED, metrics=metrics)
    if worse:
        why = reason(ReasonCode.BASELINE_WORSE, metrics=metrics, new_severe=list(comparison.new_hard_stops))
    now = verdict.verdict
    if worse and now != Verdict.PARTIAL:
        now = Verdict.FAIL
    elif now == Verdict.PASS:
        now = Verdict.CAUTION
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
    new, old = (_recall_by_case(run) for run in cases)
    shared = [case_id for case_id in old if case_id in new]
    shared_groups = [groups[case_id] for case_id in shared]
    after, before = [new[case_id] for case_id in shared], [old[case_id] for case_id in shared]
    result = compare_paired(after, before, shared_groups, margin=rules.margin, alpha=rules.alpha)
    stopped = _newly([case for case in by_id(cases[0]).values() if case.has_severe_event], by_id(cases[1]))
    remarks: list[Reason] = []
    if stopped:
        result = replace(result, verdict=WORSE)
        remarks.append(reason(ReasonCode.NEW_SEVERE, cases=list(stopped)))
    paired = [[case for case in run if case.case_id in set(shared)] for run in cases]
    unread = [_unread_recall(*run) for run in zip(names, paired, strict=True)]
    if known := [run for run in reversed(unread) if run]:
        remarks.append(reason(ReasonCode.RECALL_UNREAD, runs=known))
    return RunDifference(*names, len(shared), len(set(shared_groups)), result, tuple(remarks))


def _unread_recall(name: str, cases: Sequence[CaseVerdict]) -> dict[str, Any] | None:
    """Recall@T10 of a run at both ends, where alarms are open or only rules have looked; None where it was read."""
    best, worst = ([getattr(case, end)()["recall_at_t10"] for case in cases] for end in ("best", "worst"))
    items = [item for case in cases for item in case.judgements if item.metric == "recall_at_t10"]
    if best == worst and all(item.verdict != FigureState.UNREAD for item in items):
        return None
    return {"name": name, "recall": statistics.fmean(best), "worst": statistics.fmean(worst)}


def comparison_exit_code(differences: Sequence[RunDifference]) -> int:
    """Of a comparison that gates: 1 where a run is worse than the first, 7 where it is undecided, else 0."""
    verdicts = {item.recall.verdict if item.recall else UNDECIDED for item in differences}
    return 1 if WORSE in verdicts else 0 if verdicts == {NOT_WORSE} else 7


def _recall_by_case(cases: Iterable[CaseVerdict]) -> dict[str, float]:
    values = {case.case_id: case.best().get("recall_at_t10") for case in cases}
    return {case_id: value for case_id, value in values.items() if value is not None}
