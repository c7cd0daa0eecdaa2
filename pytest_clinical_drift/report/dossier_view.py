"""Alarms and conversations as the dossier shows them.

Alarms are grouped by case, fact and run of turns, each with its words in their full text. A conversation has patient,
reply and summary side by side, facts as coloured margins, alarms at their place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_clinical_drift.report.marks import Mark, marked, quote_marks
from pytest_clinical_drift.transcript import Exchange, Reply, Transcript
from pytest_clinical_drift.verdict.case import in_a_row

Plain = Mapping[str, Any]
Told = Mapping[tuple[str, int], Transcript]
"""Conversations by case and repeat."""

_SUMMARIES = ("lost", "contradicted", "stale", "invented")
_SCROLLS = 250
"""Characters from which a text may be higher than its box and needs to be scrolled by keyboard."""
_STATES = {"confirmed": 0, "open": 1, "dismissed": 2}
_TEXT_LIMIT = 12_000
"""Longest reply or summary shown whole; the transcript file always has all of it."""
SYMBOLS = {"retained": "●", "partial": "◐", "contradicted": "✕", "absent": "○", "stale": "↺", "open": "?"}


def alarm_groups(record: Plain, told: Told) -> list[dict[str, Any]]:
    """Every group of alarms of the run; the severe first, then by state, case and turn."""
    groups = []
    for case in record["cases"]:
        for run in case["repeats"]:
            transcript = told.get((case["case_id"], run["repeat"]))
            for number, alarms in enumerate(in_a_row(run["alarms"], _thing, lambda alarm: alarm["turn"]), start=1):
                name = f"alarm-{run_name(case['case_id'], run['repeat'])}-{number}"
                groups.append(_group(name, case["case_id"], run, alarms, transcript))
    groups.sort(key=lambda g: (not g["severe"], _STATES[g["state"]], g["case"], g["turns"][0]))
    return groups


def run_name(case_id: str, repeat: int) -> str:
    """What anchors of one conversation begin with."""
    return f"{case_id}-r{repeat + 1}"


def _thing(alarm: Plain) -> tuple[Any, ...]:
    """Alarms on one thing in one state, on turns in a row, are what a reader settles at a time."""
    return alarm["state"], alarm["fact"] or (alarm["kind"], alarm["rule"], alarm["earlier_turn"], alarm["quote"])


def _group(
    name: str, case_id: str, run: Plain, alarms: Sequence[Plain], transcript: Transcript | None
) -> dict[str, Any]:
    first = next((alarm for alarm in alarms if alarm["severe"]), alarms[0])
    return {
        **first,
        "id": name,
        "case": case_id,
        "place": run_name(case_id, run["repeat"]),
        "alarms": alarms,
        "turns": [alarm["turn"] for alarm in alarms],
        "texts": _texts(first, transcript),
        "row": fact_cells(run, first["fact"]) if first["fact"] else [],
        "opinions": [(alarm["turn"], opinion) for alarm in alarms for opinion in alarm["answers"]],
    }


def _texts(alarm: Plain, transcript: Transcript | None) -> list[dict[str, Any]]:
    """The full texts that an alarm is about, with its words marked; for a reply also what the patient had said."""
    by_turn = {exchange.turn: exchange for exchange in transcript.exchanges} if transcript else {}
    exchange, earlier = by_turn.get(alarm["turn"]), by_turn.get(alarm["earlier_turn"])
    if exchange is None:
        return []
    summary = alarm["kind"] in _SUMMARIES or (alarm["kind"] == "to_judge" and alarm["reason"].startswith("the summary"))
    quotes = [alarm["quote"], *(opinion["quote"] for opinion in alarm["answers"])]
    if summary:
        return [_text(f"Summary after turn {exchange.turn}", exchange.summary, quotes, alarm)]
    before = [alarm["earlier_quote"], *(opinion["earlier_quote"] for opinion in alarm["answers"])]
    return [
        *([_text(f"Reply on turn {earlier.turn}", earlier.reply, before, alarm)] if earlier else []),
        _text(f"Patient on turn {exchange.turn}", exchange.message, (), alarm),
        _text(f"Reply on turn {exchange.turn}", exchange.reply, quotes, alarm),
    ]


def _text(name: str, said: Reply | str | None, quotes: Sequence[str], alarm: Plain) -> dict[str, Any]:
    text = said.text if isinstance(said, Reply) else said or ""
    marks = quote_marks(text, quotes, f"state-{alarm['state']}", alarm["title"])
    return {"name": name, "text": marked(text, marks), "long": len(text) > _SCROLLS}


def fact_rows(run: Plain) -> list[dict[str, Any]]:
    """Facts by turns: one row per wording that held, so that each turn shows the fact as it was true then."""
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for turn in run["turns"]:
        for finding in turn["findings"]:
            key = finding["fact_id"], finding["text"]
            row = rows.setdefault(key, {"id": key[0], "text": key[1], "hard_stop": finding["hard_stop"], "cells": {}})
            row["cells"][turn["turn"]] = cell(finding)
    order = list(dict.fromkeys(fact for fact, _ in rows))
    changed = {fact for fact in order if sum(fact == other for other, _ in rows) > 1}
    for (fact, _), row in rows.items():
        row["held"] = _span(list(row["cells"])) if fact in changed else ""
    return sorted(rows.values(), key=lambda row: (order.index(row["id"]), min(row["cells"])))


def _span(turns: Sequence[int]) -> str:
    return f"turn {turns[0]}" if len(turns) == 1 else f"turns {turns[0]} to {turns[-1]}"


def fact_cells(run: Plain, fact: str) -> list[dict[str, Any]]:
    """One fact over all turns, whatever its wording; a turn on which it did not hold is blank."""
    found = {turn["turn"]: cell(f) for turn in run["turns"] for f in turn["findings"] if f["fact_id"] == fact}
    blank = {"style": "blank", "symbol": "", "title": "not true of the patient at that turn, or not evaluated"}
    return [{"turn": turn["turn"], **found.get(turn["turn"], blank)} for turn in run["turns"]]


def cell(finding: Plain) -> dict[str, str]:
    """What a summary says about a fact: its status, or that the question is open."""
    style = "open" if finding["state"] == "open" else "stale" if finding["stale"] else finding["status"]
    reason = f": {finding['reason']}" if finding["reason"] else ""
    told = f"open, {finding['alarm']}?" if style == "open" else style
    return {"style": style, "symbol": SYMBOLS[style], "title": f"{told}{reason}", "text": finding["text"]}


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
            Mark(quote["start"], quote["end"], told["style"], f"{told['title']}: {finding['text']}", finding["fact_id"])
            for finding in findings
            for told in (cell(finding),)
            for quote in finding["quotes"]
        ],
    )


def text_size(told: Transcript) -> int:
    return sum(len(text.text) for exchange in told.exchanges for text in (exchange.reply, exchange.summary))
