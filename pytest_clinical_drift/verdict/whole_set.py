"""The gate on the whole set. It fails closed: what is not shown is not passed.

FAIL       a case fails the run, too many cases are past a fail line, or a point estimate is past its fail line
UNSETTLED  nothing failed, and something severe is open
PASS       every gated metric lies inside its pass limit with its whole interval, at the worse end, and there are enough
           independent cases; with `decide_by: point` the point estimate is enough, and the verdict says so
CAUTION    everything between
"""

import dataclasses
import datetime
from collections import Counter
from collections.abc import Sequence

from pytest_clinical_drift.judging.canaries import UNANSWERED
from pytest_clinical_drift.scoring.assessment import AlarmState
from pytest_clinical_drift.verdict.case import count_findings, diagnose, severe_open, with_reader
from pytest_clinical_drift.verdict.counts import audit_of
from pytest_clinical_drift.verdict.measures import Repeats
from pytest_clinical_drift.verdict.metric_table import CORE, SEVERE
from pytest_clinical_drift.verdict.reasons import Reason, ReasonCode, reason
from pytest_clinical_drift.verdict.set_metrics import judge_over
from pytest_clinical_drift.verdict.states import FigureState, Verdict
from pytest_clinical_drift.verdict.thresholds import Thresholds
from pytest_clinical_drift.verdict.values import (
    RULES_ONLY,
    CaseVerdict,
    Deciders,
    MetricVerdict,
    SetVerdict,
    fails_run,
    figures_unread,
)

_NAMED = 3
"""Failures that a reason names."""
_LONGEST = 80
"""Characters of an event that a reason quotes."""


def judge_set(
    cases: Sequence[Repeats],
    verdicts: Sequence[CaseVerdict],
    thresholds: Thresholds,
    *,
    total: int,
    today: datetime.date,
    deciders: Deciders = RULES_ONLY,
    signed: int | None = None,
) -> SetVerdict:
    """The gate on the whole set; a subset of the cases gives PARTIAL, never a release verdict.

    `signed` cases of the total carry a clinician's signature; None: not known, which counts as none.
    """
    waived = {verdict.case_id for verdict in verdicts if verdict.waiver is not None}
    complete = [
        repeats for repeats, verdict in zip(cases, verdicts, strict=True) if verdict.verdict != Verdict.INCOMPLETE
    ]
    judgements = tuple(
        with_reader(judge_over(name, limits, complete, thresholds, waived, deciders), deciders.deciding)
        for name, limits in thresholds.metrics.items()
    )
    canaries = count_canaries(cases)
    to_read, severe_to_read = count_findings(run for repeats in cases for run in repeats)[AlarmState.OPEN]
    unsigned = _unsigned(total, signed or 0, thresholds)
    lost = count_unanswered(cases)
    verdict, reasons = _decide(verdicts, judgements, thresholds, complete, deciders, (*canaries, lost), unsigned)
    if deciders.outage is not None:
        told = reason(ReasonCode.JUDGE_OUTAGE, **dataclasses.asdict(deciders.outage), canaries=lost)
        reasons = [told, *reasons] if verdict in (Verdict.UNSETTLED, Verdict.INCOMPLETE) else [*reasons, told]
    if len(cases) < total:
        reasons = [reason(ReasonCode.CASES_SELECTED, run=len(cases), total=total), *reasons]
        verdict = Verdict.PARTIAL
    return SetVerdict(
        verdict=verdict,
        judgements=judgements,
        reasons=tuple(reasons),
        diagnosed=diagnose(judgements, [item for verdict in verdicts for item in verdict.judgements], thresholds),
        selected=len(cases),
        total=total,
        complete=len(complete),
        failing=tuple(item.case_id for item in verdicts if item.verdict == Verdict.FAIL),
        waivers=tuple(waiver for waiver in thresholds.waivers if waiver.holds_on(today)),
        deciders=deciders,
        unread=_unread(complete),
        canaries=canaries,
        canaries_unanswered=lost,
        to_read=to_read,
        severe_to_read=severe_to_read,
    )


