"""The small project that runs are started in: cases, a scripted model, and the arguments that gate it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

Project = Callable[..., pytest.Pytester]
"""The fixture `project`: lays out cases and a model, and gives the folder."""

RULES_ONLY = ("--model", "python:model:make", "--drift-cases", "mycases")
ARGUMENTS = (*RULES_ONLY, "--drift-judge", "python:judge:make")
"""With the judge of the project, which was measured before."""

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
    "The patient has a penicillin allergy with anaphylaxis. She takes metformin 500 mg twice daily. She lives alone."
)


SAID = (SUMMARY, "Nothing to add today.", "Thank you for telling me.")
"""All that the model says: whatever else a text contains is a fault."""


def results_file(project: Path, results: str = "results") -> Path:
    """The results of the only model: of the newest run over the full set, else of the newest subset."""
    on_top = list(project.glob(f"{results}/*/study_c_results.json"))
    return (on_top or sorted(project.glob(f"{results}/*/runs/*/study_c_results.json")))[-1]


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


def add_to_model(pytester: pytest.Pytester, code: str) -> None:
    """More code at the end of the project's model."""
    model = pytester.path / "model.py"
    model.write_text(model.read_text(encoding="utf-8") + code, encoding="utf-8")


def replies_counted(pytester: pytest.Pytester) -> int:
    """How often a model was asked that notes it in `replies.txt`."""
    file = pytester.path / "replies.txt"
    return len(file.read_text(encoding="utf-8")) if file.exists() else 0


def refused(pytester: pytest.Pytester, *arguments: str) -> str:
    """Run, check exit code 4 and that one sentence is all there is; return it."""
    result = pytester.runpytest(*arguments)
    assert result.ret == 4, result.stdout.str()
    text = result.stderr.str() + result.stdout.str()
    assert "Traceback" not in text
    assert "INTERNALERROR" not in text
    errors = [line for line in result.stderr.lines if line.startswith("ERROR: ")]
    assert len(errors) == 1, text
    return errors[0].removeprefix("ERROR: ")
