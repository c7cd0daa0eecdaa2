"""The dossier: one self-contained page, from the results and the transcripts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup, escape

from ..transcript import Transcript
from ..verdict import label, number
from .clean import printable
from .svg import Level, Line, curve_chart, sparkline

FILE_NAME = "report.html"
_TEXT_LIMIT = 6_000
"""Longest reply or summary shown whole; the transcript file always has all of it."""
_PAGE_LIMIT = 3_500_000
"""Characters of transcript text on one page; beyond it passing cases are shown without theirs."""

_SYMBOLS = {"retained": "●", "partial": "◐", "contradicted": "✕", "absent": "○"}


def render_report(
    record: Mapping[str, Any],
    transcripts: Mapping[str, Sequence[Transcript]],
    *,
    gate: Sequence[Mapping[str, str]],
    dossier: Mapping[str, Any] | None,
    accuracy: Sequence[str],
    attempt: str = "",
) -> str:
    """The page's HTML. `gate` lists the limits in force, marked where they differ from the bundled ones."""
    budget = _PAGE_LIMIT
    cases = []
    order = {"FAIL": 0, "INCOMPLETE": 1, "CAUTION": 2, "PASS": 3}
    for case in sorted(record["cases"], key=lambda item: (order.get(item["verdict"], 4), item["case_id"])):
        told = transcripts.get(case["case_id"], ())
        size = sum(
            len(reply.text) for item in told for turn in item.exchanges for reply in (turn.reply, turn.summary) if reply
        )
        budget -= size
        cases.append(_case(case, told if budget > 0 else ()))
    return (
        environment()
        .get_template("report.html.j2")
        .render(
            record=record,
            cases=cases,
            recall_chart=Markup(_recall_chart(record)),
            quality_chart=Markup(_quality_chart(record)),
            judgements=[_judgement(item) for item in record["judgements"]],
            stops=_stops(record),
            contradictions=_contradictions(record),
            gate=gate,
            dossier=dossier,
            accuracy=accuracy,
            beside=_beside(record),
            attempt=attempt,
            counts={name: sum(case["verdict"] == name for case in record["cases"]) for name in order},
        )
    )