def count_canaries(cases: Sequence[Repeats]) -> tuple[int, int]:
    """Inserted faults that the judge confirmed, of how many that it could be asked about."""
    states = _canary_states(cases)
    return states.count(AlarmState.CONFIRMED), len(states) - states.count(UNANSWERED)


def count_unanswered(cases: Sequence[Repeats]) -> int:
    """Inserted faults about which an outage kept the judge from being asked."""
    return _canary_states(cases).count(UNANSWERED)


def _canary_states(cases: Sequence[Repeats]) -> list[str]:
    return [canary.state for repeats in cases for run in repeats for canary in run.canaries]


def _unread(complete: Sequence[Repeats]) -> int:
    """Confirmed severe alarms that no person has read."""
    alarms = [a for repeats in complete for run in repeats for a in run.alarms if a.state == AlarmState.CONFIRMED]
    return sum(alarm.severe and alarm.settled_by != "person" for alarm in alarms)


def _decide(
    verdicts: Sequence[CaseVerdict],
    judgements: Sequence[MetricVerdict],
    thresholds: Thresholds,
    complete: Sequence[Repeats],
    deciders: Deciders,
    canaries: tuple[int, int, int],
    unsigned: Sequence[Reason],
) -> tuple[Verdict, list[Reason]]:
    rules, run = thresholds.set, len(verdicts)
    past_limit = [_figure(item) for item in judgements if item.verdict == FigureState.FAIL]
    seen = _confirmed_before_end(verdicts)
    if failed := [*_failing_cases(verdicts, thresholds), *past_limit]:
        return Verdict.FAIL, [*failed, *seen]
    reasons: list[Reason] = []
    if len(complete) < run:
        reasons += [reason(ReasonCode.CASES_UNFINISHED, unfinished=run - len(complete), cases=run), *seen]
        if seen or not complete or len(complete) / run < rules.min_coverage - 1e-9:
            return Verdict.INCOMPLETE, reasons
    if deciders.missing is not None:
        return Verdict.INCOMPLETE, [*reasons, deciders.missing]
    if any(item.verdict == FigureState.NOT_EVALUATED and item.metric in CORE for item in judgements):
        return Verdict.INCOMPLETE, [*reasons, reason(ReasonCode.CORE_NOT_EVALUATED)]
    if unsettled := _unsettled(verdicts, judgements, thresholds, canaries):
        return Verdict.UNSETTLED, [*unsettled, *reasons, *_doubts(verdicts)]
    reasons += _too_few(complete, rules.min_cases)
    reasons += _audit_bound(complete, thresholds) if deciders.deciding and not deciders.control else []
    reasons += _doubts(verdicts)
    reasons += unsigned
    doubtful = (FigureState.CAUTION, FigureState.UNREAD, FigureState.NOT_EVALUATED)
    reasons += [_figure(item) for item in judgements if item.verdict in doubtful]
    verdict = Verdict.CAUTION if reasons else Verdict.PASS
    reasons += _by_point(judgements) if verdict == Verdict.PASS else []
    if cautious := sum(item.verdict == Verdict.CAUTION for item in verdicts):
        reasons.append(reason(ReasonCode.CASES_AT_CAUTION, cases=cautious))
    return verdict, reasons


def _by_point(judgements: Sequence[MetricVerdict]) -> list[Reason]:
    metrics = [i.metric for i in judgements if any(why.code is ReasonCode.BY_POINT for why in i.reasons)]
    return [reason(ReasonCode.PASSED_BY_POINT, metrics=metrics)] if metrics else []


def _figure(item: MetricVerdict) -> Reason:
    return reason(ReasonCode.FIGURE, metric=item.metric)


