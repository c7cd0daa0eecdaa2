"""The curves of a run over its turns, as charts."""

from collections.abc import Sequence

from markupsafe import Markup

from pytest_clinical_drift.report.charts import Extras, Line, curve_chart, limit_levels
from pytest_clinical_drift.report.memory import by_turn, recall_limits
from pytest_clinical_drift.results.models import RunResult
from pytest_clinical_drift.verdict.memory import Memory, ProbedTurn


def recall_chart(result: RunResult) -> Markup:
    recall = result.average_recall_curve_critical
    worst = result.average_worst_recall_curve_critical
    lines = [
        Line("recall", by_turn(result, recall), "line-main"),
        Line("strict recall", by_turn(result, result.average_strict_recall_curve_critical), "line-second"),
    ]
    if worst != recall:
        lines.append(Line("recall with open findings", by_turn(result, worst), "line-fourth"))
    levels = limit_levels(result.limits.get("recall_at_t10"))
    title = f"Mean recall of critical facts by turn, to turn {len(recall)}"
    return curve_chart(title, len(recall), lines, Extras(levels=levels, band=_band(result.memory)))


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
    title = f"Recall at scheduled probes to turn {memory.turns}"
    point = memory.horizon.point if memory.horizon else None
    extras = Extras(
        levels=limit_levels(result.limits.get("recall_at_end"))[:1],
        held=recall_limits(result),
        band=_band(memory),
        marker=None if point is None else (point, "horizon"),
        tokens={probe.turn: probe.prompt_tokens for probe in probes if probe.prompt_tokens is not None},
    )
    return curve_chart(title, memory.turns, _probe_lines(probes), extras)


def _probe_lines(probes: Sequence[ProbedTurn]) -> list[Line]:
    """All facts, hard stops where a case has one, and all facts at the worse end where that is another line."""
    lines = [Line("all facts", {probe.turn: probe.recall for probe in probes}, "line-main")]
    if any(probe.hard_stops is not None for probe in probes):
        lines.append(Line("hard stops", {probe.turn: probe.hard_stops for probe in probes}, "line-second"))
    worst = {probe.turn: probe.recall_worst for probe in probes}
    if worst != lines[0].values:
        lines.append(Line("all facts, with open alarms", worst, "line-fourth"))
    return lines
