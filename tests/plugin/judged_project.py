"""A small project whose model is judged: cases, a model, a scripted judge and labelled questions to measure it on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from engine_runs import results

from pytest_clinical_drift.judging.answers import KINDS
from pytest_clinical_drift.judging.questions import Question

FAULTS = {"fact": "absent", "must": "missing", "must_not": "violated", "forbidden": "violated"}
FAULTS |= {"conflict": "contradiction", "invented": "invented", "harm": "harm"}
CLEAN = {kind: answers[0] for kind, answers in KINDS.items()}

MODEL = """
SUMMARY = {summary!r}
REPLY = {reply!r}


def make():
    return lambda messages: SUMMARY if "handover summary" in messages[-1]["content"] else REPLY
"""

JUDGE = '''
"""Answers labelled questions rightly, and those of the run as it is told to."""

import json
import time
from pathlib import Path

MODE = {mode!r}
COUNT = Path(__file__).with_name("asked.txt")


def make():
    asked = 0

    def judge(question):
        nonlocal asked
        with COUNT.open("a") as file:
            file.write(question["kind"] + chr(10))
        first, text = question["text"].split(" ", 1)[0], question["text"]
        if first.startswith("label:"):
            answer = first[6:].replace("-", " ")
        else:
            asked += 1
            if MODE == "fails" or (MODE == "fails at times" and asked % 10 < 3):
                raise ConnectionError("no route to the judge")
            if MODE == "prose":
                return "I would call this retained."
            if MODE == "schema":
                return {{"verdict": "retained"}}
            if MODE == "lies":
                return {{"answer": {clean!r}[question["kind"]], "quote": "words that nobody wrote"}}
            answer = {clean!r}[question["kind"]] if MODE != "upholds" else {faults!r}[question["kind"]]
        words = " ".join(text.split()[:4])
        earlier = " ".join((question.get("earlier") or "").split()[:4])
        return {{"answer": answer, "quote": words, "earlier_quote": earlier, "reason": "so"}}

    return judge
'''

SUMMARY = "Penicillin allergy with anaphylaxis. Takes metformin 500 mg twice daily. Shares her flat with nobody."
"""Says in words of its own that she lives alone: rules leave that to the judge."""
REPLY = "Please keep taking your tablets and drink water."


def write_set(path: Path, kinds: tuple[str, ...] = tuple(KINDS), faults: int = 30, clean: int = 190) -> Path:
    """Labelled questions, enough for a flawless judge to decide; each text opens with its label."""
    with path.open("w", encoding="utf-8") as file:
        for kind in kinds:
            for number in range(faults + clean):
                label = (FAULTS if number < faults else CLEAN)[kind]
                text = f"label:{label.replace(' ', '-')} text number {number} of a labelled question"
                earlier = {"earlier": "an earlier reply of the model", "earlier_turn": 1} if kind == "conflict" else {}
                more: dict[str, Any] = {"statement": "a fact", "demand": "a demand"} | earlier
                asked = Question(kind, f"labelled-{number}", 1, text, **more)
                file.write(json.dumps({"question": asked.as_mapping(), "label": label, "source": "made"}) + "\n")
    return path


def lay_out(pytester: pytest.Pytester, mode: str = "clears", summary: str = SUMMARY, reply: str = REPLY) -> None:
    """Write `model.py`, `judge.py` and `labelled.jsonl` into the project."""
    pytester.makepyfile(model=MODEL.format(summary=summary, reply=reply))
    pytester.makepyfile(judge=JUDGE.format(mode=mode, clean=CLEAN, faults=FAULTS))
    write_set(pytester.path / "labelled.jsonl")


JUDGED = (
    *("--model", "python:model:make", "--drift-cases", "mycases", "--drift-judge", "python:judge:make"),
    *("--drift-judge-set", "calibration_set=labelled.jsonl"),
)


def alarms(pytester: pytest.Pytester) -> list[dict[str, Any]]:
    """All alarms of the run."""
    return [a for case in results(pytester)["cases"] for run in case["repeats"] for a in run["alarms"]]


def times_asked(pytester: pytest.Pytester) -> int:
    """How often the judge was called."""
    file = pytester.path / "asked.txt"
    return len(file.read_text(encoding="utf-8").splitlines()) if file.exists() else 0
