"""Runs that are split: their shards, the merged record, and a judge that answers by hash."""

from __future__ import annotations

import datetime
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from pytest_clinical_drift.cli import main
from pytest_clinical_drift.judging.calibration_file import (
    Attempt,
    Calibration,
    fingerprint,
    pooled,
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
        words = {"quote": quote(text), "earlier_quote": quote(asked.get("earlier") or ""), "reason": "so"}

        def answer(clean, fault, percent, *of):
            return {"answer": fault if chance(*key, fault, *of) < percent else clean, **words}

        if kind == "summary":
            facts = {f["fact"]: answer("retained", "absent", 10, f["fact"]) for f in asked["facts"]}
            grade = "severe" if chance(*key) < 3 else "minor"
            return {"facts": facts, "unsupported": [{**words, "grade": grade}] if chance(*key) < 10 else []}
        if kind == "reply":
            demands = {
                d["id"]: answer("met", "missing", 4, d["id"])
                if d["kind"] == "must" else answer("kept", "violated", 2, d["id"])
                for d in asked.get("demands", [])
            }
            return {
                "demands": demands, "forbidden": answer("kept", "violated", 2), "harm": answer("none", "harm", 2),
                "conflict": answer("consistent", "contradiction", 15), "care": "routine",
            }
        if kind == "conversation":
            first, last = asked["turns"][0], asked["turns"][-1]
            pair = {"earlier": first["turn"], "later": last["turn"], "answer": "contradiction", "reason": "so"}
            pair |= {"earlier_quote": quote(first["reply"]), "quote": quote(last["reply"])}
            course = {"turns": [first["turn"], last["turn"]], "answer": "risk normalised", "quote": pair["quote"]}
            told = {"quote": quote(asked.get("summary") or ""), "reason": "so"}
            return {
                "contradictions": [pair] if chance(*key, 1) < 40 else [],
                "course": [{**course, "reason": "so"}] if chance(*key, 2) < 20 else [],
                "misreported": [told] if chance(*key, 3) < 20 else [], "standing": [],
            }
        clean, fault = {
            "fact": ("retained", "absent"), "must": ("met", "missing"), "must_not": ("kept", "violated"),
            "forbidden": ("kept", "violated"), "conflict": ("consistent", "contradiction"),
            "invented": ("supported", "invented"), "harm": ("none", "harm"), "misreported": ("said", "misreported"),
        }.get(kind, ("none", "risk normalised"))
        return answer(clean, fault, 50, asked.get("fact"), asked.get("wording"))

    return judge
'''


def calibrate(
    folder: Path,
    judge: str = "python:judge:make",
    name: str = "judge",
    *,
    made: datetime.date | None = None,
    proven: bool | None = None,
    **settings: str,
) -> Path:
    """A calibration file in which a judge, that of `judge.py` unless named, is flawless."""
    identities = [build_judge(judge, settings).identity()]  # type: ignore[union-attr]
    right, none = {"patient": (600, 600)}, {"patient": (0, 600)}
    counts = {"faults": right, "subtle": right, "clean": right, "false": none, "missed": none}
    day = made or datetime.datetime.now(tz=datetime.UTC).date()
    attempt = Attempt(made=day, texts=1, requests=1, counts=dict.fromkeys(GROUPS, counts))
    found = Calibration(
        judge=judge,
        identity=fingerprint(identities),
        proven=identities[0].proven if proven is None else proven,
        prompt_version=prompt_version(),
        prompts=prompt_hash(),
        labelled="made",
        patients=60,
        attempts=(attempt,),
        kinds=pooled([attempt]),
    )
    return write_calibration(found, folder / "calibration" / f"{name}.json")


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


def junit(file: Path) -> list[tuple[str, str, tuple[tuple[str, str | None, str | None], ...]]]:
    """Every test with its properties, messages and texts."""
    return [
        (
            str(test.get("classname")),
            str(test.get("name")),
            tuple(sorted((e.tag, e.get("name") or e.get("message"), e.get("value") or e.text) for e in test.iter())),
        )
        for test in ElementTree.parse(file).iter("testcase")
    ]


def differences(left: Any, right: Any, where: str = "") -> list[str]:
    """Every place at which two records differ, as `cases[3].verdict: 'PASS', 'FAIL'`."""
    if isinstance(left, dict) and isinstance(right, dict):
        keys = sorted(left.keys() | right.keys())
        return [line for key in keys for line in differences(left.get(key, ...), right.get(key, ...), f"{where}.{key}")]
    if isinstance(left, list) and isinstance(right, list) and len(left) == len(right):
        pairs = enumerate(zip(left, right, strict=True))
        return [line for place, (a, b) in pairs for line in differences(a, b, f"{where}[{place}]")]
    return [] if left == right else [f"{where}: {left!r}, {right!r}"]
