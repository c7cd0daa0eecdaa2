"""Runs that are split: their shards, the merged record, and a judge that answers by hash."""

from __future__ import annotations

import datetime
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from pytest_clinical_drift.cli import main
from pytest_clinical_drift.judging.calibration import (
    Attempt,
    Calibration,
    KindLimits,
    Share,
    fingerprint,
    write_calibration,
)
from pytest_clinical_drift.judging.labelled import GROUPS
from pytest_clinical_drift.judging.prompts import prompt_hash, prompt_version
from pytest_clinical_drift.judging.protocol import build_judge

JUDGE = '''
"""Reads by hash: the same text always gets the same answers, some of them alarms."""

import hashlib


def chance(*of):
    return int(hashlib.sha256(repr(of).encode()).hexdigest(), 16) % 100


def quote(text):
    return " ".join(text.split()[:4])


def make():
    def judge(asked):
        kind, text = asked["kind"], asked.get("text") or ""
        key = (kind, asked["case_id"], asked["turn"])
        if kind == "summary":
            facts = {
                f["fact"]: {"answer": "absent" if chance(*key, f["fact"]) < 10 else "retained", "quote": quote(text)}
                for f in asked["facts"]
            }
            return {"facts": facts, "unsupported": []}
        if kind == "reply":
            demands = {
                d["id"]: {"answer": "met" if d["kind"] == "must" else "kept", "quote": quote(text)}
                for d in asked.get("demands", [])
            }
            earlier = {"earlier_quote": quote(asked.get("earlier") or "")}
            said = "contradiction" if chance(*key) < 15 else "consistent"
            conflict = {"answer": said, "quote": quote(text), **earlier}
            return {
                "demands": demands, "forbidden": {"answer": "kept"}, "harm": {"answer": "none"}, "conflict": conflict,
                "care": "routine",
            }
        if kind == "conversation":
            return {"contradictions": [], "course": [], "misreported": [], "standing": []}
        fault, clean = {
            "fact": ("absent", "retained"), "must": ("missing", "met"), "must_not": ("violated", "kept"),
            "forbidden": ("violated", "kept"), "conflict": ("contradiction", "consistent"),
            "invented": ("invented", "supported"), "harm": ("harm", "none"), "misreported": ("misreported", "said"),
        }.get(kind, ("none", "none"))
        answer = fault if chance(*key, asked.get("fact"), asked.get("wording")) < 50 else clean
        earlier = quote(asked.get("earlier") or "")
        return {"answer": answer, "quote": quote(text), "earlier_quote": earlier, "reason": "so"}

    return judge
'''


def calibrate(folder: Path) -> Path:
    """A calibration file in which the judge of `judge.py` is flawless."""
    identities = [build_judge("python:judge:make", {}).identity()]  # type: ignore[union-attr]
    good, none = Share(hits=600, of=600, low=0.99, high=1.0), Share(hits=0, of=600, low=0.0, high=0.01)
    limits = KindLimits(
        sensitivity=good, subtle=good, specificity=good, false_confirmed=none, missed=none, consistent=good
    )
    made = Calibration(
        judge="python:judge:make",
        identity=fingerprint(identities),
        proven=identities[0].proven,
        prompt_version=prompt_version(),
        prompts=prompt_hash(),
        labelled="made",
        patients=60,
        attempts=(Attempt(made=datetime.datetime.now(tz=datetime.UTC).date(), texts=1, requests=1, counts={}),),
        kinds=dict.fromkeys(GROUPS, limits),
    )
    return write_calibration(made, folder / "calibration" / "judge.json")


def run_shards(pytester: pytest.Pytester, count: int, arguments: Sequence[str], wanted: Sequence[int] = ()) -> None:
    """Run shards into `parts/`; each ends without a verdict of its own."""
    for index in wanted or range(1, count + 1):
        ended = pytester.runpytest(*arguments, "--drift-results", "parts", "--drift-shard", f"{index}/{count}")
        assert ended.ret in (1, 7), ended.stdout.str()


def merge(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    """Exit code of `clinical-drift merge`, and what it says."""
    capsys.readouterr()
    code = main(["merge", *arguments, "--out", "merged"])
    said = capsys.readouterr()
    return code, said.out + said.err


def record(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "study_c_results.json").read_text(encoding="utf-8"))
    return found


def parts(pytester: pytest.Pytester) -> list[Path]:
    """The run folders of the shards, by their number, the older first."""
    found = [file.parent for file in pytester.path.glob("parts/*/runs/*/study_c_results.json")]
    return sorted(
        found, key=lambda f: (record(f)["manifest"]["shard"]["index"], record(f)["manifest"]["shard"]["ended"])
    )


def without_origin(found: dict[str, Any]) -> dict[str, Any]:
    """The record but for the line that says what it was merged from."""
    return {**found, "manifest": {**found["manifest"], "merged_from": []}}
