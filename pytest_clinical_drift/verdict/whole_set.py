"""The gate on the whole set. It fails closed: what is not shown is not passed.

FAIL       a case fails the run, too many cases are past a fail line, or a point estimate is past its fail line
UNSETTLED  nothing failed, and something severe is open
PASS       every gated metric lies inside its pass limit with its whole interval, at the worse end, and there are enough
           independent cases; with `decide_by: point` the point estimate is enough, and the verdict says so
CAUTION    everything between
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pytest_clinical_drift.judging.answers import Outage
from pytest_clinical_drift.judging.canaries import UNANSWERED
from pytest_clinical_drift.scoring.assessment import AlarmState, CaseAssessment
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


@dataclass(frozen=True, slots=True)
class _Judged:
    """What the verdict is made of: the cases and figures as they were judged, and the rules."""

    cases: Sequence[CaseResult]
    complete: Sequence[CaseResult]
    """Those that were run to the end."""
    figures: Sequence[MetricVerdict]
    canaries: Counter[str]
    """Inserted faults by what became of them."""
    thresholds: Thresholds
    deciders: Deciders
    unsigned: Sequence[Reason]


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
    figures: list[MetricVerdict] = []
    for name, limits in thresholds.metrics.items():
        figure = judge_over(name, limits, complete, thresholds, deciders)
        figures.append(with_reader(figure, deciders.deciding))
    canaries = _count_canaries(cases)
    unanswered = canaries[UNANSWERED]
    unsigned = _unsigned(total - (signed or 0), total) if thresholds.require_signed_cases else []
    judged = _Judged(cases, complete, figures, canaries, thresholds, deciders, unsigned)
    verdict, reasons = _decide(judged)
    if deciders.outage is not None:
        outage = _outage_reason(deciders.outage, unanswered)
        reasons = [outage, *reasons] if verdict in (Verdict.UNSETTLED, Verdict.INCOMPLETE) else [*reasons, outage]
    if len(cases) < total:
        reasons = [CasesSelected(run=len(cases), total=total), *reasons]
        verdict = Verdict.PARTIAL
    of_cases: list[MetricVerdict] = []
    for case in cases:
        of_cases.extend(case.judgements)
    return SetVerdict(
        verdict=verdict,
        judgements=tuple(figures),
        reasons=tuple(reasons),
        diagnosed=diagnose(figures, of_cases, thresholds),
        cases_total=total,
        deciders=deciders,
        canaries=(canaries[AlarmState.CONFIRMED], canaries.total() - unanswered),
        canaries_unanswered=unanswered,
    )


def _count_canaries(cases: Sequence[CaseResult]) -> Counter[str]:
    states: Counter[str] = Counter()
    for case in cases:
        for run in case.repeats:
            states.update(canary.state for canary in run.canaries)
    return states


def _unsigned(missing: int, total: int) -> list[Reason]:
    return [CasesUnsigned(unsigned=missing, cases=total)] if missing > 0 else []


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


def _decide(judged: _Judged) -> tuple[Verdict, list[Reason]]:
    """The worst thing first: a failure, then what is missing, then what is open, then what is not shown."""
    seen = list(_confirmed_before_end(judged.cases))
    failed = list(_failures(judged))
    if failed:
        return Verdict.FAIL, [*failed, *seen]
    unfinished = _unfinished(judged, seen)
    lacking = _lacking(judged, seen)
    if lacking is not None:
        return Verdict.INCOMPLETE, [*unfinished, *lacking]
    doubtful = _doubts(judged.complete)
    unsettled = list(_unsettled(judged))
    if unsettled:
        return Verdict.UNSETTLED, [*unsettled, *unfinished, *doubtful]
    cautious = [*unfinished, *_too_little(judged), *doubtful, *judged.unsigned, *_unsure_figures(judged.figures)]
    at_caution = _cases_at_caution(judged.cases)
    if cautious:
        return Verdict.CAUTION, [*cautious, *at_caution]
    return Verdict.PASS, [*_passed_by_point(judged.figures), *at_caution]


def _failures(judged: _Judged) -> Iterator[Reason]:
    """Cases that fail the run, too many past a fail line, and figures past theirs."""
    failing = [case for case in judged.cases if case.verdict == Verdict.FAIL]
    fatal = sum(fails_run(case, judged.thresholds) for case in failing)
    past = len(failing) - fatal
    tolerated = judged.thresholds.set.max_failing_cases
    if fatal:
        yield CasesFailed(failed=fatal, cases=len(judged.cases))
    if past > tolerated:
        yield CasesPastLimit(past=past, cases=len(judged.cases), tolerated=tolerated)
    for item in judged.figures:
        if item.verdict == FigureState.FAIL:
            yield Figure(item.metric)


def _confirmed_before_end(cases: Sequence[CaseResult]) -> Iterator[Reason]:
    """Severe failures in cases that were not run to the end: they fail no case, and are named all the same."""
    for name in SEVERE:
        events: list[SeenEvent] = []
        for case in cases:
            if case.verdict == Verdict.INCOMPLETE:
                events.extend(_confirmed_events(case, name))
        if events:
            yield ConfirmedBeforeEnd(metric=name, count=len(events), events=tuple(events[:_NAMED]))


def _confirmed_events(case: CaseResult, metric: str) -> Iterator[SeenEvent]:
    for item in case.judgements:
        if item.metric != metric:
            continue
        for event in item.events:
            if event.state == AlarmState.CONFIRMED:
                yield SeenEvent(text=event.text[:_LONGEST], turn=event.turn, case_id=case.case_id)


def _unfinished(judged: _Judged, seen: Sequence[Reason]) -> list[Reason]:
    """That cases were not run to the end, with what was confirmed in them before."""
    unfinished = len(judged.cases) - len(judged.complete)
    if not unfinished:
        return []
    return [CasesUnfinished(unfinished=unfinished, cases=len(judged.cases)), *seen]


def _lacking(judged: _Judged, seen: Sequence[Reason]) -> list[Reason] | None:
    """Why there is no verdict on what was run, beside that cases are unfinished; None where nothing is in the way."""
    run = len(judged.cases)
    complete = len(judged.complete)
    covered = complete > 0 and complete / run >= judged.thresholds.set.min_coverage - 1e-9
    if complete < run and (seen or not covered):
        return []
    if judged.deciders.missing is not None:
        return [judged.deciders.missing]
    if any(item.verdict == FigureState.NOT_EVALUATED and item.metric in CORE for item in judged.figures):
        return [CoreNotEvaluated()]
    return None


def _doubts(complete: Sequence[CaseResult]) -> list[Reason]:
    """In how many cases the texts are such that figures mean little."""
    counts: Counter[type[Doubt]] = Counter()
    for case in complete:
        counts.update(type(why) for why in case.doubts)
    return [doubt(cases=count) for doubt, count in counts.items()]


def _unsettled(judged: _Judged) -> Iterator[Reason]:
    """Why nothing failed and there is no verdict all the same: open alarms, figures nobody read, canaries missed."""
    yield from _unfit_judge(judged.canaries, judged.thresholds.judge.canaries)
    waiting = sum(severe_open(case.judgements, judged.thresholds) for case in judged.cases)
    if waiting:
        yield SevereOpen(waiting)
    unread = [item for item in judged.figures if item.verdict == FigureState.UNREAD]
    unsettling = [item for item in unread if judged.thresholds.unsettles(item.metric)]
    if unsettling:
        yield figures_unread(unsettling)


def _unfit_judge(canaries: Counter[str], needed: float) -> Iterator[Reason]:
    """Too few inserted faults that the judge confirmed, or too few about which it could be asked."""
    confirmed = canaries[AlarmState.CONFIRMED]
    unanswered = canaries[UNANSWERED]
    inserted = canaries.total()
    least = needed * inserted - 1e-9
    if confirmed + unanswered < least:
        yield CanariesMissed(confirmed=confirmed, inserted=inserted - unanswered, needed=needed)
    elif confirmed < least:
        yield CanariesUnanswered(unanswered=unanswered, inserted=inserted)


def _too_little(judged: _Judged) -> Iterator[Reason]:
    """Too few cases; an audit of what the readings cleared that bounds too little, or none, which bounds nothing."""
    # cases of one persona or cluster tell the same story, so they count once
    groups = len({case.group for case in judged.complete})
    needed = judged.thresholds.set.min_cases
    if groups < needed:
        yield TooFewCases(cases=len(judged.complete), groups=groups, needed=needed)
    if not judged.deciders.deciding or judged.deciders.control:
        return
    runs: list[CaseAssessment] = []
    for case in judged.complete:
        runs.extend(case.repeats)
    audit = audit_of(runs, judged.thresholds.set.confidence)
    bound = judged.thresholds.judge.audit_bound
    if audit is None:
        yield NotAudited()
    elif audit.upper > bound:
        yield AuditBound(upper=audit.upper, asked=audit.asked, bound=bound)


def _unsure_figures(figures: Sequence[MetricVerdict]) -> list[Reason]:
    unsure = (FigureState.CAUTION, FigureState.UNREAD, FigureState.NOT_EVALUATED)
    return [Figure(item.metric) for item in figures if item.verdict in unsure]


def _passed_by_point(figures: Sequence[MetricVerdict]) -> list[Reason]:
    metrics = [item.metric for item in figures if _is_by_point(item)]
    return [PassedByPoint(tuple(metrics))] if metrics else []


def _is_by_point(item: MetricVerdict) -> bool:
    return any(isinstance(why, ByPoint) for why in item.reasons)


def _cases_at_caution(cases: Sequence[CaseResult]) -> list[Reason]:
    cautious = sum(case.verdict == Verdict.CAUTION for case in cases)
    return [CasesAtCaution(cautious)] if cautious else []
