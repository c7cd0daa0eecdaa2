"""The summary at the end of a run, for the terminal and the log of a CI job: nothing wider than the window."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from tabulate import tabulate

from pytest_clinical_drift.metrics.recall import mean
from pytest_clinical_drift.report.beside import beside_lines
from pytest_clinical_drift.report.case_text import facts_lost, fill, headline, table_lines
from pytest_clinical_drift.report.figures import counted, interval_text, value_text, worse_text
from pytest_clinical_drift.report.judge_text import judge_line
from pytest_clinical_drift.report.meaning import cut_lines, waiver_text
from pytest_clinical_drift.scoring.assessment import CaseAssessment
from pytest_clinical_drift.verdict.values import CaseVerdict, label, number

Cases = Sequence[tuple[Sequence[CaseAssessment], CaseVerdict]]
Record = Mapping[str, Any]

_BARS = "▁▂▃▄▅▆▇█"
_NARROWEST = 40
_WIDE = 110
"""From here on the interval has a column of its own."""


def render_summary(
    record: Record, cases: Cases, slug: str, *, attempt: str = "", width: int = 80, verbosity: int = 0
) -> list[str]:
    """Lines for the terminal: below 0 the verdict alone, above 0 with every fact lost."""
    width = max(_NARROWEST, width - 1)
    verdict = fill(_verdict(record), width)
    if verbosity < 0:
        return [verdict]
    blocks = [
        [set_table(record, cases, slug, width)],
        [f"  {line}" for line in _judgements(record["judgements"], width - 2)],
        [fill(line, width, "  ") for line in alarm_lines(record)],
        worst_cases(cases, width),
        [fill(waiver_text(waiver), width, "  ") for waiver in record["waivers"]],
        losses(cases, width) if verbosity > 0 else [],
        [*(_indented(line, width) for line in beside_lines(record)), *_origin(record, attempt, width)],
        [verdict, *([fill(record["reviewed"]["sentence"], width, "  ")] if "reviewed" in record else [])],
        [textwrap.fill(str(record["what_this_means"]), width)],
    ]
    lines: list[str] = []
    for block in filter(None, blocks):
        lines += ["", *block] if lines else block
    return lines


def _verdict(record: Record) -> str:
    reasons = f": {'; '.join(record['reasons'][:4])}" if record["reasons"] else ""
    return f"{record['headline']}{reasons}"


def set_table(record: Record, cases: Cases, slug: str, width: int) -> str:
    """The set in one row, or one figure per line where the window is too narrow."""
    runs = [run for repeats, _ in cases for run in repeats]
    values = {item["metric"]: item["value"] for item in record["judgements"]}
    r_squared = record["r_squared"]
    row = (
        slug,
        f"{record['cases_complete']} of {record['cases_total']}",
        *(_figure(mean(_recall_at(run, turn) for run in runs)) for turn in (1, 5)),
        _value(values, "recall_at_t10"),
        _value(values, "strict_recall_at_t10"),
        _value(values, "drift_slope") + (f" ({r_squared:.2f})" if r_squared is not None else " (–)"),
        f"{_value(values, 'k_conflict')} ({record['knowledge_conflict_pairs']})",
        *(_cases_with(values, name) for name in ("hard_stops", "breaches")),
        record["verdict"],
        record["diagnosis"],
    )
    headers = (
        "model", "complete", "R@T1", "R@T5", "R@T10", "strict", "β (R²)", "K (pairs)", "cases with hard stop",
        "with breach", "verdict", "diagnosis",
    )  # fmt: skip
    table = tabulate([row], headers=headers, tablefmt="simple", disable_numparse=True)
    if max(map(len, table.splitlines())) <= width:
        return table
    narrow = tabulate(list(zip(headers, map(str, row), strict=True)), tablefmt="plain", disable_numparse=True)
    return "\n".join(one_line_kept(line, width) for line in narrow.splitlines())


def one_line_kept(line: str, width: int) -> str:
    """A line cut to the window; only a model's name can be too long."""
    return line if len(line) <= width else line[: width - 1] + "…"


def _cases_with(values: Mapping[str, float | None], metric: str) -> str:
    value = values.get(metric)
    return "–" if value is None else f"{value:g}"


