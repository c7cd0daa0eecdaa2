"""How long facts are remembered: recall by turn and by tokens, the drift horizon, and what is lost by the end.

Shown beside the verdict. The gated figures of the same conversations are those of `metric_table`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import takewhile
from operator import attrgetter

from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.cases.timeline import last_stated
from pytest_clinical_drift.metrics.horizon import Horizon, common_probes, drift_horizon, early_slope
from pytest_clinical_drift.metrics.intervals import Interval, mean_intervals, over_cases, pooled_interval
from pytest_clinical_drift.metrics.recall import SlopeFit, mean, mean_curve, ratio, token_decay_rate
from pytest_clinical_drift.scoring.assessment import AlarmState, CaseAssessment, Curve, TurnAssessment
from pytest_clinical_drift.verdict.measures import Repeats, kept_at_end

BAND_RESAMPLES = 2_000
"""Intervals that are drawn, not gated, need fewer resamples than figures."""
PLACES = ("intake", "first third", "middle third", "last third")
"""Where a fact was last stated."""
_INTERFERENCE = ("interference followed", "none followed")
_BANDS = (10, 20, 40, 80, 160, 320, 640)
"""Last turns of the stretches in which breaches are counted."""

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
    runs = [run for repeats in cases for run in repeats]
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
        horizon=_horizon(cases, attrgetter("recall"), limit, confidence),
        horizon_worst=_horizon(cases, attrgetter("recall_worst"), limit, confidence),
        hard_stop_horizon=_horizon(cases, _hard_stops, limit, confidence),
        hard_stop_horizon_worst=_horizon(cases, partial(_hard_stops, worst=True), limit, confidence),
        slope_per_1000_tokens=mean(mean(map(_token_slope, repeats)) for repeats in cases),
        by_place=tuple(kept[name] for name in PLACES if name in kept),
        # without interludes that may be mistaken for a fact there is one group alone, and nothing to compare
        by_interference=tuple(kept[name] for name in _INTERFERENCE if name in kept and _INTERFERENCE[0] in kept),
        breaches=tuple(_breaches(runs)),
        single=_single(cases),
    )


def scheduled_curve(run: CaseAssessment, read: Read) -> Curve:
    """A figure by turn, at scheduled probes alone: extra ones follow changes and would make the mean jump."""
    return tuple(read(turn) if turn.scheduled else None for turn in run.turns)


def _token_slope(run: CaseAssessment) -> float | None:
    return token_decay_rate(scheduled_curve(run, attrgetter("recall")), [turn.prompt_tokens for turn in run.turns])


def _hard_stops(turn: TurnAssessment, *, worst: bool = False) -> float | None:
    counted = [fact.counts(worst=worst) is None for fact in turn.findings if fact.hard_stop]
    return ratio(sum(counted), len(counted))


def _horizon(cases: Sequence[Repeats], read: Read, limit: float, confidence: float) -> Horizon | None:
    """Over the cases that have this figure from the start."""
    curves, groups = [], []
    for repeats in cases:
        curve = mean_curve([scheduled_curve(run, read) for run in repeats])
        if any(curve[turn - 1] is not None for turn in repeats[0].scheduled_probes[:1]):
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
    for number in sorted({turn for repeats in cases for run in repeats for turn in run.scheduled_probes}):
        there = [[run.turns[number - 1] for run in repeats if number in run.scheduled_probes] for repeats in cases]
        means = [mean(turn.recall for turn in turns) for turns in there]
        known = [(value, runs[0].group) for value, runs in zip(means, cases, strict=True) if value is not None]
        values, groups = zip(*known, strict=True)
        (interval,) = mean_intervals([values], groups, (0.0, 1.0), confidence=confidence, resamples=BAND_RESAMPLES)
        low, high = _limits(interval)
        worst, hard_stops, tokens = (
            mean(mean(map(read, turns)) for turns in there)
            for read in (attrgetter("recall_worst"), _hard_stops, attrgetter("prompt_tokens"))
        )
        yield ProbedTurn(number, len(values), sum(values) / len(values), worst, low, high, hard_stops, tokens)


def _kept(runs: Sequence[CaseAssessment], known: Mapping[str, Case], confidence: float) -> dict[str, Kept]:
    """Facts of the last probes by where they were stated and by what followed; groups without a fact are left out."""
    found: dict[str, list[tuple[str, bool, bool]]] = {name: [] for name in (*PLACES, *_INTERFERENCE)}
    for run in (run for run in runs if run.case_id in known):
        case, last = known[run.case_id], len(run.turns)
        best, worst = (kept_at_end(run, worst=end) for end in (False, True))
        for fact, kept in best.items():
            since = last_stated(case, fact, last)
            place = PLACES[1 + min(2, 3 * (since - 1) // last)] if since else PLACES[0]
            interfered = any(fact in turn.interferes for turn in case.turns[since:last])
            for name in (place, _INTERFERENCE[0 if interfered else 1]):
                found[name].append((run.group, kept, worst[fact]))
    shares = {}
    for name, facts in found.items():
        if facts:
            groups, hits, hits_worst = zip(*facts, strict=True)
            limits = _limits(pooled_interval(hits, [1] * len(hits), groups, confidence=confidence))
            shares[name] = Kept(name, len(facts), sum(hits), sum(hits_worst), *limits)
    return shares


def _breaches(runs: Sequence[CaseAssessment]) -> Iterator[BreachBand]:
    longest = max(len(run.turns) for run in runs)
    ends = [*takewhile(lambda end: end < longest, _BANDS), longest]
    events = [e for run in runs for e in run.events if e.metric in ("breaches", "lesser_breaches")]
    for first, last in zip([1, *(end + 1 for end in ends)], ends, strict=False):
        inside = [(event.metric, event.state) for event in events if first <= event.turn <= last]
        yield BreachBand(
            first,
            last,
            sum(max(0, min(last, len(run.turns)) - first + 1) for run in runs),
            inside.count(("breaches", AlarmState.CONFIRMED)),
            inside.count(("lesser_breaches", AlarmState.CONFIRMED)),
            sum(state == AlarmState.OPEN for _, state in inside),
        )


def _single(cases: Sequence[Repeats]) -> SingleMessage | None:
    """Of the conversations whose last summary and single message were both scored."""
    kept = [
        [(run.turns[run.probes[-1] - 1], run.single) for run in repeats if run.probes and run.single]
        for repeats in cases
    ]
    kept = [pairs for of_case in kept if (pairs := [pair for pair in of_case if pair[1].recall is not None])]
    talk, talk_worst, single, single_worst = (
        mean(mean(getattr(pair[which], end) for pair in pairs) for pairs in kept)
        for which in (0, 1)
        for end in ("recall", "recall_worst")
    )
    if talk is None or single is None:
        return None
    by_judge = all(one.by_judge for pairs in kept for _, one in pairs)
    return SingleMessage(len(kept), talk, talk_worst, single, single_worst, by_judge)
