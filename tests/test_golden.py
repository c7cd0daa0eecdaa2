"""The golden record: the same tree gives the same record, and a planted difference is reported."""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
TINIEST = "tiny/one-case"
FILE = "tiny__one-case.json.gz"
RESULTS = "results/control-cliff/study_c_results.json"


def golden(*words: object) -> tuple[int, str]:
    """Exit code of a command of the record, and what it says."""
    around = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "benchmarks.golden", *map(str, words)]
    done = subprocess.run(command, cwd=ROOT, env=around, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two records of this tree, `a` and `b`."""
    folder = tmp_path_factory.mktemp("golden")
    for name in ("a", "b"):
        code, told = golden("record", "--tree", ROOT, "--out", folder / name, "--only", TINIEST)
        assert code == 0, told
    return folder


def planted(recorded: Path, folder: Path, change: Any) -> Path:
    """A copy of the second record with something else in it."""
    target = folder / "changed"
    shutil.copytree(recorded / "b", target)
    record = json.loads(gzip.decompress((target / FILE).read_bytes()))
    change(record)
    (target / FILE).write_bytes(gzip.compress(json.dumps(record).encode()))
    return target


def results_of(record: dict[str, Any]) -> dict[str, Any]:
    """The results of the run, which stand in its folder and, as a note of that, on top of it."""
    every = [data for name, data in record["data"].items() if name.endswith("study_c_results.json")]
    (found,) = [data for data in every if isinstance(data, dict)]
    return found


def test_one_tree_gives_one_record(recorded: Path) -> None:
    code, told = golden("compare", recorded / "a", recorded / "b")
    assert (code, told.count("==")) == (0, 0), told
    assert "1 scenarios compared: 0 structural differences (0 milder), 0 in words" in told
    record = json.loads(gzip.decompress((recorded / "a" / FILE).read_bytes()))
    assert [command["exit"] for command in record["commands"]] == [1]
    assert results_of(record)["verdict"] == "FAIL"
    assert [test["outcome"] for test in record["junit"]["junit.xml"]["tests"]] == ["failure", "failure"]
    assert "FAIL (instrument check)" in record["commands"][0]["out"]


def test_a_milder_verdict_is_reported_first(recorded: Path, tmp_path: Path) -> None:
    def change(record: dict[str, Any]) -> None:
        results_of(record)["cases"][0]["verdict"] = "PASS"

    code, told = golden("compare", recorded / "a", planted(recorded, tmp_path, change))
    assert code == 1
    assert told.startswith("!!! MILDER tiny/one-case: data.results/control-cliff/")
    assert 'cases[penicillin-anaphylaxis-welder].verdict: "FAIL" → "PASS" (no reason given)' in told
    assert "1 structural differences (1 milder), 0 in words" in told


def test_figures_files_and_exit_codes_count(recorded: Path, tmp_path: Path) -> None:
    def change(record: dict[str, Any]) -> None:
        results_of(record)["entity_recall_at_t10"] += 1
        record["files"].remove(RESULTS)
        record["commands"][0]["exit"] = 0

    code, told = golden("compare", recorded / "a", planted(recorded, tmp_path, change), "--most", 90)
    assert code == 1
    assert re.search(r"study_c_results\.json\.entity_recall_at_t10: 0\.\d+ → 1\.\d+\n", told)
    assert "commands[0].exit: 1 → 0" in told
    assert f"files[{RESULTS}]: 1 → 0" in told


def test_words_may_differ(recorded: Path, tmp_path: Path) -> None:
    def change(record: dict[str, Any]) -> None:
        results_of(record)["headline"] = "It failed."
        record["commands"][0]["out"] = "It failed."

    code, told = golden("compare", recorded / "a", planted(recorded, tmp_path, change))
    assert code == 0
    assert "0 structural differences (0 milder), 2 in words" in told


def test_a_difference_that_is_meant_carries_its_reason(recorded: Path, tmp_path: Path) -> None:
    def change(record: dict[str, Any]) -> None:
        results_of(record)["manifest"]["seed"] = 7

    changed = planted(recorded, tmp_path, change)
    rows = [
        {"scenario": "tiny/*", "path": "*.manifest.seed", "reason": "another seed"},
        {"scenario": "tiny/*", "path": "*.manifest.stride", "reason": "nobody changed it"},
    ]
    (tmp_path / "expected.yaml").write_text(json.dumps(rows), encoding="utf-8")
    code, told = golden("compare", recorded / "a", changed, "--expected", tmp_path / "expected.yaml")
    assert code == 0, told
    assert "(expected) 1 × another seed" in told
    assert "expected and not found: tiny/* *.manifest.stride (nobody changed it)" in told
    (tmp_path / "expected.yaml").write_text(json.dumps([{**rows[0], "reason": ""}]), encoding="utf-8")
    assert golden("compare", recorded / "a", changed, "--expected", tmp_path / "expected.yaml")[0] != 0


def test_a_missing_scenario_is_named(recorded: Path, tmp_path: Path) -> None:
    changed = planted(recorded, tmp_path, lambda record: record.update(name="tiny/other"))
    code, told = golden("compare", recorded / "a", changed)
    assert code == 1
    assert "only in one record: tiny/one-case" in told
