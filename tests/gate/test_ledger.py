"""The ledger: appended only, counts the attempts of a candidate."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pytest_clinical_drift.gate.ledger import FILE_NAME, attempts_and_controls, record_run
from pytest_clinical_drift.results.manifest import Manifest
from pytest_clinical_drift.results.models import RunResult

HASHES = {"cases": "c", "thresholds": "t", "prompts": "p", "system_prompt": None}


def run(folder: Path, verdict: str, **changes: Any) -> str:
    manifest = {
        "model": changes.pop("model", "hf:acme/model"),
        "revision": changes.pop("revision", "abc"),
        "judge": changes.pop("judge", "server:strong"),
        "decoding": changes.pop("decoding", {"temperature": 0}),
        "versions": {"pytest-clinical-drift": "0.1.0"},
        "merged_from": [
            {"index": number, "count": 2, "run": name, "ended": "now"}
            for number, name in enumerate(changes.pop("merged", ()), start=1)
        ],
        "hashes": {**HASHES, **changes},
    }
    counts = {"cases_selected": 60, "cases_total": 60, "cases": ()}
    return record_run(folder, RunResult.model_validate({"verdict": verdict, "manifest": manifest, **counts}))


def test_attempts_of_one_candidate_are_counted(tmp_path: Path) -> None:
    """Three tries, then the fourth; another revision starts at one."""
    for verdict in ("FAIL", "FAIL", "CAUTION"):
        run(tmp_path, verdict)
    assert run(tmp_path, "PASS") == "attempt 4 of this candidate (before: FAIL, FAIL, CAUTION)"
    assert run(tmp_path, "PASS", revision="def") == "attempt 1 of this candidate"


def test_merging_the_same_shards_again_is_no_attempt(tmp_path: Path) -> None:
    """Whatever came between; another run of one shard is one."""
    assert run(tmp_path, "FAIL", merged=("a", "b")) == "attempt 1 of this candidate"
    run(tmp_path, "CAUTION", merged=("a", "c"))
    assert run(tmp_path, "FAIL", merged=("a", "b")) == "attempt 1 of this candidate"
    assert run(tmp_path, "PASS", merged=("d", "b")) == "attempt 3 of this candidate (before: FAIL, CAUTION)"
    assert len((tmp_path / FILE_NAME).read_text(encoding="utf-8").splitlines()) == 3
    again = run(tmp_path, "PASS", merged=("a", "b"))  # judged otherwise, by another version or with reviews
    assert again == "attempt 4 of this candidate (before: FAIL, CAUTION, PASS)"


def test_lines_are_appended_with_time_subject_hashes_and_verdict(tmp_path: Path) -> None:
    """One line per run; earlier bytes stay as they are."""
    run(tmp_path, "FAIL")
    before = (tmp_path / FILE_NAME).read_bytes()
    run(tmp_path, "PASS")
    after = (tmp_path / FILE_NAME).read_bytes()
    assert after.startswith(before)
    first, second = (json.loads(line) for line in after.splitlines())
    assert (first["subject"], first["verdict"], first["time"][-6:]) == ("hf:acme/model", "FAIL", "+00:00")
    assert (first["cases"], first["thresholds"]) == ("c", "t")
    assert second["verdict"] == "PASS"


def test_subset_runs_are_no_attempts(tmp_path: Path) -> None:
    """Trying three cases first is told, and does not count."""
    run(tmp_path, "PARTIAL")
    assert run(tmp_path, "FAIL") == "attempt 1 of this candidate; 1 subset run before"
    assert run(tmp_path, "PARTIAL").startswith("subset run, not counted as an attempt of this candidate")


def test_moved_goalposts_are_told(tmp_path: Path) -> None:
    """Other limits, cases or decoding since the last attempt, or a judge that may be kinder."""
    run(tmp_path, "FAIL")
    attempt = run(tmp_path, "PASS", thresholds="softer", decoding={"temperature": 1})
    assert "the thresholds and the settings changed since the last attempt" in attempt
    assert "the judge changed since the last attempt" in run(
        tmp_path, "PASS", thresholds="softer", decoding={"temperature": 1}, judge="server:kind"
    )


def test_a_line_that_is_none_is_passed_over(tmp_path: Path) -> None:
    """The runs before and after it count."""
    run(tmp_path, "FAIL")
    with (tmp_path / FILE_NAME).open("a", encoding="utf-8") as file:
        file.write("not json\n[1]\n")
    assert run(tmp_path, "PASS") == "attempt 2 of this candidate (before: FAIL)"


def test_words_that_are_no_verdict_are_not_shown(tmp_path: Path) -> None:
    """An edited ledger must not write to the terminal of whoever runs the gate."""
    run(tmp_path, "FAIL")
    file = tmp_path / FILE_NAME
    entry = json.loads(file.read_text(encoding="utf-8"))
    for word in ("\x1b[2J PASS", ["PASS"], None):
        file.write_text(json.dumps({**entry, "verdict": word}) + "\n", encoding="utf-8")
        assert run(tmp_path, "PASS").startswith("attempt 2 of this candidate (before: unknown)")
    manifest = Manifest.model_validate(
        {"model": "hf:acme/model", "revision": "abc", "judge": "rules", "hashes": HASHES}
    )
    file.write_text(json.dumps({**entry, "time": "<b>today</b>"}) + "\n", encoding="utf-8")
    attempts, _ = attempts_and_controls(tmp_path, manifest)
    assert attempts.verdicts == (("unknown", "FAIL"),)


def test_unwritable_folder_is_told_not_raised(tmp_path: Path) -> None:
    """The verdict of a long run must not be lost to a full disk."""
    blocked = tmp_path / "file"
    blocked.write_text("", encoding="utf-8")
    attempt = run(blocked, "PASS")
    assert attempt.startswith("attempt unknown: the ledger")
