"""How long a model remembers, in words: the horizon, what is lost by the end, and recall at every probe."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from pytest_clinical_drift.metrics.horizon import FEWEST_CASES, SLOPE_TURNS, Horizon
from pytest_clinical_drift.report.charts import limit_levels
from pytest_clinical_drift.report.clean import as_lines
from pytest_clinical_drift.report.sentences import alarm_line
from pytest_clinical_drift.report.words import (
    breaches_read,
    counted,
    judged_text,
    limit_values,
    rounded,
    span,
    words,
)
from pytest_clinical_drift.results.models import RunResult
from pytest_clinical_drift.scoring.assessment import Alarm, AlarmState, Curve
from pytest_clinical_drift.verdict.memory import BreachBand, Kept, Memory, ProbedTurn, SingleMessage

_EARLY = (1, 5, 10, 20)
"""Of the turns that are all probed, those that a window shows."""
_EXACT = 1e-9


def memory_lines(result: RunResult) -> list[str]:
    """A line each, details indented; the whole of it only for runs that are longer than the slope's turns."""
    memory = result.memory
    if memory is None:
        return []
    shortest = f" (the shortest case has {memory.shortest})" if memory.shortest != memory.turns else ""
    lines = [f"memory to turn {memory.turns}{shortest}:"]
    details = [*horizon_lines(result, memory), *end_lines(result, memory), *_slope_lines(memory)]
    if memory.turns > SLOPE_TURNS:
        details += [f"kept at the end, last stated in the {row.group}: {_share(row)}" for row in memory.by_place]
        for row in memory.by_interference:
            details.append(f"kept at the end, {words('interference')[row.group]}: {_share(row)}")
        read = breaches_read(result)
        details += [f"breaches, {_breaches(band, read=read)}" for band in memory.breaches]
    if memory.single is not None:
        details.append(single_text(memory.single))
    return as_lines(*lines, *(f"  {line}" for line in details))


def _slope_lines(memory: Memory) -> list[str]:
    if memory.slope_per_1000_tokens is not None:
        slope = rounded(memory.slope_per_1000_tokens, "+.4f")
        return [f"slope to turn {memory.turns}: {slope} recall per 1,000 prompt tokens"]
    if memory.turns > SLOPE_TURNS:
        return ["slope per prompt token: not evaluated, tokens were not counted"]
    return []


def _share(row: Kept) -> str:
    interval = ""
    if row.low is not None and row.high is not None:
        interval = f", {span(row.low, row.high)}"
    worst = f"; {row.kept_worst} with open alarms" if row.kept_worst != row.kept else ""
    return f"{row.kept} of {counted(row.facts, 'fact')} ({rounded(row.share)}{interval}{worst})"


def _breaches(band: BreachBand, *, read: bool) -> str:
    """`read`: whether somebody who may decide has read replies for broken demands."""
    found = f"{band.severe} severe, {band.lesser} lesser" if read or band.severe or band.lesser else "unread"
    waiting = f", {band.open} open" if band.open else ""
    return f"turns {band.first} to {band.last}: {found}{waiting} in {counted(band.replies, 'reply')}"


def single_text(one: SingleMessage) -> str:
    """The last summary against that of the same transcript given in one message."""
    recall = f"recall after the last turn of {counted(one.cases, 'case')}"
    conversation = f"{rounded(one.conversation)} in the conversation"
    single = f"{rounded(one.single)} with the same transcript in one message"
    worst = ""
    if one.conversation_worst != one.conversation or one.single_worst != one.single:
        worst = f"; with open alarms {rounded(one.conversation_worst)} and {rounded(one.single_worst)}"
    read = "both read by the judge" if one.by_judge else "scored by rules"
    return f"{recall}: {conversation}, {single}{worst}; {read}"


def end_lines(result: RunResult, memory: Memory) -> list[str]:
    """Why the recall at the end is more than that of the last summary, where it is."""
    at_end = result.judgement("recall_at_end")
    if at_end is None or at_end.value is None or not memory.probes or memory.shortest != memory.turns:
        return []
    last = memory.probes[-1]
    if last.recall >= at_end.value - _EXACT:
        return []
    both = f"recall at the end ({judged_text(at_end)}) counts a fact as lost only where the last two summaries lack it"
    return [f"{both}; the last one alone: {rounded(last.recall, limits=limit_values(at_end))}"]


def horizon_lines(result: RunResult, memory: Memory) -> list[str]:
    """Both horizons, each as a mean, and the hard stop that was lost first."""
    horizon = horizon_texts(memory)
    limit = rounded(memory.limit, limits=[memory.limit])
    cases = ""
    if memory.hard_stop_horizon is not None:
        cases = f" (mean of {counted(memory.hard_stop_horizon.cases, 'independent case')})"
    lines = [
        f"drift horizon, mean recall above {limit}: {horizon.facts}",
        f"drift horizon of hard stops{cases}: {horizon.hard_stops}",
    ]
    lost = first_lost(result, memory)
    if lost:
        earliest = "; ".join(lost)
        single = "the mean hides single cases; hard stops lost or in doubt before that horizon, the earliest"
        lines.append(f"{single}: {earliest}")
    return as_lines(*lines)


