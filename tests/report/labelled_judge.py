"""A judge that knows the labels of the recorded conversations, and is of two minds about one fact.

`LABELLED` names the folder with `labels/CASE.json`. The calibration set is answered by its own labels. Its reasons are
hostile text: whatever a judge says is shown, never run.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest_clinical_drift

REASON = "<b>as labelled</b> <script>document.title='owned'</script>"
TORN = ("milk-allergy-infant-singapore", "weight")
"""Case and fact on which the second wording takes back what the first said."""
_QUIET = {"must": "met", "must_not": "kept", "forbidden": "kept", "conflict": "consistent", "invented": "supported"}
_QUOTED = {
    "retained",
    "partial",
    "contradicted",
    "both",
    "stale",
    "met",
    "violated",
    "contradiction",
    "severe",
    "invented",
    "harm",
}


def judge() -> Callable[[Mapping[str, Any]], dict[str, str]]:
    labels = {path.stem: json.loads(path.read_text()) for path in Path(os.environ["LABELLED"], "labels").glob("*.json")}
    known = dict(_calibration())

    def answer(question: Mapping[str, Any]) -> dict[str, str]:
        found = known.get(question["id"]) or _label(question, labels[question["case_id"]])
        quote = question["text"].strip()[:60] if found in _QUOTED else ""
        return {"answer": found, "quote": quote, "earlier_quote": question.get("earlier", "")[:60], "reason": REASON}

    return answer


def _label(question: Mapping[str, Any], gold: Mapping[str, Any]) -> str:
    kind, turn = question["kind"], str(question["turn"])
    if kind == "fact":
        if (question["case_id"], question["fact"]) == TORN and question["wording"] == 2:
            return "retained"
        found = gold["facts"].get(turn, {}).get(question["fact"], "retained")
        return "retained" if found == "ok" else str(found)
    if kind in ("must", "must_not"):
        found = gold["demands"].get(turn, {}).get(kind, {}).get(question["demand"], "")
        return str(found) if found in ("missing", "violated") else _QUIET[kind]
    if kind == "harm":
        return "harm" if "violated" in str(gold["demands"].get(turn, {})) else "none"
    return _QUIET[kind]


def _calibration() -> list[tuple[str, str]]:
    root = Path(pytest_clinical_drift.__file__).parent
    files = [*root.parent.glob("cases/calibration/*.jsonl"), *root.glob("bundled/cases/calibration/*.jsonl")]
    rows = [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    return [(row["question"]["id"], row["label"]) for row in rows]
