"""The summary at the end of a run, for the terminal and the log of a CI job."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from tabulate import tabulate

from ..assessment import CaseAssessment
from ..metrics.recall import mean
from ..verdict import NOT_EVALUATED, CaseVerdict, Judgement, SetVerdict, label, number
from .case_text import facts_lost, headline
from .clean import one_line

Cases = Sequence[tuple[Sequence[CaseAssessment], CaseVerdict]]

_BARS = "▁▂▃▄▅▆▇█"


def summary_lines(slug: str, verdict: SetVerdict, cases: Cases, *, reused: int, width: int) -> list[str]:
    """The set's table, its judgements, the cases that need a look, and what the verdict means."""
    lines = [_set_table(slug, verdict, cases, width), ""]
    lines += [f"  {line}" for line in _judgement_lines(verdict.judgements, width - 2)]
    if worst := worst_cases(cases, width):
        lines += ["", *worst]
    if verdict.waivers:
        lines.append("")
        lines += [
            f"  waiver: {waiver.case} until {waiver.expires}, signed by {waiver.signed_by}: {one_line(waiver.reason)}"
            for waiver in verdict.waivers
        ]
    lines.append("")
    if reused:
        lines.append(f"  {reused} replies were reused from the store")
    reasons = f": {'; '.join(verdict.reasons[:4])}" if verdict.reasons else ""
    lines.append(wrapped(f"{verdict.headline}{reasons}", width))
    return lines


def wrapped(text: str, width: int) -> str:
    """Prose broken to the window, continued lines indented."""
    return textwrap.fill(text, max(40, width - 1), subsequent_indent="  ")


def _set_table(slug: str, verdict: SetVerdict, cases: Cases, width: int) -> str:
    runs = [run for repeats, _ in cases for run in repeats]
    by_metric = {item.metric: item for item in verdict.judgements}
    r_squared = mean(run.slope.r_squared if run.slope else None for run in runs)
    conflict = by_metric.get("k_conflict")
    pairs = sum(run.conflict.pairs for run in runs)
    slope = _value(by_metric, "drift_slope") + (f" ({r_squared:.2f})" if r_squared is not None else " (–)")
    row = (
        slug,
        f"{verdict.complete}/{verdict.selected}",
        *(_figure(mean(run.recall_at(turn) for run in runs)) for turn in (1, 5)),
        _value(by_metric, "recall_at_t10"),
        _value(by_metric, "strict_recall_at_t10"),
        slope,
        f"{_value(by_metric, 'k_conflict')} ({pairs})" if conflict else "–",
        _stops(runs),
        verdict.headline.partition(":")[0],
        verdict.diagnosis,
    )
    headers = (
        "model", "cases", "R@T1", "R@T5", "R@T10", "strict", "β (R²)", "K (pairs)", "hard/breach", "verdict",
        "diagnosis",
    )  # fmt: skip
    table = tabulate([row], headers=headers, tablefmt="simple", disable_numparse=True)
    if max(map(len, table.splitlines())) <= width:
        return table
    return tabulate(list(zip(headers, map(str, row), strict=True)), tablefmt="plain", disable_numparse=True)


def _stops(runs: Sequence[CaseAssessment]) -> str:
    """Cases with a hard stop and with a breach; nothing where no case was run to its end and none was seen."""
    stops, breaches = sum(bool(run.hard_stops) for run in runs), sum(bool(run.breaches) for run in runs)
    measured = stops or breaches or any(run.incomplete is None for run in runs)
    return f"{stops}/{breaches}" if measured else "–"


def _judgement_lines(judgements: Sequence[Judgement], width: int) -> list[str]:
    rows = []
    for item in judgements:
        interval = f"[{item.interval.low:.3f}, {item.interval.high:.3f}]" if item.interval else ""
        value = NOT_EVALUATED if item.value is None else number(item.metric, item.value)
        rows.append((label(item.metric), value, interval, item.limit, item.verdict, item.detail))
    table = tabulate(
        rows,
        headers=("set", "value", "95 % interval", "PASS limit", "verdict", ""),
        tablefmt="plain",
        disable_numparse=True,
    )
    return [line if len(line) <= width else line[: width - 1] + "…" for line in table.splitlines()]


def worst_cases(cases: Cases, width: int, limit: int = 10) -> list[str]:
    """Cases that did not pass, the worst first, each with its curve."""
    order = {"FAIL": 0, "INCOMPLETE": 1, "CAUTION": 2}
    shown = [(repeats, verdict) for repeats, verdict in cases if verdict.verdict in order]
    shown.sort(key=lambda item: (order[item[1].verdict], item[0][0].recall_at_horizon or 0.0, item[1].case_id))
    longest = max((len(verdict.case_id) for _, verdict in shown[:limit]), default=0)
    lines = []
    for repeats, verdict in shown[:limit]:
        curve = sparkline(repeats[0].recall_curve)
        lines.append(f"  {verdict.verdict:<10} {verdict.case_id:<{longest}} {curve}")
        lines.append(f"             {one_line(headline(verdict, repeats), max(40, width - 14))}")
    if len(shown) > limit:
        lines.append(f"  … and {len(shown) - limit} more")
    return lines


def losses(cases: Cases) -> list[str]:
    """Every fact lost or contradicted, by case and turn."""
    lines: list[str] = []
    for repeats, verdict in cases:
        found = [line for run in repeats for line in facts_lost(run)]
        lines += [f"  {verdict.case_id}", *(f"    {line}" for line in found)] if found else []
    return ["  facts lost by turn", *lines, ""] if lines else []


def sparkline(curve: Sequence[float | None]) -> str:
    """A recall curve in one character per turn; a dot where nothing was evaluated."""
    return "".join("·" if value is None else _BARS[min(7, int(value * 8))] for value in curve)


def _value(by_metric: dict[str, Judgement], name: str) -> str:
    item = by_metric.get(name)
    return "–" if item is None or item.value is None else number(name, item.value)


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
