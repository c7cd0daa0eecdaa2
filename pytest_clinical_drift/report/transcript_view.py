"""A conversation to read: patient, reply and summary side by side, facts as coloured margins, alarms at their place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_clinical_drift.report.alarm_view import cell, fact_rows, run_name
from pytest_clinical_drift.report.marks import Mark, marked, quote_marks
from pytest_clinical_drift.transcript import Exchange, Reply, Transcript

_TEXT_LIMIT = 12_000
"""Longest reply or summary shown whole; the transcript file always has all of it."""
Plain = Mapping[str, Any]


def run_view(case_id: str, run: Plain, transcript: Transcript | None, groups: Sequence[Plain]) -> dict[str, Any]:
    """One conversation: facts by turn, and the turns with their texts; without its transcript no texts."""
    return {
        **run,
        "name": run_name(case_id, run["repeat"]),
        "facts": fact_rows(run),
        "exchanges": _exchanges(run, transcript, groups) if transcript else [],
    }


def _exchanges(run: Plain, transcript: Transcript, groups: Sequence[Plain]) -> list[dict[str, Any]]:
    findings = {turn["turn"]: turn["findings"] for turn in run["turns"]}
    order = list(dict.fromkeys(f["fact_id"] for turn in run["turns"] for f in turn["findings"]))
    return [
        {
            "turn": exchange.turn,
            "message": marked(exchange.message, ()),
            "reply": _reply(exchange, run["alarms"]),
            "summary": _summary(exchange.summary, findings.get(exchange.turn, ())),
            "cut": [name for name in ("reply", "summary") if getattr(getattr(exchange, name), "truncated", False)],
            "error": (exchange.reply.error if exchange.reply else None) or exchange.summary.error,
            "margin": _margin(order, findings.get(exchange.turn, ())),
            "alarms": [group for group in groups if exchange.turn in group["turns"] and group["state"] != "dismissed"],
        }
        for exchange in transcript.exchanges
    ]


def _margin(order: Sequence[str], findings: Sequence[Plain]) -> list[dict[str, str]]:
    """One stripe per fact, always in the same place, so that a fact can be followed down the page."""
    found = {finding["fact_id"]: finding for finding in findings}
    return [cell(found[fact]) if fact in found else {"style": "blank", "title": "", "text": ""} for fact in order]


def _reply(exchange: Exchange, alarms: Sequence[Plain]) -> Any:
    """The reply with the words of its alarms marked; None where none was recorded."""
    if exchange.reply is None or not exchange.reply.recorded:
        return None
    text = exchange.reply.text[:_TEXT_LIMIT]
    marks: list[Mark] = []
    for alarm in alarms:
        if alarm["state"] == "dismissed" or alarm["fact"] is not None or alarm["kind"] == "invented":
            continue
        style = f"state-{alarm['state']}"
        if alarm["turn"] == exchange.turn:
            marks += quote_marks(text, [alarm["quote"]], style, alarm["title"])
        elif alarm["earlier_turn"] == exchange.turn:
            marks += quote_marks(text, [alarm["earlier_quote"]], style, f"contradicted on turn {alarm['turn']}")
    return marked(text, marks)


def _summary(summary: Reply, findings: Sequence[Plain]) -> Any:
    text = summary.text[:_TEXT_LIMIT]
    return marked(
        text,
        [
            Mark(quote["start"], quote["end"], **_shown(finding), fact=finding["fact_id"])
            for finding in findings
            for quote in finding["quotes"]
        ],
    )


def _shown(finding: Plain) -> dict[str, str]:
    """How a fact's words look, and what hovering over them shows."""
    told = cell(finding)
    return {"style": told["style"], "title": f"{told['title']}: {finding['text']}"}


def text_size(told: Transcript) -> int:
    """Characters of a conversation's texts."""
    return sum(len(text.text) for exchange in told.exchanges for text in (exchange.reply, exchange.summary) if text)
