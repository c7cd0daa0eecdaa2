"""Alarms as the dossier shows them: grouped by case, fact and run of turns, each with its words in their full text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_clinical_drift.report.marks import marked, quote_marks
from pytest_clinical_drift.transcript import Reply, Transcript
from pytest_clinical_drift.verdict.case import in_a_row

Plain = Mapping[str, Any]
Told = Mapping[tuple[str, int], Transcript]
"""Conversations by case and repeat."""

_SUMMARIES = ("lost", "contradicted", "stale", "invented")
_SCROLLS = 250
"""Characters from which a text may be higher than its box and needs to be scrolled by keyboard."""
_STATES = {"confirmed": 0, "open": 1, "dismissed": 2}
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
