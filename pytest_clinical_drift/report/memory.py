"""How long a model remembers, in words and in a chart: horizon, what is lost by the end, the one-message control."""

import math
from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from pytest_clinical_drift.metrics.horizon import FEWEST_CASES, SLOPE_TURNS, Horizon
from pytest_clinical_drift.report.case_text import table_lines
from pytest_clinical_drift.report.page import text_lines
from pytest_clinical_drift.report.sentences import alarm_title
from pytest_clinical_drift.report.svg import Line, curve_chart, limit_levels
from pytest_clinical_drift.report.words import optional, rounded, span, words
from pytest_clinical_drift.results.models import RunResult
from pytest_clinical_drift.scoring.assessment import AlarmState
from pytest_clinical_drift.verdict.memory import Memory, ProbedTurn

_TEMPLATE = "memory.txt.j2"
_EARLY = (1, 5, 10, 20)
"""Of the turns that are all probed, those that a window shows."""


def memory_lines(result: RunResult) -> list[str]:
    """A line each, details indented; the whole of it only for runs that are longer than the slope's turns."""
    memory = result.memory
    if memory is None:
        return []
    values = {"result": result, "memory": memory, "horizons": horizon_lines(result)}
    return text_lines(_TEMPLATE, "lines", long=memory.turns > SLOPE_TURNS, **values)


def horizon_lines(result: RunResult) -> list[str]:
    """Both horizons, each as a mean, and the hard stop that was lost first."""
    memory = result.memory
    if memory is None:
        return []
    return text_lines(_TEMPLATE, "horizons", memory=memory, horizon=horizon_texts(memory), lost=first_lost(result))


def horizon_texts(memory: Memory) -> dict[str, str]:
    """The horizons of all facts and of hard stops, with open alarms where that makes a difference."""
    both = {
        "facts": (memory.horizon, memory.horizon_worst),
        "hard_stops": (memory.hard_stop_horizon, memory.hard_stop_horizon_worst),
    }
    return {
        name: horizon_text(best) + (f"; with open alarms {horizon_text(worst)}" if worst != best else "")
        for name, (best, worst) in both.items()
    }


def horizon_text(horizon: Horizon | None) -> str:
    """ "turn 71 (60 to 100)", "at least 160", or the point alone where there are too few cases for an interval."""
    if horizon is None:
        return "not evaluated"
    last = last_above(horizon)
    point = f"at least {last}" if horizon.point is None else f"turn {last}" if last else "before turn 1"
    interval = _interval(horizon)
    return f"{point} ({interval})" if interval else point


def _interval(horizon: Horizon) -> str:
    """Its interval, or why it has none; empty where the whole of it lies beyond the last probe."""
    if horizon.low is None:
        return f"no interval below {FEWEST_CASES} cases"
    if (horizon.point is None and horizon.low == horizon.probed_to) or (horizon.low == 0 and horizon.high == 1):
        return ""  # nothing but what the point says
    low = str(horizon.low) if horizon.low else "before 1"
    return f"{low} to {horizon.high or f'beyond {horizon.probed_to}'}"


def last_above(horizon: Horizon) -> int:
    """The last turn at which the mean is above the limit, on the line between its probes; 0 where it never is."""
    return horizon.probed_to if horizon.point is None else math.ceil(horizon.point - 1e-9) - 1


def first_lost(result: RunResult) -> list[str]:
    """Hard stops lost while their mean is still above the limit, which a mean does not show: the earliest confirmed
    one, and an open one where that is earlier."""
    memory = result.memory
    if memory is None or memory.hard_stop_horizon is None:
        return []
    held = max(1, last_above(memory.hard_stop_horizon))
    lost = [
        (alarm, run.case_id)
        for run in result.runs
        for alarm in run.alarms
        if alarm.severe and alarm.fact and not alarm.source and alarm.turn <= held
    ]
    sure, maybe = (
        min((pair for pair in lost if pair[0].state == state), key=lambda pair: pair[0].turn, default=None)
        for state in (AlarmState.CONFIRMED, AlarmState.OPEN)
    )
    earlier = maybe if maybe and (sure is None or maybe[0].turn < sure[0].turn) else None
    return [
        f"case {case}, turn {alarm.turn}: {'open: ' if alarm.state == AlarmState.OPEN else ''}{alarm_title(alarm)}"
        for alarm, case in filter(None, (earlier, sure))
    ]


