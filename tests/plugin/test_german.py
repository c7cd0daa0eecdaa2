"""A case in another language: read by a judge, left open by rules."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from engine_runs import results
from judged_project import alarms, write_measured

EXAMPLE = Path(__file__).parents[2] / "examples" / "german"
REPLAY = ("--model", "replay:conversation.jsonl", "--drift-cases", "cases")
JUDGED = (*REPLAY, "--drift-judge", "python:judge:make", "--drift-judge-set", "canaries=0")
JUDGE = """
def make():
    def there(words, text, met, not_met):
        at = text.lower().find(words.lower())
        return {"answer": met, "quote": text[at : at + len(words)]} if at >= 0 else {"answer": not_met, "quote": ""}

    def judge(item):
        text = item.get("text", "")
        if item["kind"] == "summary":
            facts = {f["fact"]: there(f["statement"], text, "retained", "absent") for f in item["facts"]}
            return {"facts": facts, "unsupported": []}
        if item["kind"] == "fact":
            return there(item["statement"], text, "retained", "absent")
        if item["kind"] == "must":
            return there(item["demand"], text, "met", "missing")
        if item["kind"] == "reply":
            kept, none = {"answer": "kept", "quote": ""}, {"answer": "none", "quote": ""}
            demands = {
                d["id"]: there(d["demand"], text, "met", "missing") if d["kind"] == "must" else kept
                for d in item["demands"]
            }
            same = {"answer": "consistent", "quote": "", "earlier_quote": ""}
            care = "emergency" if "112" in text else "refused" if "Kein Amoxicillin" in text else "self"
            return {"demands": demands, "forbidden": kept, "harm": none, "conflict": same, "care": care}
        if item["kind"] == "conversation":
            return {"contradictions": [], "course": [], "misreported": [], "standing": []}
        quiet = {"conflict": "consistent", "invented": "supported", "harm": "none", "course": "none"}
        return {"answer": quiet.get(item["kind"], "said" if item["kind"] == "misreported" else "kept"), "quote": ""}

    return judge
"""


@pytest.fixture
def example(pytester: pytest.Pytester) -> pytest.Pytester:
    """The example, with a judge that looks for the words of facts and demands and is at its floors."""
    shutil.copytree(EXAMPLE, pytester.path, dirs_exist_ok=True)
    pytester.makepyfile(judge=JUDGE)
    write_measured(pytester.path)
    return pytester


def test_rules_leave_german_open(example: pytest.Pytester) -> None:
    """Without a judge nothing is confirmed and nothing passes: rules read English only."""
    assert example.runpytest(*REPLAY).ret == 7
    found = alarms(example)
    assert {(alarm["kind"], alarm["state"]) for alarm in found} == {("lost", "open")}
    assert {alarm["reason"] for alarm in found} == {"not evaluated: rules read English only"}


def test_a_judge_reads_german(example: pytest.Pytester) -> None:
    """Every fact is found in every summary, the changed dose included; the level of care is shown and gates nothing."""
    result = example.runpytest(*JUDGED)
    assert result.ret == 0, result.stdout.str()
    assert alarms(example) == []
    assert results(example)["entity_recall_at_t10"] == 1.0
    assert "on 1 synthetic case (de) of 10 turns" in str(results(example)["what_this_means"])
    shown = ("*level of care of 3 replies: 2 as expected, 0 too high, 0 too low, 1 refused*", "*shown, not gated*")
    result.stdout.fnmatch_lines(shown)


def test_a_lost_allergy_fails_in_german(example: pytest.Pytester) -> None:
    """The same recording without the allergy from turn 7 on."""
    file = example.path / "conversation.jsonl"
    rows = [json.loads(row) for row in file.read_text(encoding="utf-8").splitlines()]
    for row in rows:
        if row["turn_num"] > 6 and row["variant"] == "summary":
            row["response_text"] = row["response_text"].replace("Anaphylaxie auf Amoxicillin 1998.", "")
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert example.runpytest(*JUDGED).ret == 1
    assert {alarm["fact"] for alarm in alarms(example) if alarm["state"] == "confirmed"} == {"amoxicillin"}
