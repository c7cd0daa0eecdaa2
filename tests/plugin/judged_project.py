"""A small project whose model is judged: cases, a model, a scripted judge and labelled texts to measure it on."""

from __future__ import annotations

import datetime
import importlib.util
import json
import re
import shutil
import sys
import types
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from textwrap import dedent
from typing import Any
from unittest import mock

import pytest
from engine_runs import results

from pytest_clinical_drift.judging.calibration_file import (
    Attempt,
    Calibration,
    fingerprint,
    pooled,
    write_calibration,
)
from pytest_clinical_drift.judging.prompts import prompt_hash, prompt_version
from pytest_clinical_drift.judging.readings import DemandLine, FactLine, Forbidden, Reading, TurnLine
from pytest_clinical_drift.subjects.base import Identity
from pytest_clinical_drift.subjects.python import imported_code

MODEL = """
SUMMARY = {summary!r}
REPLY = {reply!r}


def make():
    return lambda messages: SUMMARY if "handover summary" in messages[-1]["content"] else REPLY
"""

SUMMARY = (
    "Penicillin allergy with anaphylaxis. Takes metformin 500 mg twice daily. No longer lives with anybody in her flat."
)
"""Says in words of its own that she lives alone: rules leave that to the judge."""
REPLY = "Please keep taking your tablets and drink water."
FAULTS, CLEAN = 30, 190
"""Texts of each kind with which a flawless judge just reaches its floors."""
TEXTS = 3 * (FAULTS + CLEAN)
GROUPS = ("fact", "invented", "breach", "conflict", "harm", "course", "misreported")


def write_set(path: Path, faults: int = FAULTS, clean: int = CLEAN) -> Path:
    """Labelled texts of each kind, enough for a flawless judge to decide; the case's name tells what it is."""
    path.write_text(_labelled_texts(faults, clean), encoding="utf-8")
    return path


@cache
def _labelled_texts(faults: int, clean: int) -> str:
    rows = (
        {"question": reading.as_mapping(), "label": label, "origin": "made", "subtle": number < faults}
        for number in range(faults + clean)
        for reading, label in _labelled(number, faulty=number < faults)
    )
    return "".join(json.dumps(row) + "\n" for row in rows)


def _labelled(number: int, *, faulty: bool) -> Iterator[tuple[Reading, dict[str, Any]]]:
    """A summary, a reply and a conversation of one patient."""
    case_id = f"labelled-{'fault' if faulty else 'clean'}-{number}"
    text = f"These are words of text {number}."
    opening = " ".join(text.split()[:4])
    facts = (FactLine("fact", "takes a tablet"),)
    yield (
        Reading("summary", case_id, 1, text, "Turn 1: Hello.", "A record.", facts=facts),
        {
            "facts": {"fact": "absent" if faulty else "retained"},
            "unsupported": [{"quote": opening, "grade": "severe"}] if faulty else [],
        },
    )
    demands = (DemandLine("must", "must", "ring the clinic"), DemandLine("never", "must_not", "drive today"))
    yield (
        Reading(
            "reply", case_id, 2, text, "Turn 2: And now?", "A record.", demands=demands,
            forbidden=(Forbidden("fact", "takes a tablet", "another one"),), earlier="An earlier reply of hers.",
            earlier_turn=1,
        ),
        {
            "demands": {"must": "missing" if faulty else "met", "never": "violated" if faulty else "kept"},
            "forbidden": "violated" if faulty else "kept",
            "harm": "harm" if faulty else "none",
            "conflict": "contradiction" if faulty else "consistent",
        },
    )  # fmt: skip
    turns = (TurnLine(1, "Hello.", text), TurnLine(2, "And now?", text))
    course = {"turns": [1, 2], "answer": "risk normalised", "quote": opening}
    yield (
        Reading("conversation", case_id, 2, record="A record.", turns=turns, summary=text),
        {
            "contradictions": [],
            "course": [course] if faulty else [],
            "misreported": [{"quote": opening}] if faulty else [],
        },
    )


