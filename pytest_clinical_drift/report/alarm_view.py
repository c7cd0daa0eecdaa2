"""Alarms as the dossier shows them: grouped by case, fact and run of turns, each with its words in their full text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pytest_clinical_drift.report.marks import marked, quote_marks
from pytest_clinical_drift.report.sentences import who
from pytest_clinical_drift.transcript import Exchange, Transcript

Plain = Mapping[str, Any]
Told = Mapping[tuple[str, int], Transcript]
"""Conversations by case and repeat."""

_SUMMARIES = ("lost", "contradicted", "stale", "invented")
_SCROLLS = 250
"""Characters from which a text may be higher than its box and needs to be scrolled by keyboard."""
_STATES = {"confirmed": 0, "open": 1, "dismissed": 2}
_BY = {"rule": "a rule", "judge": "the judge", "person": "a person"}
SYMBOLS = {"retained": "●", "partial": "◐", "contradicted": "✕", "absent": "○", "stale": "↺", "open": "?"}


def alarm_groups(record: Plain, told: Told) -> list[dict[str, Any]]:
    """Every group of alarms of the run; the severe first, then by state, case and turn."""
    groups = []
    for case in record["cases"]:
        for run in case["repeats"]:
            transcript = told.get((case["case_id"], run["repeat"]))
            for number, alarms in enumerate(_grouped(run["alarms"]), start=1):
                name = f"alarm-{run_name(case['case_id'], run['repeat'])}-{number}"
                groups.append(_group(name, case["case_id"], run, alarms, transcript))
    groups.sort(key=lambda g: (not g["severe"], _STATES[g["state"]], g["case"], g["turns"][0]))
    return groups


def run_name(case_id: str, repeat: int) -> str:
    """What anchors of one conversation begin with."""
    return f"{case_id}-r{repeat + 1}"


def _grouped(alarms: Sequence[Plain]) -> Iterator[list[Plain]]:
    """Alarms on one thing, in one state, on turns in a row: what a reader settles at a time."""
    things: dict[tuple[Any, ...], list[Plain]] = {}
    for alarm in alarms:
        other = (alarm["kind"], alarm["rule"], alarm["earlier_turn"], alarm["quote"])
        things.setdefault((alarm["state"], alarm["fact"] or other), []).append(alarm)
    for found in things.values():
        row: list[Plain] = []
        for alarm in sorted(found, key=lambda a: a["turn"]):
            if row and alarm["turn"] - row[-1]["turn"] > 1:
                yield row
                row = []
            row.append(alarm)
        yield row


def _group(
    name: str, case_id: str, run: Plain, alarms: Sequence[Plain], transcript: Transcript | None
) -> dict[str, Any]:
    first = next((alarm for alarm in alarms if alarm["severe"]), alarms[0])
    return {
        "id": name,
        "case": case_id,
        "place": run_name(case_id, run["repeat"]),
        "severe": first["severe"],
        "state": first["state"],
        "kind": first["kind"],
        "title": first["title"],
        "reason": first["reason"] if first["fact"] else "",
        "turns": [alarm["turn"] for alarm in alarms],
        "settled_by": _BY.get(first["settled_by"], ""),
        "finder": first["finder"],
        "texts": _texts(first, transcript),
        "row": fact_cells(run, first["fact"]) if first["fact"] else [],
        "opinions": [
            {"turn": alarm["turn"], "who": who(opinion["judge"], opinion["role"], opinion["wording"]), **opinion}
            for alarm in alarms
            for opinion in alarm["answers"]
        ],
        "each": [
            (alarm["turn"], alarm["title"], alarm["reason"] if alarm["fact"] else "", alarm["quote"])
            for alarm in alarms
            if len(alarms) > 1
        ],
        "quote": first["quote"],
    }


def _texts(alarm: Plain, transcript: Transcript | None) -> list[dict[str, Any]]:
    """The full texts that an alarm is about, with its words marked; for a reply also what the patient had said."""
    if transcript is None:
        return []
    by_turn = {exchange.turn: exchange for exchange in transcript.exchanges}
    exchange = by_turn.get(alarm["turn"])
    if exchange is None:
        return []
    summary = alarm["kind"] in _SUMMARIES or (alarm["kind"] == "to_judge" and alarm["reason"].startswith("the summary"))
    quotes = [alarm["quote"], *(opinion["quote"] for opinion in alarm["answers"])]
    if summary:
        return [_text(f"Summary after turn {exchange.turn}", exchange.summary.text, quotes, alarm)]
    shown = []
    if alarm["earlier_turn"] in by_turn:
        earlier = [alarm["earlier_quote"], *(opinion["earlier_quote"] for opinion in alarm["answers"])]
        shown.append(
            _text(f"Reply on turn {alarm['earlier_turn']}", _reply(by_turn[alarm["earlier_turn"]]), earlier, alarm)
        )
    shown.append(_text(f"Patient on turn {exchange.turn}", exchange.message, (), alarm))
    shown.append(_text(f"Reply on turn {exchange.turn}", _reply(exchange), quotes, alarm))
    return shown


def _reply(exchange: Exchange) -> str:
    return exchange.reply.text if exchange.reply is not None else ""


def _text(name: str, text: str, quotes: Sequence[str], alarm: Plain) -> dict[str, Any]:
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


def marks_title(finding: Plain) -> str:
    """What hovering over a fact's words shows."""
    return f"{cell(finding)['title']}: {finding['text']}"