@dataclass(frozen=True, slots=True)
class HorizonTexts:
    """Horizons in words, with open alarms where that makes a difference."""

    facts: str
    hard_stops: str


def horizon_texts(memory: Memory) -> HorizonTexts:
    return HorizonTexts(
        facts=_both_ends(memory.horizon, memory.horizon_worst),
        hard_stops=_both_ends(memory.hard_stop_horizon, memory.hard_stop_horizon_worst),
    )


def _both_ends(best: Horizon | None, worst: Horizon | None) -> str:
    text = horizon_text(best)
    return text if worst == best else f"{text}; with open alarms {horizon_text(worst)}"


def horizon_text(horizon: Horizon | None) -> str:
    """ "turn 71 (60 to 100)", "at least 160", or the point alone where there are too few cases for an interval."""
    if horizon is None:
        return "not evaluated"
    point = _point(horizon)
    if horizon.low is None:
        return f"{point} (no interval below {FEWEST_CASES} cases)"
    whole = horizon.point is None and horizon.low == horizon.probed_to
    empty = horizon.low == 0 and horizon.high == 1
    if whole or empty:
        return point  # its interval says nothing else
    low = horizon.low or "before 1"
    high = horizon.high or f"beyond {horizon.probed_to}"
    return f"{point} ({low} to {high})"


def _point(horizon: Horizon) -> str:
    last = last_above(horizon)
    if horizon.point is None:
        return f"at least {last}"
    return f"turn {last}" if last else "before turn 1"


def last_above(horizon: Horizon) -> int:
    """The last turn at which the mean is above the limit, on the line between its probes; 0 where it never is."""
    return horizon.probed_to if horizon.point is None else math.ceil(horizon.point - _EXACT) - 1


def first_lost(result: RunResult, memory: Memory) -> list[str]:
    """Hard stops lost while their mean is still above the limit, which a mean does not show: the earliest confirmed
    one, and an open one where that is earlier."""
    if memory.hard_stop_horizon is None:
        return []
    held = max(1, last_above(memory.hard_stop_horizon))
    lost: list[tuple[Alarm, str]] = []
    for run in result.runs:
        lost += [(alarm, run.case_id) for alarm in run.alarms if _is_lost_stop(alarm, held)]
    lost.sort(key=lambda pair: (pair[0].turn, pair[0].state == AlarmState.OPEN))
    sure = [pair for pair in lost if pair[0].state == AlarmState.CONFIRMED]
    return [f"case {case}, {alarm_line(alarm)}" for alarm, case in dict.fromkeys((*lost[:1], *sure[:1]))]


def _is_lost_stop(alarm: Alarm, last_turn: int) -> bool:
    """Whether it says that a summary up to a turn lacks a hard stop."""
    stands = alarm.state != AlarmState.DISMISSED and alarm.turn <= last_turn
    return bool(stands and alarm.severe and alarm.fact and not alarm.source)


def by_turn(result: RunResult, curve: Curve) -> dict[int, float | None]:
    """A curve at the scheduled probes."""
    probes = result.memory.probes if result.memory else ()
    turns = [probe.turn for probe in probes] or range(1, len(curve) + 1)
    return {turn: curve[turn - 1] for turn in turns if turn <= len(curve)}


def probe_cells(result: RunResult, *, shortened: bool = False) -> list[tuple[str, ...]]:
    """Recall at every scheduled probe, a cell for each of the words "probes".

    `shortened`: what a window has room for, and nothing of runs that are no longer than the slope's turns.
    """
    memory = result.memory
    if memory is None or (shortened and memory.turns <= SLOPE_TURNS):
        return []
    held = recall_limits(result)
    probes: Iterable[ProbedTurn] = memory.probes
    if shortened:
        probes = (probe for probe in probes if probe.turn in _EARLY or probe.turn > SLOPE_TURNS)
    return [_probe(probe, held) for probe in probes]


def _probe(probe: ProbedTurn, held: list[float]) -> tuple[str, ...]:
    interval = worst = ""
    if probe.low is not None and probe.high is not None:
        interval = span(probe.low, probe.high, limits=held)
    if probe.recall_worst != probe.recall:
        worst = rounded(probe.recall_worst, limits=held)
    return (
        str(probe.turn),
        rounded(probe.recall, limits=held),
        interval,
        worst,
        rounded(probe.hard_stops, limits=held),
        "not counted" if probe.prompt_tokens is None else f"{probe.prompt_tokens:,.0f}",
        str(probe.cases),
    )


def recall_limits(result: RunResult) -> list[float]:
    """The limits that recall is compared with."""
    return [level.value for level in limit_levels(result.limits.get("recall_at_end"))]
