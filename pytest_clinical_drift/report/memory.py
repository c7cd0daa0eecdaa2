"""How long a model remembers, in words and in a chart: horizon, what is lost by the end, the one-message control."""

from typing import Any

from markupsafe import Markup

from pytest_clinical_drift.metrics.horizon import SLOPE_TURNS, Horizon
from pytest_clinical_drift.report.case_text import table_lines
from pytest_clinical_drift.report.page import text_lines
from pytest_clinical_drift.report.svg import Line, curve_chart, limit_levels
from pytest_clinical_drift.report.words import optional, words
from pytest_clinical_drift.results.models import RunResult
from pytest_clinical_drift.verdict.memory import Memory, ProbedTurn

_TEMPLATE = "memory.txt.j2"
_EARLY = (1, 5, 10, 20)
"""Of the turns that are all probed, those that a window shows."""


def memory_lines(result: RunResult) -> list[str]:
    """A line each, details indented; the whole of it only for runs that are longer than the slope's turns."""
    memory = result.trend.memory if result.trend else None
    if memory is None:
        return []
    return text_lines(
        _TEMPLATE, "lines", result=result, memory=memory, long=memory.turns > SLOPE_TURNS, horizon=horizon_texts(memory)
    )


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
    point = f"at least {horizon.probed_to}" if horizon.point is None else f"turn {horizon.point:.0f}"
    if horizon.low is None:
        return f"{point} (no interval below 17 cases)"
    if horizon.point is None and horizon.low == horizon.probed_to:
        return point
    low = str(horizon.low) if horizon.low else "before 1"
    return f"{point} ({low} to {horizon.high or f'beyond {horizon.probed_to}'})"


def single_line(memory: Memory) -> str:
    """The conversation against the same transcript in one message; empty where that was not requested."""
    return " ".join(text_lines(_TEMPLATE, "single", memory=memory)) if memory.single else ""


def scheduled_turns(result: RunResult) -> list[int] | None:
    """Turns of the scheduled probes; None where nothing was probed."""
    memory = result.trend.memory if result.trend else None
    return [probe.turn for probe in memory.probes] if memory and memory.probes else None


def probe_rows(memory: Memory) -> list[tuple[str, ...]]:
    """Recall at every scheduled probe, a cell for each of the words "probes"."""
    return [_probe_row(probe) for probe in memory.probes]


def probe_table(result: RunResult, width: int) -> list[str]:
    """Recall at the probes of a long run that a window has room for."""
    memory = result.trend.memory if result.trend else None
    if memory is None or memory.turns <= SLOPE_TURNS:
        return []
    rows = [_probe_row(probe) for probe in memory.probes if probe.turn in _EARLY or probe.turn > SLOPE_TURNS]
    return table_lines(rows, words("probes"), width)


def _probe_row(probe: ProbedTurn) -> tuple[str, ...]:
    return (
        str(probe.turn),
        f"{probe.recall:.2f}",
        "" if probe.low is None or probe.high is None else f"{probe.low:.2f} to {probe.high:.2f}",
        optional(probe.recall_worst) if probe.recall_worst != probe.recall else "",
        optional(probe.hard_stops),
        "not counted" if probe.prompt_tokens is None else f"{probe.prompt_tokens:,.0f}",
        str(probe.cases),
    )


def memory_chart(result: RunResult) -> Markup:
    """Recall over the turns, with the prompt tokens of each probe on a second axis."""
    memory = result.trend.memory if result.trend else None
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
    lows, highs = values("low"), values("high")
    point = memory.horizon.point if memory.horizon else None
    return curve_chart(
        f"Recall at scheduled probes to turn {memory.turns}",
        lines,
        levels=limit_levels(result.limits.get("recall_at_end"))[:1],
        band=[None if low is None else (low, high) for low, high in zip(lows, highs, strict=True)],
        marker=None if point is None else (point, "horizon"),
        probed=sorted(by_turn),
        tokens={turn: probe.prompt_tokens for turn, probe in by_turn.items() if probe.prompt_tokens is not None},
    )