def _judgements(judgements: Sequence[Record], width: int) -> list[str]:
    """The set's figures; in a narrow window the interval moves to the basis, which wraps."""
    narrow = width < _WIDE
    rows, basis = [], []
    for item in judgements:
        metric, value, interval = item["metric"], item["value"], interval_text(item)
        rows.append(
            (
                label(metric),
                value_text(metric, value, of_set=True),
                worse_text(metric, value, item.get("worst"), of_set=True),
                "" if narrow else interval,
                item["limit"],
                item["verdict"],
            )
        )
        moved = [f"interval {interval}"] if narrow and interval else []
        basis.append("; ".join((*moved, *filter(None, (item.get("detail", ""),)))))
    return table_lines(
        rows, ("set", "value", "with open", "95 % interval", "PASS limit", "verdict"), basis, "basis", width
    )


def alarm_lines(record: Record) -> list[str]:
    """Alarms by state and by who settled them, the judge's limits, what was not gated, what was cut off."""
    grounds = record["grounds"]
    states = {
        state: sum(kind[state] for kind in record["alarms"].values()) for state in ("confirmed", "open", "dismissed")
    }
    settled = [
        f"{found['confirmed']} confirmed and {found['dismissed']} dismissed by {_BY[found['by']]}"
        for found in grounds["settled"]
        if found["confirmed"] or found["dismissed"]
    ]
    total = ", ".join(f"{count} {state}" for state, count in states.items())
    lines = [f"alarms: {total}" + (f" ({'; '.join(settled)})" if settled else "")]
    lines.append(judge_line(record["manifest"].get("judged"), grounds))
    if record["not_gated"]:
        lines.append(f"not gated: {', '.join(record['not_gated'])}")
    return lines + cut_lines(grounds)


_BY = {"rule": "rules", "judge": "the judge", "person": "people"}


def _origin(record: Record, attempt: str, width: int) -> list[str]:
    manifest = record["manifest"]
    lines = []
    if manifest["replies_reused"]:
        since = manifest.get("replies_reused_since")
        oldest = f", the oldest generated at {since}" if since else ""
        lines.append(fill(f"{counted(manifest['replies_reused'], 'reply')} reused from the store{oldest}", width, "  "))
    return lines + ([fill(attempt, width, "  ")] if attempt else [])


def _indented(line: str, width: int) -> str:
    depth = len(line) - len(line.lstrip())
    return fill(line.strip(), width, " " * (depth + 2))


def worst_cases(cases: Cases, width: int, limit: int = 10) -> list[str]:
    """Cases that did not pass, the worst first, each with its curve."""
    order = {"FAIL": 0, "INCOMPLETE": 1, "UNSETTLED": 2, "CAUTION": 3}
    shown = [(repeats, verdict) for repeats, verdict in cases if verdict.verdict in order]
    shown.sort(key=lambda item: (order[item[1].verdict], item[0][0].recall_at_horizon or 0.0, item[1].case_id))
    longest = max((len(verdict.case_id) for _, verdict in shown[:limit]), default=0)
    lines = []
    for repeats, verdict in shown[:limit]:
        curve = sparkline(repeats[0].recall_curve)
        lines.append(one_line_kept(f"  {verdict.verdict:<10} {verdict.case_id:<{longest}} {curve}", width))
        told = textwrap.wrap(headline(verdict, repeats), max(_NARROWEST, width - 13))
        lines += [f"             {line}" for line in told[:3]]
        if len(told) > 3:
            lines[-1] = one_line_kept(f"{lines[-1]} …", width)
    if len(shown) > limit:
        lines.append(f"  … and {counted(len(shown) - limit, 'more case')}")
    return lines


def losses(cases: Cases, width: int) -> list[str]:
    """Every fact lost or contradicted, by case and turn."""
    lines: list[str] = []
    for repeats, verdict in cases:
        found = [line for run in repeats for line in facts_lost(run)]
        lines += [f"  {verdict.case_id}", *(fill(line, width, "    ") for line in found)] if found else []
    return ["  facts lost by turn", *lines] if lines else []


def sparkline(curve: Sequence[float | None]) -> str:
    """A recall curve in one character per turn; a dot where nothing was evaluated."""
    return "".join("·" if value is None else _BARS[min(7, int(value * 8))] for value in curve)


def _recall_at(run: CaseAssessment, turn: int) -> float | None:
    return run.recall_curve[turn - 1] if turn <= len(run.turns) else None


def _value(values: Mapping[str, float | None], name: str) -> str:
    value = values.get(name)
    return "–" if value is None else number(name, value)


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