def end_lines(result: RunResult) -> list[str]:
    """Why recall at the end differs from recall at the last summary; nothing where it does not."""
    return text_lines(_TEMPLATE, "end", result=result, memory=result.memory) if result.memory else []


def single_line(memory: Memory) -> str:
    """The conversation against the same transcript in one message; empty where that was not requested."""
    return " ".join(text_lines(_TEMPLATE, "single", memory=memory)) if memory.single else ""


def scheduled_turns(result: RunResult) -> list[int] | None:
    """Turns of the scheduled probes; None where nothing was probed."""
    memory = result.memory
    return [probe.turn for probe in memory.probes] if memory and memory.probes else None


def probe_rows(result: RunResult) -> list[tuple[str, ...]]:
    """Recall at every scheduled probe, a cell for each of the words "probes"."""
    return [_probe_row(probe, _held_to(result)) for probe in result.memory.probes] if result.memory else []


def probe_table(result: RunResult, width: int) -> list[str]:
    """Recall at the probes of a long run that a window has room for."""
    memory = result.memory
    if memory is None or memory.turns <= SLOPE_TURNS:
        return []
    shown = [probe for probe in memory.probes if probe.turn in _EARLY or probe.turn > SLOPE_TURNS]
    return table_lines([_probe_row(probe, _held_to(result)) for probe in shown], words("probes"), width)


def _held_to(result: RunResult) -> list[float]:
    """The limits that recall is compared with."""
    return [level.value for level in limit_levels(result.limits.get("recall_at_end"))]


def _probe_row(probe: ProbedTurn, held: Sequence[float]) -> tuple[str, ...]:
    return (
        str(probe.turn),
        rounded(probe.recall, limits=held),
        "" if probe.low is None or probe.high is None else span(probe.low, probe.high, limits=held),
        optional(probe.recall_worst, held) if probe.recall_worst != probe.recall else "",
        optional(probe.hard_stops, held),
        "not counted" if probe.prompt_tokens is None else f"{probe.prompt_tokens:,.0f}",
        str(probe.cases),
    )


def recall_band(memory: Memory) -> list[tuple[int, float, float]]:
    """Turn and interval of the mean recall, at the probes that have one."""
    return [(p.turn, p.low, p.high) for p in memory.probes if p.low is not None and p.high is not None]


def memory_chart(result: RunResult) -> Markup:
    """Recall over the turns, with the prompt tokens of each probe on a second axis."""
    memory = result.memory
    if memory is None or not memory.probes:
        return Markup("")
    by_turn = {probe.turn: probe for probe in memory.probes}

    def values(name: str) -> list[Any]:
        return [getattr(by_turn[t], name) if t in by_turn else None for t in range(1, memory.turns + 1)]

    lines = [Line("all facts", values("recall"), "line-main")]
    if any(probe.hard_stops is not None for probe in memory.probes):
        lines.append(Line("hard stops", values("hard_stops"), "line-second"))
    if any(probe.recall_worst != probe.recall for probe in memory.probes):
        lines.append(Line("all facts, with open alarms", values("recall_worst"), "line-fourth"))
    point = memory.horizon.point if memory.horizon else None
    return curve_chart(
        f"Recall at scheduled probes to turn {memory.turns}",
        lines,
        levels=limit_levels(result.limits.get("recall_at_end"))[:1],
        held=_held_to(result),
        band=recall_band(memory),
        marker=None if point is None else (point, "horizon"),
        probed=sorted(by_turn),
        tokens={turn: probe.prompt_tokens for turn, probe in by_turn.items() if probe.prompt_tokens is not None},
    )
