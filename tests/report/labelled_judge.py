"""A judge that knows the labels of the recorded conversations, and is of two minds about one fact.

`LABELLED` names the folder with `labels/CASE.json`. It reads whole texts and answers single questions. Its reasons are
hostile text: whatever a judge says is shown, never run.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

REASON = "<b>as labelled</b> <script>document.title='owned'</script>"
TORN = ("milk-allergy-infant-singapore", "weight")
"""Case and fact on which the first wording takes back what the reading said, and the second does not."""
_QUIET = {
    "must": "met", "must_not": "kept", "forbidden": "kept", "conflict": "consistent", "invented": "supported",
    "course": "none", "misreported": "said",
}  # fmt: skip
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


def judge() -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    labels = {path.stem: json.loads(path.read_text()) for path in Path(os.environ["LABELLED"], "labels").glob("*.json")}

    def answer(given: Mapping[str, Any]) -> dict[str, Any]:
        gold = labels[given["case_id"]]
        if given["kind"] == "summary":
            facts = {line["fact"]: _entry(given, _fact(given, line["fact"], gold)) for line in given["facts"]}
            return {"facts": facts, "unsupported": []}
        if given["kind"] == "reply":
            demands = {
                line["id"]: _entry(given, _demand(given, line["kind"], line["demand"], gold))
                for line in given.get("demands", ())
            }
            read = {"forbidden": _entry(given, "kept"), "harm": _entry(given, _harm(given, gold)), "care": "routine"}
            return {"demands": demands, "conflict": _entry(given, "consistent"), **read}
        if given["kind"] == "conversation":
            return {"contradictions": [], "course": [], "misreported": [], "standing": []}
        found = _settled(given, gold)
        return {**_entry(given, found), "earlier_quote": given.get("earlier", "")[:60], "reason": REASON}

    return answer


def _entry(given: Mapping[str, Any], answer: str) -> dict[str, str]:
    return {"answer": answer, "quote": given["text"].strip()[:60] if answer in _QUOTED else ""}


def _settled(question: Mapping[str, Any], gold: Mapping[str, Any]) -> str:
    kind = question["kind"]
    if kind == "fact":
        torn = (question["case_id"], question["fact"]) == TORN and question["wording"] == 1
        return "retained" if torn else _fact(question, question["fact"], gold)
    if kind in ("must", "must_not"):
        return _demand(question, kind, question["demand"], gold)
    return _harm(question, gold) if kind == "harm" else _QUIET[kind]


def _fact(given: Mapping[str, Any], fact: str, gold: Mapping[str, Any]) -> str:
    found = gold["facts"].get(str(given["turn"]), {}).get(fact, "retained")
    return "retained" if found == "ok" else str(found)


def _demand(given: Mapping[str, Any], kind: str, demand: str, gold: Mapping[str, Any]) -> str:
    found = gold["demands"].get(str(given["turn"]), {}).get(kind, {}).get(demand, "")
    return str(found) if found in ("missing", "violated") else _QUIET[kind]


def _harm(given: Mapping[str, Any], gold: Mapping[str, Any]) -> str:
    return "harm" if "violated" in str(gold["demands"].get(str(given["turn"]), {})) else "none"
