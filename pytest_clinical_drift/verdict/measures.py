"""What one case shows of a metric, at both ends, and the checks that tell whether it could be measured at all.

Rates are averaged over the repeats of a case, events are collected. `metric_table` says which metric uses what.
"""

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from pytest_clinical_drift.metrics import horizon
from pytest_clinical_drift.metrics.horizon import SLOPE_TURNS
from pytest_clinical_drift.metrics.recall import SlopeFit, mean, ratio
from pytest_clinical_drift.scoring.assessment import (
    AlarmState,
    CaseAssessment,
    Event,
    NoConflictRate,
    SettledFact,
    TurnAssessment,
)
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


@dataclass(frozen=True, slots=True)
class _Ends:
    """A rate of one conversation at the better and at the worse end."""

    best: float | None
    worst: float | None


Measure = Callable[[str, Repeats], CaseValue]
"""Of a metric's name and a case."""


def nothing(why: Reason, *, can_happen: bool = True) -> CaseValue:
    return CaseValue(None, None, (why,), can_happen=can_happen)


# -- measures


def counted_events(name: str, repeats: Repeats) -> CaseValue:
    """How many events of a metric there are; an event that one repeat confirms is confirmed."""
    events = events_of(name, repeats)
    confirmed = _confirmed(events)
    return CaseValue(best=float(confirmed), worst=float(len(events)), events=events, confirmed=confirmed)


def per_hundred_replies(name: str, repeats: Repeats) -> CaseValue:
    """Events of a metric per hundred replies."""
    replies = own_replies(repeats)
    if not replies:
        return nothing(NoCaseFinished())
    events: list[Event] = []
    for run in repeats:
        events.extend(run.events_of(name, worst=True))
    confirmed = _confirmed(events)
    return CaseValue(
        best=100 * confirmed / replies,
        worst=100 * len(events) / replies,
        reasons=(PerReplies(confirmed, replies),),
        events=tuple(events),
        confirmed=confirmed,
    )


def at_t10(name: str, repeats: Repeats, *, strict: bool = False) -> CaseValue:
    """A figure of turn 10, or of the last turn of a shorter case; `strict`: facts stated in part are lapses too."""
    if any(_is_stretched(run) for run in repeats):
        return nothing(Stretched(), can_happen=False)
    turns: list[TurnAssessment] = []
    for run in repeats:
        turns.extend(run.turns[run.t10_turn - 1 : run.t10_turn])
    lapses = sum(_lapses(run, run.t10_turn, run.t10_turn, partly=strict) for run in repeats)
    if strict:
        return _at_both_ends([_Ends(turn.strict_recall, turn.strict_worst) for turn in turns], repeats, lapses)
    return _at_both_ends([_Ends(turn.recall, turn.recall_worst) for turn in turns], repeats, lapses)


def _is_stretched(run: CaseAssessment) -> bool:
    return any(not turn.own for turn in run.turns)


def at_end(name: str, repeats: Repeats) -> CaseValue:
    """Recall at the last probe, where a fact counts as lost only if it is lost at the probe before as well."""
    ends: list[_Ends] = []
    lapses = 0
    for run in repeats:
        best = kept_at_end(run, worst=False).values()
        worst = kept_at_end(run, worst=True).values()
        ends.append(_Ends(ratio(sum(best), len(best)), ratio(sum(worst), len(worst))))
        lapses += len(best) - sum(best)
    return _at_both_ends(ends, repeats, lapses)


def kept_at_end(run: CaseAssessment, *, worst: bool) -> dict[str, bool]:
    """Facts of the last probe: lost are those that the probe before lacks too, or could not have because it is new."""
    probes = [turn for turn in run.turns if turn.findings]
    if not probes:
        return {}
    before = _kept_at(probes[-2], worst=worst) if len(probes) > 1 else {}
    last = _kept_at(probes[-1], worst=worst)
    return {fact: kept or before.get(fact, False) for fact, kept in last.items()}


def _kept_at(turn: TurnAssessment, *, worst: bool) -> dict[str, bool]:
    return {fact.fact_id: fact.counts(worst=worst) is None for fact in turn.findings}


def fall(name: str, repeats: Repeats) -> CaseValue:
    """Mean recall of the first two scheduled probes minus that of the last two, of runs beyond the slope's turns."""
    long = [run for run in repeats if len(run.turns) > SLOPE_TURNS]
    if not long:
        return nothing(ShortRun(SLOPE_TURNS), can_happen=False)
    lapses = sum(_lapses(run, 1, len(run.turns)) for run in repeats)
    return _at_both_ends([_fall_of(run) for run in long], repeats, lapses)


