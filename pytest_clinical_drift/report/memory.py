"""How long a model remembers, in words: horizon, what is lost by the end; and in charts over the turns."""

import math

from markupsafe import Markup

from pytest_clinical_drift.metrics.horizon import FEWEST_CASES, SLOPE_TURNS, Horizon
from pytest_clinical_drift.report.page import Line, curve_chart, limit_levels, text_lines
from pytest_clinical_drift.report.sentences import alarm_line
from pytest_clinical_drift.report.words import rounded, span
from pytest_clinical_drift.results.models import RunResult
from pytest_clinical_drift.scoring.assessment import AlarmState, Curve
from pytest_clinical_drift.verdict.memory import Memory

_TEMPLATE = "memory.txt.j2"
_EARLY = (1, 5, 10, 20)
"""Of the turns that are all probed, those that a window shows."""


def memory_lines(result: RunResult) -> list[str]:
    """A line each, details indented; the whole of it only for runs that are longer than the slope's turns."""
    memory = result.memory
    if memory is None:
        return []
    long, horizons = memory.turns > SLOPE_TURNS, horizon_lines(result, memory)
    return text_lines(_TEMPLATE, "lines", result=result, memory=memory, long=long, horizons=horizons)


def horizon_lines(result: RunResult, memory: Memory) -> list[str]:
    """Both horizons, each as a mean, and the hard stop that was lost first."""
    lost = first_lost(result, memory)
    return text_lines(_TEMPLATE, "horizons", memory=memory, horizon=horizon_texts(memory), lost=lost)


def horizon_texts(memory: Memory) -> dict[str, str]:
    """The horizons of all facts and of hard stops, with open alarms where that makes a difference."""
    return {
        name: horizon_text(best) + (f"; with open alarms {horizon_text(worst)}" if worst != best else "")
        for name, best, worst in (
            ("facts", memory.horizon, memory.horizon_worst),
            ("hard_stops", memory.hard_stop_horizon, memory.hard_stop_horizon_worst),
        )
    }


def horizon_text(horizon: Horizon | None) -> str:
    """ "turn 71 (60 to 100)", "at least 160", or the point alone where there are too few cases for an interval."""
    if horizon is None:
        return "not evaluated"
    last = last_above(horizon)
    point = f"at least {last}" if horizon.point is None else f"turn {last}" if last else "before turn 1"
    if horizon.low is None:
        return f"{point} (no interval below {FEWEST_CASES} cases)"
    if (horizon.point is None and horizon.low == horizon.probed_to) or (horizon.low == 0 and horizon.high == 1):
        return point  # its interval says nothing else
    return f"{point} ({horizon.low or 'before 1'} to {horizon.high or f'beyond {horizon.probed_to}'})"


def last_above(horizon: Horizon) -> int:
    """The last turn at which the mean is above the limit, on the line between its probes; 0 where it never is."""
    return horizon.probed_to if horizon.point is None else math.ceil(horizon.point - 1e-9) - 1


def first_lost(result: RunResult, memory: Memory) -> list[str]:
    """Hard stops lost while their mean is still above the limit, which a mean does not show: the earliest confirmed
    one, and an open one where that is earlier."""
    if memory.hard_stop_horizon is None:
        return []
    held = max(1, last_above(memory.hard_stop_horizon))
    lost = [
        (alarm, run.case_id)
        for run in result.runs
        for alarm in run.alarms
        if alarm.severe
        and alarm.fact
        and not alarm.source
        and alarm.turn <= held
        and alarm.state != AlarmState.DISMISSED
    ]
    lost.sort(key=lambda pair: (pair[0].turn, pair[0].state == AlarmState.OPEN))
    sure = [pair for pair in lost if pair[0].state == AlarmState.CONFIRMED]
    return [f"case {case}, {alarm_line(alarm)}" for alarm, case in dict.fromkeys((*lost[:1], *sure[:1]))]


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
    held = _held_to(result)
    return [
        (
            str(probe.turn),
            rounded(probe.recall, limits=held),
            "" if probe.low is None or probe.high is None else span(probe.low, probe.high, limits=held),
            rounded(probe.recall_worst, limits=held) if probe.recall_worst != probe.recall else "",
            rounded(probe.hard_stops, limits=held),
            "not counted" if probe.prompt_tokens is None else f"{probe.prompt_tokens:,.0f}",
            str(probe.cases),
        )
        for probe in memory.probes
        if not shortened or probe.turn in _EARLY or probe.turn > SLOPE_TURNS
    ]


def _held_to(result: RunResult) -> list[float]:
    """The limits that recall is compared with."""
    return [level.value for level in limit_levels(result.limits.get("recall_at_end"))]


# -- charts


def recall_chart(result: RunResult) -> Markup:
    recall, worst = result.average_recall_curve_critical, result.average_worst_recall_curve_critical
    lines = [
        Line("recall", by_turn(result, recall), "line-main"),
        Line("strict recall", by_turn(result, result.average_strict_recall_curve_critical), "line-second"),
    ]
    if worst != recall:
        lines.append(Line("recall with open findings", by_turn(result, worst), "line-fourth"))
    levels = limit_levels(result.limits.get("recall_at_t10"))
    title = f"Mean recall of critical facts by turn, to turn {len(recall)}"
    return curve_chart(title, len(recall), lines, levels=levels, band=_band(result.memory))


def quality_chart(result: RunResult) -> Markup:
    lines = [
        Line("precision", by_turn(result, result.average_precision_curve_extended), "line-main"),
        Line("F1", by_turn(result, result.average_f1_curve_extended), "line-second"),
        Line("hallucinated rate", by_turn(result, result.average_hallucinated_rate_curve_extended), "line-third"),
    ]
    to = len(result.average_precision_curve_extended)
    return curve_chart(f"Precision, F1 and hallucinated entities by turn (extended set), to turn {to}", to, lines)


def _band(memory: Memory | None) -> list[tuple[int, float, float]]:
    """Turn and interval of the mean recall, at the probes that have one."""
    probes = memory.probes if memory else ()
    return [(p.turn, p.low, p.high) for p in probes if p.low is not None and p.high is not None]


def memory_chart(result: RunResult) -> Markup:
    """Recall over the turns, with the prompt tokens of each probe on a second axis."""
    memory = result.memory
    if memory is None or not memory.probes:
        return Markup("")
    probes = memory.probes
    lines = [Line("all facts", {probe.turn: probe.recall for probe in probes}, "line-main")]
    if any(probe.hard_stops is not None for probe in probes):
        lines.append(Line("hard stops", {probe.turn: probe.hard_stops for probe in probes}, "line-second"))
    worst = {probe.turn: probe.recall_worst for probe in probes}
    if worst != lines[0].values:
        lines.append(Line("all facts, with open alarms", worst, "line-fourth"))
    point = memory.horizon.point if memory.horizon else None
    return curve_chart(
        f"Recall at scheduled probes to turn {memory.turns}",
        memory.turns,
        lines,
        levels=limit_levels(result.limits.get("recall_at_end"))[:1],
        held=_held_to(result),
        band=_band(memory),
        marker=None if point is None else (point, "horizon"),
        tokens={probe.turn: probe.prompt_tokens for probe in probes if probe.prompt_tokens is not None},
    )
