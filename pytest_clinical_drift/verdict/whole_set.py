"""The gate on the whole set. It fails closed: what is not shown is not passed.

FAIL       a case fails the run, too many cases are past a fail line, or a point estimate is past its fail line
UNSETTLED  nothing failed, and something severe is open
PASS       every gated metric lies inside its pass limit with its whole interval, at the worse end, and there are enough
           independent cases; with `decide_by: point` the point estimate is enough, and the verdict says so
CAUTION    everything between
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from pytest_clinical_drift.judging.answers import Outage
from pytest_clinical_drift.judging.canaries import UNANSWERED
from pytest_clinical_drift.scoring.assessment import AlarmState
from pytest_clinical_drift.verdict.case import diagnose, severe_open, with_reader
from pytest_clinical_drift.verdict.counts import audit_of
from pytest_clinical_drift.verdict.metric_table import CORE, SEVERE
from pytest_clinical_drift.verdict.reasons import (
    AuditBound,
    ByPoint,
    CanariesMissed,
    CanariesUnanswered,
    CasesAtCaution,
    CasesFailed,
    CasesPastLimit,
    CasesSelected,
    CasesUnfinished,
    CasesUnsigned,
    ConfirmedBeforeEnd,
    CoreNotEvaluated,
    Doubt,
    Figure,
    FigureState,
    JudgeOutage,
    NotAudited,
    PassedByPoint,
    Reason,
    SeenEvent,
    SevereOpen,
    TooFewCases,
    Verdict,
)
from pytest_clinical_drift.verdict.set_metrics import judge_over
from pytest_clinical_drift.verdict.thresholds import Thresholds
from pytest_clinical_drift.verdict.values import (
    RULES_ONLY,
    CaseResult,
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
    cases: Sequence[CaseResult],
    thresholds: Thresholds,
    *,
    total: int,
    deciders: Deciders = RULES_ONLY,
    signed: int | None = None,
) -> SetVerdict:
    """The gate on the whole set; a subset of the cases gives PARTIAL, never a release verdict.

    `signed` cases of the total carry a clinician's signature; None: not known, which counts as none.
    """
    complete = [case for case in cases if case.verdict != Verdict.INCOMPLETE]
    judgements = tuple(
        with_reader(judge_over(name, limits, complete, thresholds, deciders), deciders.deciding)
        for name, limits in thresholds.metrics.items()
    )
    canaries = Counter(canary.state for case in cases for run in case.repeats for canary in run.canaries)
    lost = canaries[UNANSWERED]
    missing = total - (signed or 0) if thresholds.require_signed_cases else 0
    unsigned = [CasesUnsigned(unsigned=missing, cases=total)] if missing > 0 else []
    verdict, reasons = _decide(cases, judgements, thresholds, complete, deciders, canaries, unsigned)
    if deciders.outage is not None:
        told = _outage_reason(deciders.outage, lost)
        reasons = [told, *reasons] if verdict in (Verdict.UNSETTLED, Verdict.INCOMPLETE) else [*reasons, told]
    if len(cases) < total:
        reasons = [CasesSelected(run=len(cases), total=total), *reasons]
        verdict = Verdict.PARTIAL
    return SetVerdict(
        verdict=verdict,
        judgements=judgements,
        reasons=tuple(reasons),
        diagnosed=diagnose(judgements, [item for case in cases for item in case.judgements], thresholds),
        cases_total=total,
        deciders=deciders,
        canaries=(canaries[AlarmState.CONFIRMED], canaries.total() - lost),
        canaries_unanswered=lost,
    )


def _outage_reason(outage: Outage, canaries: int) -> JudgeOutage:
    return JudgeOutage(
        requests=outage.requests,
        asked=outage.asked,
        error=outage.error,
        stopped=outage.stopped,
        offline=outage.offline,
        sent=outage.sent,
        lost=outage.lost,
        canaries=canaries,
    )


def _decide(
    cases: Sequence[CaseResult],
    judgements: Sequence[MetricVerdict],
    thresholds: Thresholds,
    complete: Sequence[CaseResult],
    deciders: Deciders,
    canaries: Counter[str],
    unsigned: Sequence[Reason],
) -> tuple[Verdict, list[Reason]]:
    run, seen = len(cases), list(_confirmed_before_end(cases))
    if failed := list(_failures(cases, judgements, thresholds)):
        return Verdict.FAIL, [*failed, *seen]
    reasons: list[Reason] = []
    if len(complete) < run:
        reasons += [CasesUnfinished(unfinished=run - len(complete), cases=run), *seen]
        if seen or not complete or len(complete) / run < thresholds.set.min_coverage - 1e-9:
            return Verdict.INCOMPLETE, reasons
    if deciders.missing is not None:
        return Verdict.INCOMPLETE, [*reasons, deciders.missing]
    if any(item.verdict == FigureState.NOT_EVALUATED and item.metric in CORE for item in judgements):
        return Verdict.INCOMPLETE, [*reasons, CoreNotEvaluated()]
    # cases whose texts are such that figures mean little
    doubts: Counter[type[Doubt]] = Counter(type(why) for item in complete for why in item.doubts)
    doubtful = [doubt(cases=count) for doubt, count in doubts.items()]
    if unsettled := list(_unsettled(cases, judgements, thresholds, canaries)):
        return Verdict.UNSETTLED, [*unsettled, *reasons, *doubtful]
    reasons += [*_too_little(complete, thresholds, deciders), *doubtful, *unsigned]
    unsure = (FigureState.CAUTION, FigureState.UNREAD, FigureState.NOT_EVALUATED)
    reasons += [Figure(item.metric) for item in judgements if item.verdict in unsure]
    verdict = Verdict.CAUTION if reasons else Verdict.PASS
    by_point = [i.metric for i in judgements if any(isinstance(why, ByPoint) for why in i.reasons)]
    if verdict == Verdict.PASS and by_point:
        reasons.append(PassedByPoint(tuple(by_point)))
    if cautious := sum(item.verdict == Verdict.CAUTION for item in cases):
        reasons.append(CasesAtCaution(cautious))
    return verdict, reasons


def _failures(
    cases: Sequence[CaseResult], judgements: Sequence[MetricVerdict], thresholds: Thresholds
) -> Iterator[Reason]:
    """Cases that fail the run, too many past a fail line, and figures past theirs."""
    failing = [verdict for verdict in cases if verdict.verdict == Verdict.FAIL]
    fatal = sum(fails_run(verdict, thresholds) for verdict in failing)
    past, tolerated = len(failing) - fatal, thresholds.set.max_failing_cases
    if fatal:
        yield CasesFailed(failed=fatal, cases=len(cases))
    if past > tolerated:
        yield CasesPastLimit(past=past, cases=len(cases), tolerated=tolerated)
    for item in judgements:
        if item.verdict == FigureState.FAIL:
            yield Figure(item.metric)


def _confirmed_before_end(cases: Sequence[CaseResult]) -> Iterator[Reason]:
    """Severe failures in cases that were not run to the end: they fail no case, and are named all the same."""
    unfinished = [(case.case_id, i) for case in cases if case.verdict == Verdict.INCOMPLETE for i in case.judgements]
    for name in SEVERE:
        events = [
            SeenEvent(text=event.text[:_LONGEST], turn=event.turn, case_id=case_id)
            for case_id, item in unfinished
            for event in item.events
            if item.metric == name and event.state == AlarmState.CONFIRMED
        ]
        if events:
            yield ConfirmedBeforeEnd(metric=name, count=len(events), events=tuple(events[:_NAMED]))


def _unsettled(
    cases: Sequence[CaseResult],
    judgements: Sequence[MetricVerdict],
    thresholds: Thresholds,
    canaries: Counter[str],
) -> Iterator[Reason]:
    """Why nothing failed and there is no verdict all the same: open alarms, figures nobody read, canaries missed."""
    confirmed, lost, inserted = canaries[AlarmState.CONFIRMED], canaries[UNANSWERED], canaries.total()
    needed = thresholds.judge.canaries
    least = needed * inserted - 1e-9
    if confirmed + lost < least:
        yield CanariesMissed(confirmed=confirmed, inserted=inserted - lost, needed=needed)
    elif confirmed < least:
        yield CanariesUnanswered(unanswered=lost, inserted=inserted)
    if waiting := sum(severe_open(verdict.judgements, thresholds) for verdict in cases):
        yield SevereOpen(waiting)
    if unread := [i for i in judgements if i.verdict == FigureState.UNREAD and thresholds.unsettles(i.metric)]:
        yield figures_unread(unread)


def _too_little(complete: Sequence[CaseResult], thresholds: Thresholds, deciders: Deciders) -> Iterator[Reason]:
    """Too few cases; an audit of what the readings cleared that bounds too little, or none, which bounds nothing."""
    # cases of one persona or cluster tell the same story, so they count once
    groups, needed = len({case.group for case in complete}), thresholds.set.min_cases
    if groups < needed:
        yield TooFewCases(cases=len(complete), groups=groups, needed=needed)
    if not deciders.deciding or deciders.control:
        return
    audit = audit_of([run for case in complete for run in case.repeats], thresholds.set.confidence)
    bound = thresholds.judge.audit_bound
    if audit is None:
        yield NotAudited()
    elif audit.upper > bound:
        yield AuditBound(upper=audit.upper, asked=audit.asked, bound=bound)