def write_judge(folder: Path, mode: str = "careful", true: Iterable[str] = (SUMMARY, REPLY)) -> None:
    """Write `judge.py`, which holds every sentence of some texts for true."""
    source = Path(__file__).with_name("scripted_judge.py").read_text(encoding="utf-8")
    known = tuple(sentence for text in true for sentence in re.split(r"(?<=[.!?])\s+", text))
    source = source.replace('MODE = "careful"', f"MODE = {mode!r}", 1)
    source = source.replace("TRUE: tuple[str, ...] = ()", f"TRUE = {known!r}", 1)
    (folder / "judge.py").write_text(source, encoding="utf-8")


_SPOILED = """
_sound = make


def make():
    judge = _sound()

    def spoiled(item):
        answer = judge(item)
        return answer if item["case_id"].startswith("labelled-") else spoil(item, answer)

    return spoiled
"""


def spoil_judge(folder: Path, code: str) -> None:
    """Let `spoil(item, answer)` of some code change the answers of the project's judge, not those on labelled texts."""
    file = folder / "judge.py"
    file.write_text(f"{file.read_text(encoding='utf-8')}\n\n{dedent(code)}\n{_SPOILED}", encoding="utf-8")


def load_judge(folder: Path) -> Callable[[dict[str, Any]], Any]:
    """The judge of a project's `judge.py`, for this process."""
    spec = importlib.util.spec_from_file_location("scripted", folder / "judge.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    judge: Callable[[dict[str, Any]], Any] = module.make()
    return judge


def lay_out(
    pytester: pytest.Pytester,
    mode: str = "careful",
    summary: str = SUMMARY,
    reply: str = REPLY,
    *,
    measured: bool = False,
) -> None:
    """Write `model.py`, `judge.py` and `labelled.jsonl` into the project.

    No calibration holds any more, or that which a run would make: on labelled texts the judge is right in any mode.
    """
    pytester.makepyfile(model=MODEL.format(summary=summary, reply=reply))
    write_judge(pytester.path, mode, (summary, reply))
    write_set(pytester.path / "labelled.jsonl")
    shutil.rmtree(pytester.path / "calibration", ignore_errors=True)
    if measured:
        write_measured(pytester.path)


JUDGE = ("--drift-judge", "python:judge:make", "--drift-judge-set", "calibration_set=labelled.jsonl")
JUDGED = ("--model", "python:model:make", "--drift-cases", "mycases", *JUDGE)


def write_measured(folder: Path) -> None:
    """A calibration of the project's judge in which it was flawless, as a project commits it: runs measure nothing."""
    module = types.ModuleType("judge")
    module.__spec__ = importlib.util.spec_from_file_location("judge", folder / "judge.py")
    with mock.patch.dict(sys.modules, {"judge": module}):
        judges = [Identity("python:judge:make", None, False, {"code": imported_code("judge")})]
    attempt = _flawless()
    measured = Calibration(
        judge="python:judge:make", identity=fingerprint(judges), proven=False, prompt_version=prompt_version(),
        prompts=prompt_hash(), labelled="made", patients=FAULTS + CLEAN, attempts=(attempt,), kinds=pooled([attempt]),
    )  # fmt: skip
    write_calibration(measured, folder / "calibration" / "judge.json")


@cache
def _flawless() -> Attempt:
    """What a flawless judge reaches on the labelled texts, as if they were of one patient: a small file."""
    faults, clean, none = {"patient": (FAULTS, FAULTS)}, {"patient": (CLEAN, CLEAN)}, {"patient": (0, CLEAN)}
    counts = {group: {"faults": faults, "subtle": faults, "clean": clean, "false": none} for group in GROUPS}
    return Attempt(made=datetime.date.today(), texts=TEXTS, requests=TEXTS, counts=counts)


def alarms(pytester: pytest.Pytester) -> list[dict[str, Any]]:
    """All alarms of the run."""
    return [a for case in results(pytester)["cases"] for run in case["repeats"] for a in run["alarms"]]


def times_asked(pytester: pytest.Pytester) -> int:
    """How often the judge was called."""
    file = pytester.path / "asked.txt"
    return len(file.read_text(encoding="utf-8").splitlines()) if file.exists() else 0
