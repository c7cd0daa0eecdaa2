"""The summary for a CI page: GitHub-flavoured markdown in which model text stays text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ..verdict import label, number
from .clean import one_line

_SIGNS = {"PASS": "🟢", "CAUTION": "🟡", "FAIL": "🔴", "INCOMPLETE": "🟣", "PARTIAL": "⚪"}
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#!|~&@$])")


def inert(text: str, width: int = 160) -> str:
    """Text that markdown renders as itself: one line, every special character escaped, no mentions or links."""
    return _SPECIAL.sub(r"\\\1", one_line(text, width)).replace("\\<", "&lt;").replace("\\&", "&amp;")


def render_markdown(record: Mapping[str, Any], slug: str) -> str:
    """Verdict, reasons, the gate's table and the cases that need a look."""
    lines = [f"## {_SIGNS.get(record['verdict'], '')} Clinical drift: {inert(slug)}: {record['headline']}", ""]
    lines += [f"- {inert(reason, 300)}" for reason in record["reasons"][:6]]
    lines += [
        f"- Diagnosis: {record['diagnosis']}",
        "",
        "| metric | value | interval | limit | verdict |",
        "| --- | --- | --- | --- | --- |",
    ]
    lines += [_row(item) for item in record["judgements"]]
    if troubled := [case for case in record["cases"] if case["verdict"] in ("FAIL", "INCOMPLETE")]:
        lines += [
            "",
            f"### Cases to look at ({len(troubled)})",
            "",
            "| case | verdict | Recall@T10 | what |",
            "| --- | --- | --- | --- |",
        ]
        lines += [_case(case) for case in troubled[:40]]
        if len(troubled) > 40:
            lines.append(f"| … and {len(troubled) - 40} more | | | |")
    lines += ["", f"<sub>{inert(record['what_this_means'], 600)}</sub>", ""]
    return "\n".join(lines)


def workflow_commands(record: Mapping[str, Any]) -> list[str]:
    """GitHub workflow commands, one per failing or incomplete case."""
    commands = []
    for case in record["cases"]:
        if case["verdict"] in ("FAIL", "INCOMPLETE"):
            level = "error" if case["verdict"] == "FAIL" else "warning"
            text = one_line(f"{case['case_id']}: {_what(case)}", 300)
            commands.append(f"::{level} title=clinical drift::{_command_text(text)}")
    return commands


def _row(item: Mapping[str, Any]) -> str:
    value = "not evaluated" if item["value"] is None else number(item["metric"], item["value"])
    interval = f"{item['interval']['low']:.3f} to {item['interval']['high']:.3f}" if item.get("interval") else ""
    verdict = f"{_SIGNS.get(item['verdict'], '')} {item['verdict']}"
    return f"| {label(item['metric'])} | {value} | {interval} | {inert(item['limit'])} | {verdict} |"


def _case(case: Mapping[str, Any]) -> str:
    values = {item["metric"]: item["value"] for item in case["judgements"]}
    recall = values.get("recall_at_t10")
    shown = "–" if recall is None else f"{recall:.2f}"
    verdict = f"{_SIGNS[case['verdict']]} {case['verdict']}"
    return f"| {inert(case['case_id'])} | {verdict} | {shown} | {inert(_what(case), 240)} |"


def _what(case: Mapping[str, Any]) -> str:
    causes: Sequence[str] = [run["incomplete"] for run in case["repeats"] if run["incomplete"]]
    if causes:
        return causes[0]
    decisive = [item for item in case["judgements"] if item["verdict"] == "FAIL"]
    return "; ".join(
        item["detail"]
        if item.get("detail") and item["metric"] != "k_conflict"
        else f"{label(item['metric'])} {number(item['metric'], item['value'])} against {item['limit']}"
        for item in decisive
        if item["value"] is not None
    )


def _command_text(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
