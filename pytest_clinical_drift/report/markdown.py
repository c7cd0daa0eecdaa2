"""The summary for a CI page: GitHub-flavoured markdown in which model text stays text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_clinical_drift.report.clean import one_line
from pytest_clinical_drift.report.figures import counted, interval_text, value_text, worse_text
from pytest_clinical_drift.report.meaning import waiver_text
from pytest_clinical_drift.report.terminal import alarm_lines
from pytest_clinical_drift.verdict.values import label

SIGNS = {"PASS": "🟢", "CAUTION": "🟡", "FAIL": "🔴", "INCOMPLETE": "🟣", "PARTIAL": "⚪", "UNSETTLED": "🟠"}
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#!|~&@$])")
_ORDER = ("FAIL", "INCOMPLETE", "UNSETTLED")
_MOST_CASES, _MOST_ALARMS = 40, 20


def inert(text: str, width: int = 160) -> str:
    """Text that markdown renders as itself: one line, every special character escaped, no mentions or links."""
    return _SPECIAL.sub(r"\\\1", one_line(text, width)).replace("\\<", "&lt;").replace("\\&", "&amp;")


def render_markdown(record: Mapping[str, Any], slug: str) -> str:
    """Verdict, reasons, alarms with the judge's limits, the gate's table and the cases that need a look."""
    lines = [
        f"## {SIGNS.get(record['verdict'], '')} Clinical drift: {inert(slug)}: {inert(record['headline'], 300)}",
        "",
    ]
    lines += [f"- {inert(reason, 300)}" for reason in record["reasons"][:6]]
    lines += [f"- Diagnosis: {record['diagnosis']}", *(f"- {inert(line, 400)}" for line in alarm_lines(record))]
    lines += [f"- {inert(waiver_text(waiver), 400)}" for waiver in record["waivers"]]
    if "reviewed" in record:
        lines.append(f"- {inert(record['reviewed']['sentence'], 400)}")
    lines += ["", "| metric | value | with open alarms | interval | PASS limit | verdict |", "|" + " --- |" * 6]
    lines += [_row(item) for item in record["judgements"]]
    lines += [*_troubled(record), *_severe(record)]
    lines += ["", f"<sub>{inert(record['what_this_means'], 700)}</sub>", ""]
    return "\n".join(lines)


def workflow_commands(record: Mapping[str, Any]) -> list[str]:
    """GitHub workflow commands, one per case that failed, could not be run, or is unsettled."""
    commands = []
    for case in record["cases"]:
        if case["verdict"] in _ORDER:
            level = "error" if case["verdict"] == "FAIL" else "warning"
            text = one_line(f"{case['case_id']}: {_what(case)}", 300)
            commands.append(f"::{level} title=clinical drift::{_command_text(text)}")
    return commands


def _row(item: Mapping[str, Any]) -> str:
    metric, value = item["metric"], item["value"]
    cells = (
        label(metric),
        value_text(metric, value, of_set=True),
        worse_text(metric, value, item.get("worst"), of_set=True),
        interval_text(item),
        inert(item["limit"]),
        f"{SIGNS.get(item['verdict'], '')} {item['verdict']}",
    )
    return f"| {' | '.join(cells)} |"


def _troubled(record: Mapping[str, Any]) -> list[str]:
    troubled = [case for wanted in _ORDER for case in record["cases"] if case["verdict"] == wanted]
    if not troubled:
        return []
    lines = [
        "",
        f"### Cases to look at ({len(troubled)})",
        "",
        "| case | verdict | Recall@T10 | what |",
        "|" + " --- |" * 4,
    ]
    lines += [_case(case) for case in troubled[:_MOST_CASES]]
    more = len(troubled) - _MOST_CASES
    return [*lines, f"| … and {counted(more, 'more case')} | | | |"] if more > 0 else lines


def _severe(record: Mapping[str, Any]) -> list[str]:
    """Severe alarms that count, the confirmed first, each with its state and words."""
    found = [
        (alarm, case["case_id"])
        for state in ("confirmed", "open")
        for case in record["cases"]
        for run in case["repeats"]
        for alarm in run["alarms"]
        if alarm["severe"] and alarm["state"] == state
    ]
    if not found:
        return []
    lines = ["", f"### Severe alarms ({len(found)})", ""]
    for alarm, case_id in found[:_MOST_ALARMS]:
        quote = f": “{inert(alarm['quote'])}”" if alarm["quote"] else ""
        lines.append(
            f"- **{alarm['state']}** {inert(case_id)}, turn {alarm['turn']}: {inert(alarm['title'], 240)}{quote}"
        )
    more = len(found) - _MOST_ALARMS
    return [*lines, f"- … and {more} more; the dossier lists them all"] if more > 0 else lines


def _case(case: Mapping[str, Any]) -> str:
    values = {item["metric"]: item["value"] for item in case["judgements"]}
    recall = values.get("recall_at_t10")
    shown = "–" if recall is None else f"{recall:.2f}"
    verdict = f"{SIGNS[case['verdict']]} {case['verdict']}"
    return f"| {inert(case['case_id'])} | {verdict} | {shown} | {inert(_what(case), 240)} |"


def _what(case: Mapping[str, Any]) -> str:
    causes: Sequence[str] = [run["incomplete"] for run in case["repeats"] if run["incomplete"]]
    return causes[0] if causes else str(case["headline"])


def _command_text(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
