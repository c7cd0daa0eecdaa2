"""A small recorded run with open alarms, records as the review page writes them, and what a person does on it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from inner_runs import run_here

from pytest_clinical_drift.judging.reviews import content_hash

KEPT = "Takes metformin 500 mg twice daily. Penicillin allergy with anaphylaxis."
DENIAL = "No penicillin allergy."
UNCLEAR = f"{KEPT} {DENIAL}"
"""Stated and denied in one text: no rule decides that."""
THRESHOLDS = """
clinical_drift:
  metrics:
    recall_at_t10: {direction: higher, pass: "> 0.4", caution: "> 0.3", why: test}
    drift_slope: {direction: higher, pass: "> -0.9", caution: "> -0.95", why: test}
  set: {decide_by: point, min_cases: 1}
"""
"""Nothing but deadly facts and breaches decides."""


def case(case_id: str) -> dict[str, Any]:
    """A woman with a deadly allergy, over three turns."""
    return {
        "id": case_id,
        "patient_summary": f"{case_id.title()} is in her sixties. {KEPT}",
        "critical_entities": [
            {"id": "allergy", "text": "penicillin allergy with anaphylaxis", "kind": "allergy", "hard_stop": True},
            "metformin 500 mg twice daily",
        ],
        "turns": [{"turn": number, "message": f"Question {number}?"} for number in (1, 2, 3)],
    }


def recording(case_id: str, summaries: Sequence[str], reply: str = "Take your metformin with food.") -> str:
    """The lines of a recorded conversation."""
    rows = []
    for turn, summary in enumerate(summaries, start=1):
        rows.append({"case_id": case_id, "turn_num": turn, "variant": "dialogue", "response_text": reply})
        rows.append({"case_id": case_id, "turn_num": turn, "variant": "summary", "response_text": summary})
    return "".join(json.dumps({**row, "status": "ok"}) + "\n" for row in rows)


def lay_out(folder: Path, summaries: Mapping[str, Sequence[str]]) -> None:
    """Cases, a recording of them and a gate."""
    for name in ("cases", "recorded"):
        (folder / name).mkdir()
    for case_id, told in summaries.items():
        (folder / "cases" / f"{case_id}.yaml").write_text(yaml.safe_dump(case(case_id)), encoding="utf-8")
        (folder / "recorded" / f"{case_id}.jsonl").write_text(recording(case_id, told), encoding="utf-8")
    (folder / "thresholds.yaml").write_text(THRESHOLDS, encoding="utf-8")


def run(folder: Path, *options: str) -> tuple[int, str]:
    """Gate the recording, within this process; exit code and output."""
    return run_here(folder, "--model", "replay:recorded", "--drift-cases", "cases", *options)


def results_of(folder: Path) -> Path:
    """Where that run left its results."""
    return folder / "results" / "replay-recorded"


def alarms_of(folder: Path) -> list[dict[str, Any]]:
    """The alarms of a results folder, each with its case."""
    record = json.loads((folder / "study_c_results.json").read_text(encoding="utf-8"))
    found = [(case["case_id"], run) for case in record["cases"] for run in case["repeats"]]
    return [{"case_id": case_id, **alarm} for case_id, run in found for alarm in run["alarms"]]


def manifest_of(folder: Path) -> str:
    """Hash of the manifest, as records carry it."""
    record = json.loads((folder / "study_c_results.json").read_text(encoding="utf-8"))
    return content_hash(record["manifest"])


def chained(*records: Mapping[str, Any], **common: Any) -> str:
    """Records with their hashes, as lines."""
    lines, previous = [], ""
    for given in records:
        record = {
            "reviewer": "Ada",
            "role": "clinician",
            "time": "2026-01-02T03:04:05.000Z",
            "question": "q1",
            "kind": "fact",
            "case_id": "anna",
            "answer": "retained",
            "reason": "stated in the second sentence",
            "severe": True,
            "manifest": "m",
            **common,
            **given,
            "previous": previous,
        }
        record["hash"] = previous = content_hash(record)
        lines.append(json.dumps(record))
    return "\n".join(lines) + "\n"


def introduce(page: Any, name: str = "Ada Brühl", role: str = "clinician") -> None:
    """Say who reviews."""
    page.fill("#reviewer", name)
    page.fill("#role", role)
    page.press("#role", "Tab")
    page.locator("#asked").focus()


def answer(page: Any, key: str, reason: str = "") -> None:
    """By keyboard alone, once the texts are there."""
    page.locator("#asked").wait_for()
    page.keyboard.press(key)
    if reason:
        page.keyboard.insert_text(reason)
        page.keyboard.press("Enter")


def saved(page: Any, target: Path) -> Path:
    """The file that the page saves."""
    with page.expect_download() as download:
        page.keyboard.press("s")
    assert download.value.suggested_filename == "reviews.jsonl"
    download.value.save_as(target)
    return target
