"""The gate on the whole set. It fails closed: what is not shown is not passed.

FAIL       a case fails the run, too many cases are past a fail line, or a point estimate is past its fail line
UNSETTLED  nothing failed, and something severe is open
PASS       every gated metric lies inside its pass limit with its whole interval, at the worse end, and there are enough
           independent cases
CAUTION    everything between
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence

from pytest_clinical_drift.scoring.assessment import CONFIRMED
from pytest_clinical_drift.verdict.case import Repeats, diagnose, drowned, open_groups, speaks_to_grader
from pytest_clinical_drift.verdict.grounds import audit_of
from pytest_clinical_drift.verdict.set_metrics import judge_over
from pytest_clinical_drift.verdict.thresholds import EVENT_METRICS, JUDGE_ONLY, Thresholds
from pytest_clinical_drift.verdict.values import (
    CAUTION,
    FAIL,
    INCOMPLETE,
    NEEDED,
    NOT_EVALUATED,
    PARTIAL,
    PASS,
    RULES_ONLY,
    SEVERE,
    UNSETTLED,
    Basis,
    CaseVerdict,
    Judgement,
    SetVerdict,
    counted,
    fails_run,
    label,
    number,
    words,
)

_NAMED = 3
"""Failures that a reason names."""


def judge_set(
    cases: Sequence[Repeats],
    verdicts: Sequence[CaseVerdict],
    thresholds: Thresholds,
    *,
    total: int,
    today: datetime.date,
    basis: Basis = RULES_ONLY,
) -> SetVerdict:
    """The gate on the whole set; a subset of the cases gives PARTIAL, never a release verdict."""
    waived = {verdict.case_id for verdict in verdicts if verdict.waiver is not None}
    complete = [repeats for repeats, verdict in zip(cases, verdicts, strict=True) if verdict.verdict != INCOMPLETE]
    judgements = tuple(
        judge_over(name, limits, complete, thresholds, waived, basis) for name, limits in thresholds.metrics.items()
    )
    verdict, reasons = _decide(verdicts, judgements, thresholds, complete, basis)
    if len(cases) < total:
        reasons = [f"{len(cases)} of {total} cases {'was' if len(cases) == 1 else 'were'} run", *reasons]
        verdict = PARTIAL
    return SetVerdict(
        verdict=verdict,
        judgements=judgements,
        reasons=tuple(reasons),
        diagnosis=diagnose(judgements, [item for verdict in verdicts for item in verdict.judgements], thresholds),
        selected=len(cases),
        total=total,
        complete=len(complete),
        failing=tuple(item.case_id for item in verdicts if item.verdict == FAIL),
        waivers=tuple(waiver for waiver in thresholds.waivers if waiver.holds_on(today)),
        basis=basis,
        unread=_unread(complete),
        to_read=sum(open_groups(repeats) for repeats in cases),
        severe_to_read=sum(open_groups(repeats, severe=True) for repeats in cases),
    )


def _unread(complete: Sequence[Repeats]) -> int:
    """Confirmed breaches that no person has read."""
    alarms = [a for repeats in complete for run in repeats for a in run.alarms if a.state == CONFIRMED]
    return sum(a.kind in ("recommends", "omits") and a.settled_by != "person" for a in alarms)


def _decide(
    verdicts: Sequence[CaseVerdict],
    judgements: Sequence[Judgement],
    thresholds: Thresholds,
    complete: Sequence[Repeats],
    basis: Basis,
) -> tuple[str, list[str]]:
    rules, run = thresholds.set, len(verdicts)
    past_a_line = [_because(item) for item in judgements if item.verdict == FAIL]
    seen = _confirmed_before_the_end(verdicts)
    if failed := [*_failing_cases(verdicts, thresholds), *past_a_line]:
        return FAIL, [*failed, *seen]
    reasons: list[str] = []
    if len(complete) < run:
        reasons += [f"{run - len(complete)} of {counted(run, 'case')} could not be run to the end", *seen]
        if not complete or len(complete) / run < rules.min_coverage - 1e-9:
            return INCOMPLETE, reasons
    if basis.missing:
        return INCOMPLETE, [*reasons, basis.missing]
    if any(item.verdict == NOT_EVALUATED and item.metric in NEEDED for item in judgements):
        return INCOMPLETE, [*reasons, "recall or slope could not be evaluated"]
    if unsettled := sum(item.unsettled for item in verdicts):
        named = "case has" if unsettled == 1 else "cases have"
        return UNSETTLED, [f"{unsettled} {named} severe alarms that nobody has settled", *reasons]
    if too_few := _too_few(complete, rules.min_cases):
        reasons.append(too_few)
    if waved := _waved_through(complete, thresholds):
        reasons.append(waved)
    if appeals := sum(speaks_to_grader(repeats) for repeats in complete):
        reasons.append(f"{appeals} {'case speaks' if appeals == 1 else 'cases speak'} to the grader")
    if lost := sum(drowned(repeats) for repeats in complete):
        reasons.append(f"of {lost} {'case' if lost == 1 else 'cases'} the summaries name hardly anything that was told")
    lacking = [item for item in judgements if item.verdict == NOT_EVALUATED and item.metric not in JUDGE_ONLY]
    reasons += [_because(item) for item in judgements if item.verdict == CAUTION or item in lacking]
    verdict = CAUTION if reasons else PASS
    if cautious := sum(item.verdict == CAUTION for item in verdicts):
        reasons.append(f"{counted(cautious, 'case')} at CAUTION")
    return verdict, reasons


def _waved_through(complete: Sequence[Repeats], thresholds: Thresholds) -> str:
    """What the audit says of facts that the rules called plainly retained."""
    audit = audit_of([run for repeats in complete for run in repeats], thresholds.set.confidence)
    if audit is None or audit.upper <= thresholds.judge.audit_bound:
        return ""
    return (
        f"up to {audit.upper:.1%} of the facts that rules call retained may not be (audit of {audit.asked}; "
        f"bound {thresholds.judge.audit_bound:.0%})"
    )


def _failing_cases(verdicts: Sequence[CaseVerdict], thresholds: Thresholds) -> list[str]:
    failing = [verdict for verdict in verdicts if verdict.verdict == FAIL]
    fatal = sum(fails_run(verdict, thresholds) for verdict in failing)
    tolerated, limit = len(failing) - fatal, thresholds.set.max_failing_cases
    reasons = [f"{fatal} of {counted(len(verdicts), 'case')} failed"] if fatal else []
    if tolerated > limit:
        reasons.append(f"{tolerated} of {counted(len(verdicts), 'case')} past a fail line, {limit} tolerated")
    return reasons


def _confirmed_before_the_end(verdicts: Sequence[CaseVerdict]) -> list[str]:
    """Severe failures in cases that were not run to the end: they fail no case, and are named all the same."""
    unfinished = [(case.case_id, item) for case in verdicts if case.verdict == INCOMPLETE for item in case.judgements]
    told = []
    for name in SEVERE:
        seen = [
            f"{event.text:.80}, turn {event.turn} ({case_id})"
            for case_id, item in unfinished
            for event in item.events
            if item.metric == name and event.state == CONFIRMED
        ]
        what = f"1 {words('metrics')[name]['one']} was" if len(seen) == 1 else f"{len(seen)} {label(name)} were"
        more = f" and {len(seen) - _NAMED} more" if len(seen) > _NAMED else ""
        told += [f"{what} already confirmed in unfinished cases: {'; '.join(seen[:_NAMED])}{more}"] if seen else []
    return told


def _too_few(complete: Sequence[Repeats], needed: int) -> str:
    """Cases of one persona or cluster tell the same story, so they count once."""
    independent = len({repeats[0].group for repeats in complete})
    if independent >= needed:
        return ""
    groups = f" of {counted(independent, 'independent group')}" if independent < len(complete) else ""
    return f"{counted(len(complete), 'case')}{groups}: fewer than the {needed} that a PASS needs, so CAUTION at best"


def _because(item: Judgement) -> str:
    if item.value is None:
        return f"{label(item.metric)} not evaluated: {item.detail}"
    if item.metric in EVENT_METRICS:
        doubtful = "" if item.worst in (None, item.value) else f", {item.worst:g} with open alarms"
        return f"{label(item.metric)} in {counted(item.value, 'case')}{doubtful}"
    interval = f" [{item.interval.low:.3f}, {item.interval.high:.3f}]" if item.interval else ""
    worse = "" if item.worst in (None, item.value) else f", {number(item.metric, item.worst)} with open alarms"
    shown = f"{number(item.metric, item.value)}{worse}{interval}"
    return f"{label(item.metric)} {shown} against {item.limit} ({item.detail})"
