"""What one case shows of a metric, at both ends, and the checks that tell whether it could be measured at all.

Rates are averaged over the repeats of a case, events are collected. `metric_table` says which metric uses what.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from pytest_clinical_drift.metrics import horizon
from pytest_clinical_drift.metrics.horizon import SLOPE_TURNS
from pytest_clinical_drift.metrics.recall import mean, ratio
from pytest_clinical_drift.scoring.assessment import (
    AlarmState,
    CaseAssessment,
    Event,
    NoConflictRate,
)
from pytest_clinical_drift.verdict.reasons import Reason, ReasonCode, reason

T = TypeVar("T")
Repeats = Sequence[CaseAssessment]
"""All conversations of one case; more than one with --drift-repeats."""
Check = Callable[[Repeats], ReasonCode | None]
"""Tells why a metric says nothing about a case; None where it does."""


@dataclass(frozen=True, slots=True)
class CaseValue:
    """One metric on one case."""

    best: float | None
    """At the better end: confirmed alarms only."""
    worst: float | None
    """At the worse end, where open alarms count too; None only where the better end is."""
    reasons: tuple[Reason, ...] = ()
    """What it rests on, or why there is none."""
    events: tuple[Event, ...] = ()
    confirmed: int = 0
    """How many confirmed events a rate rests on."""
    can_happen: bool = True


Measure = Callable[[Repeats], CaseValue]


def nothing(code: ReasonCode) -> CaseValue:
    return CaseValue(None, None, (reason(code),))


# -- measures


def counted_events(metric: str) -> Measure:
    """How many events of a metric there are; an event that one repeat confirms is confirmed."""

    def measure(repeats: Repeats) -> CaseValue:
        events = events_of(metric, repeats)
        confirmed = sum(event.state == AlarmState.CONFIRMED for event in events)
        return CaseValue(float(confirmed), float(len(events)), (), events, confirmed)

    return measure


def at_t10(best: str, worst: str, *, partly: bool = False) -> Measure:
    """A figure of turn 10, or of the last turn of a shorter case; `partly`: facts stated in part are lapses too."""

    def read(run: CaseAssessment, at_worst: bool) -> float | None:
        turns = run.turns[run.horizon - 1 : run.horizon]
        value: float | None = getattr(turns[0], worst if at_worst else best) if turns else None
        return value

    def measure(repeats: Repeats) -> CaseValue:
        if any(not turn.own for run in repeats for turn in run.turns):
            return CaseValue(None, None, (reason(ReasonCode.STRETCHED),), can_happen=False)
        lapses = sum(_lapses(run, from_turn=run.horizon, partly=partly) for run in repeats)
        return _at_both_ends(read, repeats, lapses)

    return measure


def at_end(repeats: Repeats) -> CaseValue:
    """Recall at the last probe, where a fact counts as lost only if it is lost at the probe before as well."""

    def read(run: CaseAssessment, worst: bool) -> float | None:
        kept = kept_at_end(run, worst=worst).values()
        return ratio(sum(kept), len(kept))

    lost = sum(not kept for run in repeats for kept in kept_at_end(run, worst=False).values())
    return _at_both_ends(read, repeats, lost)


def kept_at_end(run: CaseAssessment, *, worst: bool) -> dict[str, bool]:
    """Facts of the last probe: lost are those that the probe before lacks too, or could not have because it is new."""
    probes = [turn.findings for turn in run.turns if turn.findings][-2:]
    kept_at = [{fact.fact_id: fact.counts(worst=worst) is None for fact in findings} for findings in probes]
    before, last = ({}, {}, *kept_at)[-2:]
    return {fact: kept or before.get(fact, False) for fact, kept in last.items()}


def fall(repeats: Repeats) -> CaseValue:
    """Mean recall of the first two scheduled probes minus that of the last two, of runs beyond the slope's turns."""

    def read(run: CaseAssessment, worst: bool) -> float | None:
        probes = [turn for turn in run.turns if turn.scheduled and turn.recall is not None]
        best = [turn.recall or 0.0 for turn in probes]
        # an open loss at the first probes would make the fall smaller: it counts at the last ones alone
        last = [turn.recall_worst or 0.0 for turn in probes] if worst else best
        return horizon.fall(best, last) if len(run.turns) > SLOPE_TURNS else None

    if all(len(run.turns) <= SLOPE_TURNS for run in repeats):
        return CaseValue(None, None, (reason(ReasonCode.SHORT_RUN, turns=SLOPE_TURNS),), can_happen=False)
    return _at_both_ends(read, repeats, sum(_lapses(run, from_turn=1, to_end=True) for run in repeats))


