"""How long facts are remembered: recall by turn and by tokens, the drift horizon, and what is lost by the end.

Shown beside the verdict. The gated figures of the same conversations are those of `metric_table`.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.cases.timeline import last_stated
from pytest_clinical_drift.metrics.horizon import Horizon, common_probes, drift_horizon, early_slope
from pytest_clinical_drift.metrics.intervals import Interval, mean_intervals, over_cases, pooled_interval
from pytest_clinical_drift.metrics.recall import SlopeFit, mean, mean_curve, ratio, token_decay_rate
from pytest_clinical_drift.scoring.assessment import (
    AlarmState,
    CaseAssessment,
    Curve,
    Event,
    SingleFigures,
    TurnAssessment,
)
from pytest_clinical_drift.verdict.measures import Repeats, kept_at_end

BAND_RESAMPLES = 2_000
"""Intervals that are drawn, not gated, need fewer resamples than figures."""
PLACES = ("intake", "first third", "middle third", "last third")
"""Where a fact was last stated."""
_INTERFERED = "interference followed"
_UNDISTURBED = "none followed"
_INTERFERENCE = (_INTERFERED, _UNDISTURBED)
_BANDS = (10, 20, 40, 80, 160, 320, 640)
"""Last turns of the stretches in which breaches are counted."""

T = TypeVar("T")
Read = Callable[[TurnAssessment], float | None]


@dataclass(frozen=True, slots=True)
class ProbedTurn:
    """One scheduled probe, over the cases that have it."""

    turn: int
    cases: int
    recall: float
    recall_worst: float | None
    """With open alarms counted against the model."""
    low: float | None
    high: float | None
    """Interval of the mean at the better end."""
    hard_stops: float | None
    """Recall of hard stops alone; None where no case has one."""
    prompt_tokens: float | None
    """Mean size of the request for the summary; None where nothing was counted."""


@dataclass(frozen=True, slots=True)
class Kept:
    """Facts of one group that are not lost at the end."""

    group: str
    facts: int
    kept: int
    kept_worst: int
    """With open alarms counted against the model."""
    low: float | None
    high: float | None
    """Interval of the share, at the better end."""

    @property
    def share(self) -> float | None:
        return ratio(self.kept, self.facts)


@dataclass(frozen=True, slots=True)
class BreachBand:
    """Broken demands on a stretch of turns."""

    first: int
    last: int
    replies: int
    severe: int
    """Of the two highest grades, confirmed."""
    lesser: int
    open: int


@dataclass(frozen=True, slots=True)
class SingleMessage:
    """The last summary of the conversation against that of the same transcript in one message, on the same cases."""

    cases: int
    conversation: float
    conversation_worst: float | None
    single: float
    single_worst: float | None
    by_judge: bool
    """False: rules alone read at least one of them."""


@dataclass(frozen=True, slots=True)
class Memory:
    """What long conversations show."""

    turns: int
    """The last turn of the longest case: everything here runs to it."""
    shortest: int
    limit: float
    """The PASS limit of recall that the horizon is about."""
    probes: tuple[ProbedTurn, ...]
    line: SlopeFit | None
    """Through the mean recall of turns 1 to 20, of shorter cases to the end."""
    horizon: Horizon | None
    """Of all facts; None without a probe that every case has."""
    horizon_worst: Horizon | None
    """With open alarms counted against the model."""
    hard_stop_horizon: Horizon | None
    """Of hard stops alone, over the cases that have one from the start."""
    hard_stop_horizon_worst: Horizon | None
    slope_per_1000_tokens: float | None
    """Change of recall per 1,000 prompt tokens to the end, mean of the cases whose tokens were counted."""
    by_place: tuple[Kept, ...]
    """By where a fact was last stated: the intake, or a third of the conversation."""
    by_interference: tuple[Kept, ...]
    """By whether an interlude that may be mistaken for the fact came after it was last stated."""
    breaches: tuple[BreachBand, ...]
    single: SingleMessage | None


def memory_of(cases: Sequence[Repeats], case_set: Iterable[Case], *, limit: float, confidence: float) -> Memory | None:
    """The figures of finished cases; `case_set` holds the cases as they were run. None without a finished case."""
    if not cases:
        return None
    runs: list[CaseAssessment] = []
    for repeats in cases:
        runs.extend(repeats)
    lengths = [len(run.turns) for run in runs]
    kept = _kept(runs, {case.id: case for case in case_set}, confidence)
    probes = tuple(_probes(cases, confidence))
    recalls = {probe.turn: probe.recall for probe in probes}
    return Memory(
        turns=max(lengths),
        shortest=min(lengths),
        limit=limit,
        probes=probes,
        line=early_slope([recalls.get(turn) for turn in range(1, max(lengths) + 1)]),
        horizon=_horizon(cases, _recall, limit, confidence),
        horizon_worst=_horizon(cases, _recall_worst, limit, confidence),
        hard_stop_horizon=_horizon(cases, _hard_stops, limit, confidence),
        hard_stop_horizon_worst=_horizon(cases, _hard_stops_worst, limit, confidence),
        slope_per_1000_tokens=mean(_mean_token_slope(repeats) for repeats in cases),
        by_place=_groups(kept, PLACES),
        # without interludes that may be mistaken for a fact there is one group alone, and nothing to compare
        by_interference=_groups(kept, _INTERFERENCE) if _INTERFERED in kept else (),
        breaches=tuple(_breaches(runs)),
        single=_single(cases),
    )


def scheduled_curve(run: CaseAssessment, read: Read) -> Curve:
    """A figure by turn, at scheduled probes alone: extra ones follow changes and would make the mean jump."""
    return tuple(read(turn) if turn.scheduled else None for turn in run.turns)


def _groups(kept: Mapping[str, Kept], names: Sequence[str]) -> tuple[Kept, ...]:
    """Those of these groups that have a fact, in this order."""
    return tuple(kept[name] for name in names if name in kept)


def _recall(of: TurnAssessment | SingleFigures) -> float | None:
    return of.recall


def _recall_worst(of: TurnAssessment | SingleFigures) -> float | None:
    return of.recall_worst


def _prompt_tokens(turn: TurnAssessment) -> float | None:
    return turn.prompt_tokens


def _hard_stops(turn: TurnAssessment) -> float | None:
    return _share_of_hard_stops(turn, worst=False)


def _hard_stops_worst(turn: TurnAssessment) -> float | None:
    return _share_of_hard_stops(turn, worst=True)


def _share_of_hard_stops(turn: TurnAssessment, *, worst: bool) -> float | None:
    counted = [fact.counts(worst=worst) is None for fact in turn.findings if fact.hard_stop]
    return ratio(sum(counted), len(counted))


def _mean_token_slope(repeats: Repeats) -> float | None:
    return mean(_token_slope(run) for run in repeats)


def _token_slope(run: CaseAssessment) -> float | None:
    return token_decay_rate(scheduled_curve(run, _recall), [turn.prompt_tokens for turn in run.turns])


def _horizon(cases: Sequence[Repeats], read: Read, limit: float, confidence: float) -> Horizon | None:
    """Over the cases that have this figure from the start."""
    curves: list[list[float | None]] = []
    groups: list[str] = []
    for repeats in cases:
        curve = mean_curve([scheduled_curve(run, read) for run in repeats])
        probes = repeats[0].scheduled_probes
        if probes and curve[probes[0] - 1] is not None:
            curves.append(curve)
            groups.append(repeats[0].group)
    if not curves:
        return None
    table, turns = common_probes(curves)
    return drift_horizon(table, turns, groups, limit=limit, confidence=confidence, resamples=BAND_RESAMPLES)


def _limits(interval: Interval | None) -> tuple[float | None, float | None]:
    """What may be shown of an interval."""
    shown = over_cases(interval)
    return (shown.low, shown.high) if shown else (None, None)


def _probes(cases: Sequence[Repeats], confidence: float) -> Iterator[ProbedTurn]:
    numbers: set[int] = set()
    for repeats in cases:
        for run in repeats:
            numbers.update(run.scheduled_probes)
    for number in sorted(numbers):
        yield _probe(number, cases, confidence)


def _probe(number: int, cases: Sequence[Repeats], confidence: float) -> ProbedTurn:
    values: list[float] = []
    groups: list[str] = []
    there: list[list[TurnAssessment]] = []
    for repeats in cases:
        turns = [run.turns[number - 1] for run in repeats if number in run.scheduled_probes]
        there.append(turns)
        value = mean(turn.recall for turn in turns)
        if value is not None:
            values.append(value)
            groups.append(repeats[0].group)
    (interval,) = mean_intervals([values], groups, (0.0, 1.0), confidence=confidence, resamples=BAND_RESAMPLES)
    low, high = _limits(interval)
    return ProbedTurn(
        turn=number,
        cases=len(values),
        recall=sum(values) / len(values),
        recall_worst=_mean_of(there, _recall_worst),
        low=low,
        high=high,
        hard_stops=_mean_of(there, _hard_stops),
        prompt_tokens=_mean_of(there, _prompt_tokens),
    )


def _mean_of(cases: Iterable[Sequence[T]], read: Callable[[T], float | None]) -> float | None:
    """The mean over cases, of each the mean over its repeats."""
    return mean(_mean_over(repeats, read) for repeats in cases)


def _mean_over(repeats: Sequence[T], read: Callable[[T], float | None]) -> float | None:
    return mean(read(one) for one in repeats)


@dataclass(frozen=True, slots=True)
class _Fact:
    """A fact of a last probe, in one of the groups."""

    group: str
    """Of cases that are not independent of each other."""
    kept: bool
    kept_worst: bool


def _kept(runs: Sequence[CaseAssessment], known: Mapping[str, Case], confidence: float) -> dict[str, Kept]:
    """Facts of the last probes by where they were stated and by what followed; groups without a fact are left out."""
    found: dict[str, list[_Fact]] = {name: [] for name in (*PLACES, *_INTERFERENCE)}
    for run in runs:
        case = known.get(run.case_id)
        if case is None:
            continue
        best = kept_at_end(run, worst=False)
        worst = kept_at_end(run, worst=True)
        for name, kept in best.items():
            fact = _Fact(run.group, kept, worst[name])
            since = last_stated(case, name, len(run.turns))
            found[_place(since, len(run.turns))].append(fact)
            found[_interference(case, name, since, len(run.turns))].append(fact)
    return {name: _share_kept(name, facts, confidence) for name, facts in found.items() if facts}


def _place(since: int, last: int) -> str:
    """Where a fact was last stated: at the intake (turn 0), or in which third of the conversation."""
    if not since:
        return PLACES[0]
    third = min(2, 3 * (since - 1) // last)
    return PLACES[1 + third]


def _interference(case: Case, fact: str, since: int, last: int) -> str:
    """Whether an interlude that may be mistaken for the fact came after it was last stated."""
    interfered = any(fact in turn.interferes for turn in case.turns[since:last])
    return _INTERFERED if interfered else _UNDISTURBED


def _share_kept(name: str, facts: Sequence[_Fact], confidence: float) -> Kept:
    hits = [fact.kept for fact in facts]
    groups = [fact.group for fact in facts]
    low, high = _limits(pooled_interval(hits, [1] * len(hits), groups, confidence=confidence))
    return Kept(
        group=name,
        facts=len(facts),
        kept=sum(hits),
        kept_worst=sum(fact.kept_worst for fact in facts),
        low=low,
        high=high,
    )


def _breaches(runs: Sequence[CaseAssessment]) -> Iterator[BreachBand]:
    longest = max(len(run.turns) for run in runs)
    events: list[Event] = []
    for run in runs:
        events.extend(event for event in run.events if event.metric in ("breaches", "lesser_breaches"))
    first = 1
    for last in (*(end for end in _BANDS if end < longest), longest):
        inside = [event for event in events if first <= event.turn <= last]
        confirmed = Counter(event.metric for event in inside if event.state == AlarmState.CONFIRMED)
        yield BreachBand(
            first=first,
            last=last,
            replies=sum(_turns_between(run, first, last) for run in runs),
            severe=confirmed["breaches"],
            lesser=confirmed["lesser_breaches"],
            open=sum(event.state == AlarmState.OPEN for event in inside),
        )
        first = last + 1


def _turns_between(run: CaseAssessment, first: int, last: int) -> int:
    return max(0, min(last, len(run.turns)) - first + 1)


@dataclass(frozen=True, slots=True)
class _BothWays:
    """The last summary of a conversation, and that of the same transcript in one message."""

    conversation: TurnAssessment
    single: SingleFigures


def _single(cases: Sequence[Repeats]) -> SingleMessage | None:
    """Of the conversations whose last summary and single message were both scored."""
    both_ways = [_both_ways(repeats) for repeats in cases]
    compared = [pairs for pairs in both_ways if pairs]
    summaries = [[pair.conversation for pair in pairs] for pairs in compared]
    messages = [[pair.single for pair in pairs] for pairs in compared]
    conversation = _mean_of(summaries, _recall)
    single = _mean_of(messages, _recall)
    if conversation is None or single is None:
        return None
    return SingleMessage(
        cases=len(compared),
        conversation=conversation,
        conversation_worst=_mean_of(summaries, _recall_worst),
        single=single,
        single_worst=_mean_of(messages, _recall_worst),
        by_judge=all(_all_by_judge(figures) for figures in messages),
    )


def _both_ways(repeats: Repeats) -> list[_BothWays]:
    return [
        _BothWays(run.turns[run.probes[-1] - 1], run.single)
        for run in repeats
        if run.probes and run.single and run.single.recall is not None
    ]


def _all_by_judge(messages: Sequence[SingleFigures]) -> bool:
    return all(message.by_judge for message in messages)
