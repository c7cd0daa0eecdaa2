"""What stands beside the verdict: the set's shape in words, and a record that is plain and the same every time."""

from __future__ import annotations

import datetime
import json

import pytest
from made import conversation, flat

from pytest_clinical_drift.cases import Case
from pytest_clinical_drift.supplement import Supplement, supplement
from pytest_clinical_drift.thresholds import load_thresholds
from pytest_clinical_drift.trend import set_trend, trend_lines
from pytest_clinical_drift.verdict import judge_case

TODAY = datetime.date(2026, 5, 1)
CLIFF = [0.95] * 5 + [0.40] * 5


def made(count: int = 3) -> Supplement:
    gate = load_thresholds()
    runs = [[conversation(f"c{number}", CLIFF)] for number in range(count)]
    case = {"id": "c0", "patient_summary": "Takes ramipril 5 mg.", "critical_entities": ["ramipril 5 mg"]}
    turns = [{"turn": number, "message": "And now?"} for number in (1, 2)]
    cases = [Case.model_validate({**case, "turns": turns})]
    return supplement(cases, [(run, judge_case(run, gate, TODAY)) for run in runs], gate, today=TODAY)


def test_shape_of_the_set_is_told_in_words() -> None:
    """A cliff is called one, with turn and levels, beside slope, R² and the robust slope."""
    lines = made().lines()
    assert lines[0] == "shape: cliff at turn 6: 0.95 → 0.40"
    assert lines[1].startswith("  mean curve: β -0.083 [")
    assert "R² 0.76" in lines[1]
    assert "Theil–Sen" in lines[1]


def test_record_is_plain_json_without_nan() -> None:
    """What is written equals what is read back, twice the same."""
    record = made().record()
    assert json.loads(json.dumps(record, allow_nan=False)) == record
    assert record == made().record()
    assert record["trend"]["shape_text"] == "cliff at turn 6: 0.95 → 0.40"
    assert record["baseline"] is None
    assert record["sanity_band"]["silence"] == 0.0


def test_repeats_are_averaged_before_cases() -> None:
    """A case run three times counts once: (0.4 + 1.0) / 2, not (3 · 0.4 + 1.0) / 4."""
    thrice = [flat("a", 0.4, repeat=number) for number in range(3)]
    assert set_trend([thrice, [flat("b")]]).curve[0] == pytest.approx(0.7)


def test_nothing_to_tell() -> None:
    """No case, no curve: said, not drawn."""
    assert trend_lines(set_trend([])) == ["shape: too few turns to tell"]


def test_turns_after_the_horizon_stay_out() -> None:
    """A loss at turn 12 is not part of the gated curve."""
    long = conversation("a", [1.0] * 11 + [0.0])
    assert set_trend([[long]]).curve == (1.0,) * 10