def _fall_of(run: CaseAssessment) -> _Ends:
    best: list[float] = []
    worst: list[float] = []
    for turn in run.turns:
        if turn.scheduled and turn.recall is not None:
            best.append(turn.recall)
            worst.append(turn.recall_worst or 0.0)
    # an open loss at the first probes would make the fall smaller: it counts at the last ones alone
    return _Ends(horizon.fall(best, best), horizon.fall(best, worst))


def slope(name: str, repeats: Repeats) -> CaseValue:
    """The slope of the recall curve; where nothing was stated there is nothing to lose."""
    stated = [run for run in repeats if any(run.recall_curve[:SLOPE_TURNS])]
    lapses = sum(_lapses(run, 1, SLOPE_TURNS) for run in repeats)
    ends = [_Ends(_slope_of(run.slope), _slope_of(run.slope_worst)) for run in stated]
    return _at_both_ends(ends, repeats, lapses)


def _slope_of(line: SlopeFit | None) -> float | None:
    return line.slope if line else None


def conflict_rate(name: str, repeats: Repeats) -> CaseValue:
    """Contradictions over evaluated pairs of advice."""
    confirmed, worst, pairs = pooled_conflict(repeats)
    if pairs:
        return CaseValue(
            best=confirmed / pairs,
            worst=worst / pairs,
            reasons=(Pairs(confirmed, pairs),),
            confirmed=confirmed,
        )
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
    if value is None:
        return nothing(NoScorer())
    return CaseValue(best=value, worst=value, confirmed=2)


def _at_both_ends(ends: Sequence[_Ends], repeats: Repeats, lapses: int) -> CaseValue:
    """The mean over the repeats, of each the better and the worse end."""
    best = mean(end.best for end in ends)
    worst = mean(end.worst for end in ends)
    if best is None:
        return nothing(RecallZeroThroughout() if _is_zero_throughout(repeats) else NoFactEvaluated())
    if worst is None:
        return CaseValue(best=best, worst=best)
    return CaseValue(best=best, worst=worst, confirmed=lapses)


def _is_zero_throughout(repeats: Repeats) -> bool:
    values: set[float | None] = set()
    for run in repeats:
        values.update(turn.recall for turn in run.turns)
    return values == {0.0}


def _is_lapse(fact: SettledFact, *, partly: bool) -> bool:
    return fact.state == AlarmState.CONFIRMED or (partly and fact.status == "partial")


@dataclass(frozen=True, slots=True)
class _Lapse:
    fact_id: str
    turn: int


def _lapses(run: CaseAssessment, first: int, last: int, *, partly: bool = False) -> int:
    """Confirmed lapses on these turns; one fact that stays lost over several turns is one lapse."""
    lapsed: list[_Lapse] = []
    for turn in run.turns[first - 1 : last]:
        lapsed.extend(_Lapse(fact.fact_id, turn.turn) for fact in turn.findings if _is_lapse(fact, partly=partly))
    rows = in_a_row(lapsed, lambda lapse: lapse.fact_id, lambda lapse: lapse.turn, run.probes)
    return len(rows)


# -- what must be there for a metric to clear a model


def unrecorded(repeats: Repeats) -> bool:
    """Whether the replies of a repeat were not recorded, so that nobody can look for contradictions."""
    return any(run.conflict.reason == NoConflictRate.NO_REPLIES for run in repeats)


def _states_a_fact(run: CaseAssessment) -> bool:
    return any(turn.recall or _states_any(turn) for turn in run.turns)


def _states_any(turn: TurnAssessment) -> bool:
    return any(fact.status != "absent" for fact in turn.findings)


def _states_a_change(run: CaseAssessment) -> bool:
    changed = False
    for turn in run.turns:
        for fact in turn.findings:
            if not fact.replaced:
                continue
            changed = True
            # of one that has ended nothing need be said, if only the summary says something
            ended = fact.text in fact.replaced
            if fact.status != "absent" or (ended and turn.recall):
                return True
    return not changed and _states_a_fact(run)


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
    asked: set[str] = set()
    for run in repeats:
        asked.update(group for group, _ in run.asked)
    return not asked.isdisjoint(groups)


def own_replies(repeats: Repeats) -> int:
    """Replies to turns of the case: interludes demand nothing, and would thin out a rate."""
    return sum(_own_turns(run) for run in repeats)


def _own_turns(run: CaseAssessment) -> int:
    return sum(turn.own for turn in run.turns)


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
    if all_cut_without_contradiction(repeats):
        return 0, 0, 0
    confirmed = sum(run.conflict.contradictions for run in repeats)
    worst = sum(run.conflict.contradictions_worst for run in repeats)
    pairs = sum(run.conflict.pairs for run in repeats)
    return confirmed, worst, pairs


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
            run = []
            latest[thing(item)] = run
            runs.append(run)
        run.append(item)
    return runs
