"""How long facts are remembered: recall by turn and by tokens, the drift horizon, and what is lost by the end.

Shown beside the verdict. The gated figures of the same conversations are those of `metric_table`.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.cases.timeline import interfered, last_stated
from pytest_clinical_drift.metrics.horizon import Horizon, common_probes, drift_horizon, early_slope
from pytest_clinical_drift.metrics.intervals import mean_interval, over_cases, pooled_interval
from pytest_clinical_drift.metrics.recall import SlopeFit, mean, mean_curve, ratio, token_decay_rate
from pytest_clinical_drift.scoring.assessment import AlarmState, CaseAssessment, Curve, TurnAssessment
from pytest_clinical_drift.verdict.measures import Repeats, kept_at_end

BAND_RESAMPLES = 2_000
"""Intervals that are drawn, not gated, need fewer resamples than figures."""
PLACES = ("intake", "first third", "middle third", "last third")
"""Where a fact was last stated."""
_BANDS = (10, 20, 40, 80, 160, 320, 640)
"""Last turns of the stretches in which breaches are counted."""


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
    lengths = [len(run.turns) for repeats in cases for run in repeats]
    known = {case.id: case for case in case_set}
    places = list(_places(cases, known))
    probes = tuple(_probes(cases, confidence))
    recalls = {probe.turn: probe.recall for probe in probes}

    def horizon(read: Callable[[TurnAssessment], float | None], *, hard: bool = False) -> Horizon | None:
        return _horizon(cases, read, limit=limit, confidence=confidence, hard_stops=hard)

    return Memory(
        turns=max(lengths),
        shortest=min(lengths),
        limit=limit,
        probes=probes,
        line=early_slope([recalls.get(turn) for turn in range(1, max(lengths) + 1)]),
        horizon=horizon(lambda turn: turn.recall),
        horizon_worst=horizon(lambda turn: turn.recall_worst),
        hard_stop_horizon=horizon(lambda turn: _hard_stops(turn, worst=False), hard=True),
        hard_stop_horizon_worst=horizon(lambda turn: _hard_stops(turn, worst=True), hard=True),
        slope_per_1000_tokens=mean(mean(map(_token_slope, repeats)) for repeats in cases),
        by_place=tuple(_shares(PLACES, [(row.place, row) for row in places], confidence)),
        by_interference=tuple(
            _shares(
                ("interference followed", "none followed"),
                [("interference followed" if row.interfered else "none followed", row) for row in places],
                confidence,
            )
        )
        if any(row.interfered for row in places)
        else (),
        breaches=tuple(_breaches([run for repeats in cases for run in repeats])),
        single=_single(cases),
    )


def scheduled_curve(run: CaseAssessment, read: Callable[[TurnAssessment], float | None]) -> Curve:
    """A figure by turn, at scheduled probes alone: extra ones follow changes and would make the mean jump."""
    return tuple(read(turn) if turn.scheduled else None for turn in run.turns)


def _token_slope(run: CaseAssessment) -> float | None:
    scheduled = scheduled_curve(run, lambda turn: turn.recall)
    return token_decay_rate(scheduled, [turn.prompt_tokens for turn in run.turns])


def _hard_stops(turn: TurnAssessment, *, worst: bool) -> float | None:
    counted = [fact.counts(worst=worst) is None for fact in turn.findings if fact.hard_stop]
    return ratio(sum(counted), len(counted))


def _horizon(
    cases: Sequence[Repeats],
    read: Callable[[TurnAssessment], float | None],
    *,
    limit: float,
    confidence: float,
    hard_stops: bool,
) -> Horizon | None:
    curves, scheduled, groups = [], [], []
    for repeats in cases:
        curve = mean_curve([scheduled_curve(run, read) for run in repeats])
        probes = repeats[0].scheduled_probes
        if not probes or (hard_stops and curve[probes[0] - 1] is None):
            continue
        curves.append(curve)
        scheduled.append(probes)
        groups.append(repeats[0].group)
    if not curves:
        return None
    table, turns = common_probes(curves, scheduled)
    return drift_horizon(table, turns, groups, limit=limit, confidence=confidence, resamples=BAND_RESAMPLES)


def _probes(cases: Sequence[Repeats], confidence: float) -> Iterator[ProbedTurn]:
    for number in sorted({turn for repeats in cases for run in repeats for turn in run.scheduled_probes}):
        there = [
            ([run.turns[number - 1] for run in repeats if number in run.scheduled_probes], repeats[0].group)
            for repeats in cases
        ]
        there = [(turns, group) for turns, group in there if turns]
        values = [(value, group) for turns, group in there if (value := mean(t.recall for t in turns)) is not None]
        recalls = [value for value, _ in values]
        groups, drawn = [group for _, group in values], BAND_RESAMPLES
        interval = over_cases(
            mean_interval(recalls, groups, confidence=confidence, worst=0.0, best=1.0, resamples=drawn)
        )
        yield ProbedTurn(
            number,
            len(values),
            sum(recalls) / len(recalls),
            mean(mean(t.recall_worst for t in turns) for turns, _ in there),
            interval.low if interval else None,
            interval.high if interval else None,
            mean(mean(_hard_stops(t, worst=False) for t in turns) for turns, _ in there),
            mean(mean(t.prompt_tokens for t in turns) for turns, _ in there),
        )


_ENDS = ("recall", "recall_worst")


@dataclass(frozen=True, slots=True)
class _AtEnd:
    """One fact at the last probe."""

    group: str
    place: str
    interfered: bool
    kept: bool
    kept_worst: bool


def _places(cases: Sequence[Repeats], known: dict[str, Case]) -> Iterator[_AtEnd]:
    for run in (run for repeats in cases for run in repeats if run.case_id in known):
        case, last = known[run.case_id], len(run.turns)
        best, worst = (kept_at_end(run, worst=end) for end in (False, True))
        for fact, kept in best.items():
            since = last_stated(case, fact, last)
            place = PLACES[0] if not since else PLACES[1 + min(2, 3 * (since - 1) // last)]
            yield _AtEnd(run.group, place, interfered(case, fact, since, last), kept, worst[fact])


def _shares(names: Sequence[str], rows: Sequence[tuple[str, _AtEnd]], confidence: float) -> Iterator[Kept]:
    for name in names:
        inside = [row for group, row in rows if group == name]
        if inside:
            hits = [int(row.kept) for row in inside]
            among = pooled_interval(hits, [1] * len(hits), [row.group for row in inside], confidence=confidence)
            limits = (interval.low, interval.high) if (interval := over_cases(among)) else (None, None)
            yield Kept(name, len(inside), sum(hits), sum(row.kept_worst for row in inside), *limits)


def _breaches(runs: Sequence[CaseAssessment]) -> Iterator[BreachBand]:
    longest = max((len(run.turns) for run in runs), default=0)
    ends = [*takewhile(lambda end: end < longest, _BANDS), longest]
    for first, last in zip([1, *(end + 1 for end in ends)], ends, strict=False):
        events = [
            (event.metric, event.state)
            for run in runs
            for event in run.events
            if event.metric in ("breaches", "lesser_breaches") and first <= event.turn <= last
        ]
        yield BreachBand(
            first,
            last,
            sum(max(0, min(last, len(run.turns)) - first + 1) for run in runs),
            events.count(("breaches", AlarmState.CONFIRMED)),
            events.count(("lesser_breaches", AlarmState.CONFIRMED)),
            sum(state == AlarmState.OPEN for _, state in events),
        )


def _single(cases: Sequence[Repeats]) -> SingleMessage | None:
    per_case = [
        [(run.turns[run.probes[-1] - 1], run.single) for run in repeats if run.single and run.probes]
        for repeats in cases
    ]
    per_case = [[pair for pair in pairs if pair[1].recall is not None] for pairs in per_case]
    per_case = [pairs for pairs in per_case if pairs]
    talk, talk_worst = (mean(mean(getattr(turn, end) for turn, _ in pairs) for pairs in per_case) for end in _ENDS)
    single, worst = (mean(mean(getattr(one, end) for _, one in pairs) for pairs in per_case) for end in _ENDS)
    if talk is None or single is None:
        return None
    by_judge = all(one.by_judge for pairs in per_case for _, one in pairs)
    return SingleMessage(len(per_case), talk, talk_worst, single, worst, by_judge)
