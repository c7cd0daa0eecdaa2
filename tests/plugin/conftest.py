"""A small project to run pytest in: its own cases and a scripted model."""

from __future__ import annotations

import textwrap
from collections.abc import Callable

import numpy.random  # noqa: F401  numpy cannot be loaded twice, and runs inside this process drop what they imported
import pytest
import scipy.stats  # noqa: F401
import yaml

MODEL = '''
"""A scripted model: remembers everything, forgets from some turn on, or breaks."""

FORGET_FROM = {forget_from}


def make():
    def chat(messages):
        turns = sum(message["role"] == "user" for message in messages)
        probing = "handover summary" in messages[-1]["content"]
        turn = turns - 1 if probing else turns
        if {breaks_at} and turn >= {breaks_at}:
            raise RuntimeError("out of memory")
        if probing:
            return {summary!r} if turn < FORGET_FROM else "Nothing to add today."
        return "Thank you for telling me."
    return chat
'''

SUMMARY = (
    "The patient has a penicillin allergy with anaphylaxis and takes metformin 500 mg twice daily. She lives alone."
)


def case_text(case_id: str, turns: int = 4, **extra: object) -> str:
    """A case whose facts SUMMARY states."""
    data: dict[str, object] = {
        "id": case_id,
        "persona_id": f"persona-{case_id}",
        "patient_summary": (
            f"{case_id.title()} is a woman with a penicillin allergy with anaphylaxis. "
            "She takes metformin 500 mg twice daily and lives alone."
        ),
        "critical_entities": [
            {"id": "allergy", "text": "penicillin allergy with anaphylaxis", "kind": "allergy", "hard_stop": True},
            "metformin 500 mg twice daily",
            "lives alone",
        ],
        "turns": [{"turn": number, "message": f"Question number {number}?"} for number in range(1, turns + 1)],
    }
    data.update(extra)
    return yaml.safe_dump(data, sort_keys=False)


Project = Callable[..., pytest.Pytester]


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    """Lay out `cases/` and `model.py` in a fresh folder."""

    def build(*case_ids: str, forget_from: int = 99, breaks_at: int = 0, turns: int = 4) -> pytest.Pytester:
        folder = pytester.mkdir("mycases")
        for case_id in case_ids or ("anna", "bela", "cleo"):
            (folder / f"{case_id}.yaml").write_text(case_text(case_id, turns), encoding="utf-8")
        pytester.makepyfile(model=MODEL.format(forget_from=forget_from, breaks_at=breaks_at, summary=SUMMARY))
        return pytester

    return build


ARGUMENTS = ("--model", "python:model:make", "--drift-cases", "mycases")


@pytest.fixture
def gate(project: Project) -> Callable[..., pytest.RunResult]:
    """Run the gate on the small project; keyword arguments shape the model."""

    def run(*arguments: str, **shape: int) -> pytest.RunResult:
        pytester = project(**shape)  # type: ignore[arg-type]
        return pytester.runpytest(*ARGUMENTS, *arguments)

    return run


def dedent(text: str) -> str:
    return textwrap.dedent(text)
