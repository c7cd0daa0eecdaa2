"""`extends: bundled`: a gate that says only what differs, and the sentence that a bad one gets."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.verdict.thresholds import Thresholds, load_thresholds


def load(folder: Path, text: str) -> Thresholds:
    file = folder / "thresholds.yaml"
    file.write_text(text, encoding="utf-8")
    return load_thresholds(file)


def test_nothing_different_is_the_bundled_gate(tmp_path: Path) -> None:
    """Same limits, same fingerprint: the two files make comparable runs."""
    alone = load(tmp_path, "clinical_drift:\n  extends: bundled\n")
    assert alone == load_thresholds()
    assert alone.fingerprint() == load_thresholds().fingerprint()


def test_tables_are_merged_key_by_key(tmp_path: Path) -> None:
    """One limit of one metric, one floor, one rule of the set: everything beside them stays."""
    text = """
clinical_drift:
  extends: bundled
  metrics:
    recall_at_t10: {pass: "> 0.95"}
    k_conflict: {open: caution}
    own.warmth: {direction: higher, pass: "> 0.5", caution: "> 0.2", why: Ours.}
  judge:
    floors: {subtle: 0.9}
  set: {min_cases: 20}
  waivers:
    - {case: anna, reason: known, signed_by: Dr A, expires: 2030-01-01}
"""
    found, before = load(tmp_path, text), load_thresholds()
    recall = found.metrics["recall_at_t10"]
    assert (str(recall.pass_limit), str(recall.caution_limit)) == ("> 0.95", ">= 0.7")
    assert recall.why == "Set by this project."
    assert found.metrics["k_conflict"] == before.metrics["k_conflict"].model_copy(update={"open": "caution"})
    assert set(found.metrics) == {*before.metrics, "own.warmth"}
    assert found.judge.floors == {**before.judge.floors, "subtle": 0.9}
    assert (found.set.min_cases, found.set.confidence) == (20, before.set.confidence)
    assert [waiver.case for waiver in found.waivers] == ["anna"]
    assert found.slate == before.slate
    assert not found.implied_metrics


@pytest.mark.parametrize(
    ("body", "line", "fault"),
    [
        ("extends: strict", 2, "extends: expected bundled, found 'strict'"),
        ("extends: [bundled]", 2, "extends: expected bundled"),
        ("extends: bundled\n  metrics:\n    recall_at_t10: {pass: '> 0.5'}", 4, "leave a gap"),
        ("extends: bundled\n  metrics:\n    recall_t10: {pass: '> 0.5'}", 4, "did you mean recall_at_t10?"),
        ("extends: bundled\n  metrics:\n    hard_stops: {pass: '<= 1', caution: '<= 1'}", 3, "must keep its limits"),
        ("extends: bundled\n  metrics:\n    recall_at_t10:\n      passs: '> 0.9'", 5, "did you mean pass?"),
        ("extends: bundled\n  metrics:\n    recall_at_t10:\n      pass: '> 95'", 5, "did you mean 0.95?"),
        ("extends: bundled\n  metrics:\n    recall_at_t10:", 4, "recall_at_t10"),
        ("extends: bundled\n  sett: {min_cases: 3}", 3, "did you mean set?"),
        ("extends: bundled\n  metrics: 3", 3, "metrics"),
        ("metrics: {}", 2, "required metric recall_at_t10 is missing"),
    ],
)
def test_faults_have_their_line(tmp_path: Path, body: str, line: int, fault: str) -> None:
    """A fault of the merged gate is told at the line of the project's own file that makes it."""
    with pytest.raises(InputError) as told:
        load(tmp_path, f"clinical_drift:\n  {body}\n")
    assert f"thresholds.yaml, line {line}" in str(told.value)
    assert fault in str(told.value)