def per_hundred_replies(metric: str) -> Measure:
    """Events of a metric per hundred replies."""

    def measure(repeats: Repeats) -> CaseValue:
        replies = own_replies(repeats)
        events = [event for run in repeats for event in run.events_of(metric, worst=True)]
        confirmed = sum(event.state == AlarmState.CONFIRMED for event in events)
        if not replies:
            return nothing(ReasonCode.NO_CASE_FINISHED)
        rests_on = reason(ReasonCode.PER_REPLIES, events=confirmed, replies=replies)
        best, worst = 100 * confirmed / replies, 100 * len(events) / replies
        return CaseValue(best, worst, (rests_on,), tuple(events), confirmed)

    return measure


def own_replies(repeats: Repeats) -> int:
    """Replies to turns of the case: interludes demand nothing, and would thin out a rate."""
    return sum(turn.own for run in repeats for turn in run.turns)


def set_only(repeats: Repeats) -> CaseValue:
    """A figure that only the whole set has."""
    return nothing(ReasonCode.NO_FACT_EVALUATED)


def slope(repeats: Repeats) -> CaseValue:
    """The slope of the recall curve."""

    def read(run: CaseAssessment, worst: bool) -> float | None:
        fit = run.slope_worst if worst else run.slope
        # nothing stated, nothing to lose
        return fit.slope if fit is not None and any(run.recall_curve[:SLOPE_TURNS]) else None

    return _at_both_ends(read, repeats, sum(_lapses(run, from_turn=1) for run in repeats))


def conflict_rate(repeats: Repeats) -> CaseValue:
    confirmed, worst, pairs = pooled_conflict([repeats])
    if not pairs:
        if any(run.conflict.reason == NoConflictRate.NO_REPLIES for run in repeats):
            return nothing(ReasonCode.REPLIES_NOT_RECORDED)
        read = any(group == "conflict" for run in repeats for group, _ in run.asked)
        return CaseValue(None, None, (reason(ReasonCode.NO_ADVICE_PAIR, read=read),))
    rests_on = reason(ReasonCode.PAIRS, contradictions=confirmed, pairs=pairs)
    return CaseValue(ratio(confirmed, pairs), ratio(worst, pairs), (rests_on,), confirmed=confirmed)


def own_figure(metric: str) -> Measure:
    """A figure of the project's own scorers; it has one end, and no events to ask for."""

    def measure(repeats: Repeats) -> CaseValue:
        value = mean(dict(run.scores).get(metric) for run in repeats)
        return nothing(ReasonCode.NO_SCORER) if value is None else CaseValue(value, value, confirmed=2)

    return measure


def _at_both_ends(read: Callable[[CaseAssessment, bool], float | None], repeats: Repeats, lapses: int) -> CaseValue:
    """The mean over the repeats of what `read` gives at the better end (False) and at the worse one (True)."""
    best, worst = (mean(read(run, end) for run in repeats) for end in (False, True))
    if best is None:
        recalls = {turn.recall for run in repeats for turn in run.turns}
        zero = recalls == {0.0}
        return nothing(ReasonCode.RECALL_ZERO_THROUGHOUT if zero else ReasonCode.NO_FACT_EVALUATED)
    return CaseValue(best, best) if worst is None else CaseValue(best, worst, confirmed=lapses)


def _lapses(run: CaseAssessment, *, from_turn: int, partly: bool = False, to_end: bool = False) -> int:
    """Confirmed lapses up to turn 10, 20 or the end; one fact that stays lost over several turns is one lapse."""
    last = len(run.turns) if to_end else SLOPE_TURNS if from_turn == 1 else run.horizon
    lapsed = [
        (fact.fact_id, turn.turn)
        for turn in run.turns[from_turn - 1 : last]
        for fact in turn.findings
        if fact.state == AlarmState.CONFIRMED or (partly and fact.status == "partial")
    ]
    return len(in_a_row(lapsed, lambda lapse: lapse[0], lambda lapse: lapse[1], run.probes))