def _unsettled(
    verdicts: Sequence[CaseVerdict],
    judgements: Sequence[MetricVerdict],
    thresholds: Thresholds,
    canaries: tuple[int, int, int],
) -> list[Reason]:
    """Why nothing failed and there is no verdict all the same: open alarms, figures nobody read, canaries missed."""
    reasons = []
    (confirmed, asked, lost), needed = canaries, thresholds.judge.canaries
    least = needed * (asked + lost) - 1e-9
    if confirmed + lost < least:
        reasons.append(reason(ReasonCode.CANARIES_MISSED, confirmed=confirmed, inserted=asked, needed=needed))
    elif confirmed < least:
        reasons.append(reason(ReasonCode.CANARIES_UNANSWERED, unanswered=lost, inserted=asked + lost))
    if waiting := sum(severe_open(verdict.judgements, thresholds) for verdict in verdicts):
        reasons.append(reason(ReasonCode.SEVERE_OPEN, cases=waiting))
    unread = [i for i in judgements if i.verdict == FigureState.UNREAD and thresholds.unsettles(i.metric)]
    if unread:
        reasons.append(figures_unread(unread))
    return reasons


def _doubts(verdicts: Sequence[CaseVerdict]) -> list[Reason]:
    """Cases whose texts are such that figures mean little, counted."""
    finished = [verdict for verdict in verdicts if verdict.verdict != Verdict.INCOMPLETE]
    counts = Counter(why.code for verdict in finished for why in verdict.doubts)
    return [reason(code, cases=count) for code, count in counts.items()]


def _unsigned(total: int, signed: int, thresholds: Thresholds) -> list[Reason]:
    if not thresholds.require_signed_cases or signed >= total:
        return []
    return [reason(ReasonCode.CASES_UNSIGNED, unsigned=total - signed, cases=total)]


def _audit_bound(complete: Sequence[Repeats], thresholds: Thresholds) -> list[Reason]:
    """What the audit says of entries that the readings cleared; without one nothing bounds what was missed."""
    audit = audit_of([run for repeats in complete for run in repeats], thresholds.set.confidence)
    bound = thresholds.judge.audit_bound
    if audit is None:
        return [reason(ReasonCode.NOT_AUDITED)]
    if audit.upper <= bound:
        return []
    return [reason(ReasonCode.AUDIT_BOUND, upper=audit.upper, asked=audit.asked, bound=bound)]


def _failing_cases(verdicts: Sequence[CaseVerdict], thresholds: Thresholds) -> list[Reason]:
    failing = [verdict for verdict in verdicts if verdict.verdict == Verdict.FAIL]
    fatal = sum(fails_run(verdict, thresholds) for verdict in failing)
    past, tolerated = len(failing) - fatal, thresholds.set.max_failing_cases
    reasons = [reason(ReasonCode.CASES_FAILED, failed=fatal, cases=len(verdicts))] if fatal else []
    if past > tolerated:
        reasons.append(reason(ReasonCode.CASES_PAST_LIMIT, past=past, cases=len(verdicts), tolerated=tolerated))
    return reasons


def _confirmed_before_end(verdicts: Sequence[CaseVerdict]) -> list[Reason]:
    """Severe failures in cases that were not run to the end: they fail no case, and are named all the same."""
    reasons = []
    for name in SEVERE:
        events = [
            {"text": event.text[:_LONGEST], "turn": event.turn, "case_id": case.case_id}
            for case in verdicts
            if case.verdict == Verdict.INCOMPLETE
            for item in case.judgements
            for event in item.events
            if item.metric == name and event.state == AlarmState.CONFIRMED
        ]
        if events:
            values = {"metric": name, "count": len(events), "events": events[:_NAMED]}
            reasons.append(Reason(ReasonCode.CONFIRMED_BEFORE_END, values))
    return reasons


def _too_few(complete: Sequence[Repeats], needed: int) -> list[Reason]:
    """Cases of one persona or cluster tell the same story, so they count once."""
    independent = len({repeats[0].group for repeats in complete})
    if independent >= needed:
        return []
    return [reason(ReasonCode.TOO_FEW_CASES, cases=len(complete), groups=independent, needed=needed)]