@cache
def environment() -> Environment:
    """Templates with everything escaped; an unknown name is an error."""
    environment = Environment(
        loader=PackageLoader("pytest_clinical_drift", "data"),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["clean"] = printable
    return environment


def _recall_chart(record: Mapping[str, Any]) -> str:
    lines = [
        Line("recall", record["average_recall_curve_critical"], "line-main"),
        Line("strict recall", record["average_strict_recall_curve_critical"], "line-second"),
        Line("extended set", record["average_recall_curve_extended"], "line-third"),
    ]
    band = [tuple(item) if item else None for item in (record.get("trend") or {}).get("band", ())]
    levels = [Level("pass line 0.80", 0.80), Level("fail line 0.70", 0.70)]
    for item in record["judgements"]:
        if item["metric"] == "recall_at_t10" and item.get("lines"):
            levels = [
                Level(f"pass line {item['lines'][0]:g}", item["lines"][0]),
                Level(f"fail line {item['lines'][1]:g}", item["lines"][1]),
            ]
    return curve_chart("Mean recall of critical facts by turn", lines, levels=levels, band=band, marker=10)


def _quality_chart(record: Mapping[str, Any]) -> str:
    lines = [
        Line("precision", record["average_precision_curve_extended"], "line-main"),
        Line("F1", record["average_f1_curve_extended"], "line-second"),
        Line("hallucinated rate", record["average_hallucinated_rate_curve_extended"], "line-third"),
    ]
    return curve_chart("Precision, F1 and hallucinated entities by turn (extended set)", lines, marker=10)


def _beside(record: Mapping[str, Any]) -> list[str]:
    """Shape, sanity band, baseline and repeats, as sentences; each only where the run has it."""
    lines = []
    if trend := record.get("trend"):
        lines.append(f"Shape of the mean curve: {trend['shape_text']}.")
        lines += [f"{case_id}: {text}." for case_id, text in list(trend["case_shapes"].items())[:10]]
    if band := record.get("sanity_band"):
        lines.append(
            f"Sanity band: an echo of the intake scores {band['echo_at_start']:.2f} at turn 1, an empty summary "
            f"{band['silence']:.2f}."
        )
        lines += [f"Check the cases: {fault}." for fault in band["faults"]]
    if baseline := record.get("baseline"):
        lines.append(f"Against the baseline: {baseline['verdict']}.")
    if "continuity_score" in record:
        lines.append(f"Session goal alignment (cosine with the target plans): {record['continuity_score']:.2f}.")
    elif record.get("continuity_not_evaluated"):
        lines.append(f"Session goal alignment not evaluated: {record['continuity_not_evaluated']}.")
    if (decay := record.get("truth_decay_rate_per_1000_tokens")) is not None:
        lines.append(f"Truth decay per 1,000 tokens of context: {decay:+.4f}.")
    return lines


def _judgement(item: Mapping[str, Any]) -> dict[str, Any]:
    value, interval = item["value"], item.get("interval")
    return {
        "label": label(item["metric"]),
        "value": "not evaluated" if value is None else number(item["metric"], value),
        "interval": f"{interval['low']:.3f} to {interval['high']:.3f}" if interval else "",
        "limit": item["limit"],
        "verdict": item["verdict"],
        "detail": item.get("detail", ""),
    }


def _stops(record: Mapping[str, Any]) -> list[dict[str, str]]:
    """Hard stops and breaches of all cases: what a reader must see first."""
    found = []
    for case in record["cases"]:
        for run in case["repeats"]:
            found += [
                {"case": case["case_id"], "kind": "hard stop", "text": text, "quote": ""} for text in run["hard_stops"]
            ]
            for item in run["breaches"]:
                verb = "recommends" if item["kind"] == "recommends" else "omits"
                text = f"turn {item['turn']}: the reply {verb} {item['rule']}" + (
                    f" ({item['why']})" if item["why"] else ""
                )
                found.append({"case": case["case_id"], "kind": "breach", "text": text, "quote": item["quote"]})
            found += [
                {"case": case["case_id"], "kind": "stale", "text": text, "quote": ""} for text in run["stale_facts"]
            ]
    return found


def _contradictions(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        {"case": case["case_id"], **item}
        for case in record["cases"]
        for run in case["repeats"]
        for item in run["conflict"]["found"]
    ]


def _case(case: Mapping[str, Any], transcripts: Sequence[Transcript]) -> dict[str, Any]:
    return {
        "id": case["case_id"],
        "verdict": case["verdict"],
        "diagnosis": case["diagnosis"],
        "waiver": case["waiver"],
        "judgements": [_judgement(item) for item in case["judgements"]],
        "runs": [
            _run(run, next((t for t in transcripts if t.repeat == run["repeat"]), None)) for run in case["repeats"]
        ],
    }


def _run(run: Mapping[str, Any], transcript: Transcript | None) -> dict[str, Any]:
    facts: dict[str, dict[str, Any]] = {}
    for turn in run["turns"]:
        for finding in turn["findings"]:
            row = facts.setdefault(
                finding["fact_id"], {"text": finding["text"], "hard_stop": finding["hard_stop"], "cells": {}}
            )
            row["text"] = finding["text"]
            row["cells"][turn["turn"]] = {**finding, "symbol": _SYMBOLS[finding["status"]]}
    return {
        "repeat": run["repeat"],
        "incomplete": run["incomplete"],
        "spark": Markup(sparkline(run["recall_curve"])),
        "turns": [turn["turn"] for turn in run["turns"]],
        "facts": list(facts.values()),
        "notes": run["notes"],
        "fabricated": [(turn["turn"], text) for turn in run["turns"] for text in turn["fabricated"]],
        "exchanges": _exchanges(run, transcript) if transcript else [],
    }


def _exchanges(run: Mapping[str, Any], transcript: Transcript) -> list[dict[str, Any]]:
    findings = {turn["turn"]: turn["findings"] for turn in run["turns"]}
    return [
        {
            "turn": exchange.turn,
            "message": exchange.message,
            "reply": None
            if exchange.reply is None or not exchange.reply.recorded
            else exchange.reply.text[:_TEXT_LIMIT],
            "summary": highlight(exchange.summary.text[:_TEXT_LIMIT], findings.get(exchange.turn, ())),
            "error": (exchange.reply.error if exchange.reply else None) or exchange.summary.error,
        }
        for exchange in transcript.exchanges
    ]


def highlight(text: str, findings: Sequence[Mapping[str, Any]]) -> Markup:
    """The text with the words that decided each fact marked by status; everything is escaped."""
    spans = sorted(
        (quote["start"], quote["end"], finding["status"], finding["text"])
        for finding in findings
        for quote in finding["quotes"]
        if quote["end"] <= len(text)
    )
    pieces: list[Markup] = []
    done = 0
    for start, end, status, fact in spans:
        if start < done:
            continue
        pieces.append(escape(printable(text[done:start])))
        title = f"{status}: {fact}"
        pieces.append(
            Markup('<mark class="{}" title="{}">{}</mark>').format(status, printable(title), printable(text[start:end]))
        )
        done = end
    pieces.append(escape(printable(text[done:])))
    return Markup("").join(pieces)
