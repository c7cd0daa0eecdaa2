"""Results files with made-up values of Recall@T10, for comparisons."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

UP_AND_DOWN = [0.9, 1.0, 0.8, 0.95] * 10


def write(folder: Path, recalls: list[float], *, cases: str = "c", personas: int | None = None) -> Path:
    """A results file with these values of Recall@T10; cases of one persona share a group."""
    folder.mkdir(parents=True)
    record = {
        "schema_version": 4,
        "verdict": "PASS",
        "manifest": {"judge": "rules", "hashes": {"cases": cases, "prompts": "p"}},
        "cases": [_case(number, value, personas or len(recalls)) for number, value in enumerate(recalls)],
    }
    file = folder / "study_c_results.json"
    file.write_text(json.dumps(record), encoding="utf-8")
    return file


def _case(number: int, value: float, personas: int) -> dict[str, Any]:
    run = {
        "case_id": f"c{number}", "persona_id": "", "group": f"g{number % personas}", "repeat": 0, "t10_turn": 10,
        "turns": [], "slope": None, "slope_worst": None, "slope_extended": None, "alarms": [], "events": [],
        "breaches": [],
        "conflict": {"pairs": 0, "contradictions": 0, "rate": None, "reason": None, "found": []},
    }  # fmt: skip
    judgements = [{"metric": "recall_at_t10", "value": value, "verdict": "PASS"}]
    return {"case_id": f"c{number}", "verdict": "PASS", "judgements": judgements, "repeats": [run]}


def reopened(file: Path, worst: float, verdict: str) -> Path:
    """The same results with this recall at the worse end of the first case, judged so."""
    plain = json.loads(file.read_text(encoding="utf-8"))
    plain["cases"][0]["judgements"][0] |= {"worst": worst, "verdict": verdict}
    file.write_text(json.dumps(plain), encoding="utf-8")
    return file
