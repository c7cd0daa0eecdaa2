"""All 60 bundled cases in four shards: the merged record is that of the run in one piece."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from sharded import JUDGE, calibrate, differences, junit, merge, record, run_shards, without_origin

CASES, SHARDS = 60, 4
CAREFUL = Path(__file__).parent.parent / "data" / "bundled" / "transcripts"
"""Conversations of a careful model with six of the patients."""

pytestmark = pytest.mark.slow


def split_and_merge(
    pytester: pytest.Pytester, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> tuple[dict[str, Any], list[str]]:
    """The merged record, and all in which it, its junit file or its inputs differ from the whole run."""
    arguments = [*arguments, "-p", "no:cacheprovider"]
    whole = pytester.runpytest(*arguments, "--junitxml", "whole.xml")
    run_shards(pytester, SHARDS, arguments)
    code, _ = merge(capsys, "parts", "--junitxml", "merged.xml")
    assert code == whole.ret
    (folder,) = (file.parent for file in pytester.path.glob("results/*/study_c_results.json"))
    merged = record(pytester.path / "merged")
    assert (merged["cases_complete"], len(merged["manifest"]["merged_from"])) == (CASES, SHARDS)
    found = differences(without_origin(merged), record(folder))
    found += differences(junit(pytester.path / "merged.xml"), junit(pytester.path / "whole.xml"), "junit")
    inputs = [
        json.loads((place / "run.json").read_text(encoding="utf-8")) for place in (pytester.path / "merged", folder)
    ]
    for read in inputs:
        read.pop("manifest")  # a hash of the manifest, which says what was merged
    return merged, found + differences(*inputs, "run.json")


@pytest.mark.parametrize("control", ["cliff", "stale", "steady"])
def test_controls_in_shards(pytester: pytest.Pytester, capsys: pytest.CaptureFixture[str], control: str) -> None:
    """Figure by figure, alarm by alarm, test by test."""
    merged, found = split_and_merge(pytester, capsys, ["--model", f"control:{control}"])
    assert found == []
    assert merged["verdict"] == ("PASS" if control == "steady" else "FAIL")


def test_a_recording_with_a_judge_in_shards(pytester: pytest.Pytester, capsys: pytest.CaptureFixture[str]) -> None:
    """With canaries, audit, every kind of alarm and the judge's requests; six conversations are a careful model's."""
    pytester.runpytest("--model", "control:cliff", "--drift-results", "made")
    shutil.copytree(pytester.path / "made/control-cliff/transcripts", pytester.path / "recording")
    shutil.copytree(CAREFUL, pytester.path / "recording", dirs_exist_ok=True)
    pytester.makepyfile(judge=JUDGE)
    pytester.syspathinsert()
    calibrate(pytester.path)
    merged, found = split_and_merge(
        pytester, capsys, ["--model", "replay:recording", "--drift-judge", "python:judge:make"]
    )
    assert found == []
    alarms = [a for case in merged["cases"] for run in case["repeats"] for a in run["alarms"]]
    assert {"lost", "invented", "conflict", "omits", "recommends", "harm", "course", "misreported"} <= {
        a["kind"] for a in alarms
    }
    assert min(Counter(a["state"] for a in alarms)[state] for state in ("confirmed", "open", "dismissed")) > 0
    assert merged["canaries"][1] >= 30