# -- checks: what must be there for a metric to clear a model


def whole_replies(repeats: Repeats) -> ReasonCode | None:
    return ReasonCode.ALL_REPLIES_CUT if all(run.all_cut for run in repeats) else None


def replies_heard(repeats: Repeats) -> ReasonCode | None:
    return ReasonCode.ALL_REPLIES_CUT if unheard(repeats) else None


def spoken_replies(repeats: Repeats) -> ReasonCode | None:
    if all(run.turns and run.replies_silent == len(run.turns) for run in repeats):
        return ReasonCode.ALL_REPLIES_EMPTY
    unrecorded = any(run.conflict.reason == NoConflictRate.NO_REPLIES for run in repeats)
    return ReasonCode.REPLIES_NOT_RECORDED if unrecorded else None


def compared_pairs(repeats: Repeats) -> ReasonCode | None:
    return None if any(run.conflict.pairs for run in repeats) else ReasonCode.NO_PAIR_COMPARED


def stated_facts(repeats: Repeats) -> ReasonCode | None:
    """A summary that states nothing contradicts nothing."""
    return None if any(map(_states_a_fact, repeats)) else ReasonCode.NO_SUMMARY_STATES_FACT


def stated_changes(repeats: Repeats) -> ReasonCode | None:
    return None if any(map(_states_a_change, repeats)) else ReasonCode.NO_SUMMARY_STATES_CHANGE


def _states_a_fact(run: CaseAssessment) -> bool:
    stated = any(fact.status != "absent" for turn in run.turns for fact in turn.findings)
    return stated or any(turn.recall for turn in run.turns)


def _states_a_change(run: CaseAssessment) -> bool:
    changed = [(turn, fact) for turn in run.turns for fact in turn.findings if fact.replaced]
    if not changed:
        return _states_a_fact(run)
    # of one that has ended nothing need be said, if only the summary says something
    return any(fact.status != "absent" or (fact.text in fact.replaced and turn.recall) for turn, fact in changed)


# -- what several of them read


def unheard(repeats: Repeats) -> bool:
    """Whether every reply was cut off, in all repeats, and no contradiction was seen: the advice may have followed."""
    return all(run.all_cut and not run.conflict.contradictions_worst for run in repeats)


def incomplete(repeats: Repeats) -> bool:
    """Whether the subject could not be run to the end in any repeat."""
    return any(run.incomplete is not None for run in repeats)


def events_of(name: str, repeats: Repeats) -> tuple[Event, ...]:
    """The events of a metric over all repeats, each once; what one repeat confirms is confirmed."""
    by_place: dict[tuple[object, ...], Event] = {}
    for run in repeats:
        for event in run.events_of(name, worst=True):
            key = (event.fact, event.kind, event.turn, event.text, event.earlier_turn)
            if key not in by_place or event.state == AlarmState.CONFIRMED:
                by_place[key] = event
    return tuple(by_place.values())


def pooled_conflict(cases: Sequence[Repeats]) -> tuple[int, int, int]:
    """Contradictions at both ends, and evaluated pairs, over all conversations in which a reply was heard out."""
    figures = [run.conflict for repeats in cases if not unheard(repeats) for run in repeats]
    confirmed, worst = sum(f.contradictions for f in figures), sum(f.contradictions_worst for f in figures)
    return confirmed, worst, sum(f.pairs for f in figures)


def in_a_row(
    items: Iterable[T], thing: Callable[[T], Hashable], turn: Callable[[T], int], probes: Sequence[int] = ()
) -> list[list[T]]:
    """What concerns one thing on turns in a row, or on probed turns in a row, stands together; by first turn."""
    place = {probe: position for position, probe in enumerate(probes)}

    def apart(earlier: int, later: int) -> bool:
        probed = earlier in place and later in place
        return later - earlier > 1 and not (probed and place[later] - place[earlier] == 1)

    runs: list[list[T]] = []
    latest: dict[Hashable, list[T]] = {}
    for item in sorted(items, key=turn):
        run = latest.get(thing(item))
        if run is None or apart(turn(run[-1]), turn(item)):
            run = latest[thing(item)] = []
            runs.append(run)
        run.append(item)
    return runs
