"""What one case shows of a metric, at both ends, and the checks that tell whether it could be measured at all.

Rates are averaged over the repeats of a case, events are collected. `metric_table` says which metric uses what.
"""

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import TypeVar

from pytest_clinical_drift.metrics import horizon
from pytest_clinical_drift.metrics.horizon import SLOPE_TURNS
from pytest_clinical_drift.metrics.recall import mean, ratio
from pytest_clinical_drift.scoring.assessment import AlarmState, CaseAssessment, Event, NoConflictRate
from pytest_clinical_drift.verdict.reasons import (
    AllRepliesCut,
    AllRepliesEmpty,
    NoAdvicePair,
    NoCaseFinished,
    NoFactEvaluated,
    NoPairCompared,
    NoScorer,
    NoSummaryStatesChange,
    NoSummaryStatesFact,
    Pairs,
    PerReplies,
    Reason,
    RecallZeroThroughout,
    RepliesNotRecorded,
    ShortRun,
    Stretched,
)

T = TypeVar("T")
Repeats = Sequence[CaseAssessment]
"""All conversations of one case; more than one with --drift-repeats."""


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


Measure = Callable[[str, Repeats], CaseValue]
"""Of a metric's name and a case."""


def nothing(why: Reason, *, can_happen: bool = True) -> CaseValue:
    return CaseValue(None, None, (why,), can_happen=can_happen)


# -- measures


def counted_events(name: str, repeats: Repeats) -> CaseValue:
    """How many events of a metric there are; an event that one repeat confirms is confirmed."""
    events = events_of(name, repeats)
    confirmed = _confirmed(events)
    return CaseValue(float(confirmed), float(len(events)), (), events, confirmed)


def per_hundred_replies(name: str, repeats: Repeats) -> CaseValue:
    """Events of a metric per hundred replies."""
    replies = own_replies(repeats)
    if not replies:
        return nothing(NoCaseFinished())
    events = tuple(event for run in repeats for event in run.events_of(name, worst=True))
    confirmed = _confirmed(events)
    rests_on = PerReplies(confirmed, replies)
    return CaseValue(100 * confirmed / replies, 100 * len(events) / replies, (rests_on,), events, confirmed)


def at_t10(name: str, repeats: Repeats, *, strict: bool = False) -> CaseValue:
    """A figure of turn 10, or of the last turn of a shorter case; `strict`: facts stated in part are lapses too."""
    if any(not turn.own for run in repeats for turn in run.turns):
        return nothing(Stretched(), can_happen=False)
    turns = [turn for run in repeats for turn in run.turns[run.t10_turn - 1 : run.t10_turn]]
    ends = [(t.strict_recall, t.strict_worst) if strict else (t.recall, t.recall_worst) for t in turns]
    return _at_both_ends(ends, repeats, sum(_lapses(run, run.t10_turn, run.t10_turn, partly=strict) for run in repeats))


def at_end(name: str, repeats: Repeats) -> CaseValue:
    """Recall at the last probe, where a fact counts as lost only if it is lost at the probe before as well."""
    kept = [[kept_at_end(run, worst=worst).values() for worst in (False, True)] for run in repeats]
    ends = [(ratio(sum(best), len(best)), ratio(sum(worst), len(worst))) for best, worst in kept]
    return _at_both_ends(ends, repeats, sum(not fact for best, _ in kept for fact in best))


def kept_at_end(run: CaseAssessment, *, worst: bool) -> dict[str, bool]:
    """Facts of the last probe: lost are those that the probe before lacks too, or could not have because it is new."""
    probes = [turn.findings for turn in run.turns if turn.findings][-2:]
    kept_at = [{fact.fact_id: fact.counts(worst=worst) is None for fact in findings} for findings in probes]
    before, last = ({}, {}, *kept_at)[-2:]
    return {fact: kept or before.get(fact, False) for fact, kept in last.items()}


def fall(name: str, repeats: Repeats) -> CaseValue:
    """Mean recall of the first two scheduled probes minus that of the last two, of runs beyond the slope's turns."""
    long = [run for run in repeats if len(run.turns) > SLOPE_TURNS]
    if not long:
        return nothing(ShortRun(SLOPE_TURNS), can_happen=False)
    ends = []
    for run in long:
        probes = [(t.recall, t.recall_worst or 0.0) for t in run.turns if t.scheduled and t.recall is not None]
        best, worst = [recall for recall, _ in probes], [low for _, low in probes]
        # an open loss at the first probes would make the fall smaller: it counts at the last ones alone
        ends.append((horizon.fall(best, best), horizon.fall(best, worst)))
    return _at_both_ends(ends, repeats, sum(_lapses(run, 1, len(run.turns)) for run in repeats))


def slope(name: str, repeats: Repeats) -> CaseValue:
    """The slope of the recall curve; where nothing was stated there is nothing to lose."""
    stated = [run for run in repeats if any(run.recall_curve[:SLOPE_TURNS])]
    ends = [
        (run.slope.slope if run.slope else None, run.slope_worst.slope if run.slope_worst else None) for run in stated
    ]
    return _at_both_ends(ends, repeats, sum(_lapses(run, 1, SLOPE_TURNS) for run in repeats))


def conflict_rate(name: str, repeats: Repeats) -> CaseValue:
    """Contradictions over evaluated pairs of advice."""
    confirmed, worst, pairs = pooled_conflict(repeats)
    if pairs:
        rests_on = Pairs(confirmed, pairs)
        return CaseValue(confirmed / pairs, worst / pairs, (rests_on,), confirmed=confirmed)
    if all_cut_without_contradiction(repeats):
        return nothing(AllRepliesCut())
    if unrecorded(repeats):
        return nothing(RepliesNotRecorded())
    return nothing(NoAdvicePair(read=was_asked(repeats, ("conflict",))))


def set_only(name: str, repeats: Repeats) -> CaseValue:
    """A figure that only the whole set has."""
    return nothing(NoFactEvaluated())


def own_figure(name: str, repeats: Repeats) -> CaseValue:
    """A figure of the project's own scorers; it has one end, and no events to ask for."""
    value = mean(dict(run.scores).get(name) for run in repeats)
    return nothing(NoScorer()) if value is None else CaseValue(value, value, confirmed=2)


def _at_both_ends(ends: Sequence[tuple[float | None, float | None]], repeats: Repeats, lapses: int) -> CaseValue:
    """The mean over the repeats, of each the better and the worse end."""
    best, worst = mean(end for end, _ in ends), mean(end for _, end in ends)
    if best is None:
        zero = {turn.recall for run in repeats for turn in run.turns} == {0.0}
        return nothing(RecallZeroThroughout() if zero else NoFactEvaluated())
    return CaseValue(best, best) if worst is None else CaseValue(best, worst, confirmed=lapses)


def _lapses(run: CaseAssessment, first: int, last: int, *, partly: bool = False) -> int:
    """Confirmed lapses on these turns; one fact that stays lost over several turns is one lapse."""
    lapsed = [
        (fact.fact_id, turn.turn)
        for turn in run.turns[first - 1 : last]
        for fact in turn.findings
        if fact.state == AlarmState.CONFIRMED or (partly and fact.status == "partial")
    ]
    return len(in_a_row(lapsed, itemgetter(0), itemgetter(1), run.probes))


# -- what must be there for a metric to clear a model


def unrecorded(repeats: Repeats) -> bool:
    """Whether the replies of a repeat were not recorded, so that nobody can look for contradictions."""
    return any(run.conflict.reason == NoConflictRate.NO_REPLIES for run in repeats)


def _states_a_fact(run: CaseAssessment) -> bool:
    return any(turn.recall or any(fact.status != "absent" for fact in turn.findings) for turn in run.turns)


def _states_a_change(run: CaseAssessment) -> bool:
    changed = [(turn, fact) for turn in run.turns for fact in turn.findings if fact.replaced]
    if not changed:
        return _states_a_fact(run)
    # of one that has ended nothing need be said, if only the summary says something
    return any(fact.status != "absent" or (fact.text in fact.replaced and turn.recall) for turn, fact in changed)


def _all_cut(repeats: Repeats) -> bool:
    return all(run.all_cut for run in repeats)


def _all_empty(repeats: Repeats) -> bool:
    return all(0 < len(run.turns) == run.replies_silent for run in repeats)


def _without_pair(repeats: Repeats) -> bool:
    return not any(run.conflict.pairs for run in repeats)


def _without_fact(repeats: Repeats) -> bool:
    """A summary that states nothing contradicts nothing."""
    return not any(_states_a_fact(run) for run in repeats)


def _without_change(repeats: Repeats) -> bool:
    return not any(_states_a_change(run) for run in repeats)


@dataclass(frozen=True, slots=True)
class Lack:
    """Something that a case may lack, so that nothing found is no merit."""

    reason: Reason
    holds: Callable[[Repeats], bool]
    """Whether the case lacks it."""


ALL_REPLIES_CUT = Lack(AllRepliesCut(), _all_cut)
ALL_REPLIES_EMPTY = Lack(AllRepliesEmpty(), _all_empty)
REPLIES_NOT_RECORDED = Lack(RepliesNotRecorded(), unrecorded)
NO_PAIR_COMPARED = Lack(NoPairCompared(), _without_pair)
NO_SUMMARY_STATES_FACT = Lack(NoSummaryStatesFact(), _without_fact)
NO_SUMMARY_STATES_CHANGE = Lack(NoSummaryStatesChange(), _without_change)


# -- what several of them read


def all_cut_without_contradiction(repeats: Repeats) -> bool:
    """Whether every reply was cut off, in all repeats, and no contradiction was seen: the advice may have followed."""
    return all(run.all_cut and not run.conflict.contradictions_worst for run in repeats)


def incomplete(repeats: Repeats) -> bool:
    """Whether the subject could not be run to the end in any repeat."""
    return any(run.incomplete is not None for run in repeats)


def was_asked(repeats: Repeats, groups: Collection[str]) -> bool:
    """Whether somebody who may decide has read a text of the case for one of these groups of kinds."""
    return any(group in groups for run in repeats for group, _ in run.asked)


def own_replies(repeats: Repeats) -> int:
    """Replies to turns of the case: interludes demand nothing, and would thin out a rate."""
    return sum(turn.own for run in repeats for turn in run.turns)


def _confirmed(events: Iterable[Event]) -> int:
    return sum(event.state == AlarmState.CONFIRMED for event in events)


def events_of(name: str, repeats: Repeats) -> tuple[Event, ...]:
    """The events of a metric over all repeats, each once; what one repeat confirms is confirmed."""
    by_place: dict[tuple[object, ...], Event] = {}
    for run in repeats:
        for event in run.events_of(name, worst=True):
            key = (event.fact, event.kind, event.turn, event.text, event.earlier_turn)
            if key not in by_place or event.state == AlarmState.CONFIRMED:
                by_place[key] = event
    return tuple(by_place.values())


def pooled_conflict(repeats: Repeats) -> tuple[int, int, int]:
    """Contradictions at both ends, and evaluated pairs; none where no reply was heard out."""
    figures = [] if all_cut_without_contradiction(repeats) else [run.conflict for run in repeats]
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
