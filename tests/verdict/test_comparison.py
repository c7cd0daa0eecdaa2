"""Several runs side by side: paired by case, resampled by independent groups, judged with the project's margin."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from compared_runs import UP_AND_DOWN, reopened, write

from pytest_clinical_drift.results.comparing import RunDifference, load_runs, paired_differences
from pytest_clinical_drift.verdict.reasons import NotPaired, OpenRecall, RecallUnread
from pytest_clinical_drift.verdict.thresholds import BaselineRules


def compared(old: Path, new: Path, **rules: float) -> RunDifference:
    (difference,) = paired_differences(load_runs([old, new]), BaselineRules.model_validate(rules))
    return difference


LOWER = [value - 0.03 - 0.02 * (number % 3) for number, value in enumerate(UP_AND_DOWN)]


def test_mean_difference_of_paired_cases(tmp_path: Path) -> None:
    """Losses of 0.03, 0.05, 0.07 in turn: 0.0497 on average over 40 cases, as 14, 13 and 13 of them."""
    found = compared(write(tmp_path / "old", UP_AND_DOWN), write(tmp_path / "new", LOWER))
    assert (found.model, found.against, found.cases, found.groups) == ("new", "old", 40, 40)
    assert found.recall is not None
    assert found.recall.difference == pytest.approx(-(14 * 0.03 + 13 * 0.05 + 13 * 0.07) / 40)


def test_the_margin_is_the_projects(tmp_path: Path) -> None:
    """A loss of about 0.05 is worse by the usual margin of 0.05, and none by one of 0.2."""
    old, new = write(tmp_path / "old", UP_AND_DOWN), write(tmp_path / "new", LOWER)
    usual, wide = compared(old, new).recall, compared(old, new, margin=0.2).recall
    assert usual is not None
    assert wide is not None
    assert (usual.verdict, wide.verdict, wide.margin) == ("worse", "not worse", 0.2)


def test_one_pair_has_an_interval_around_its_difference(tmp_path: Path) -> None:
    """From 1.0 to 0.2 on a single case: all that is known of other cases is that they lie between -1 and 1."""
    found = compared(write(tmp_path / "old", [1.0]), write(tmp_path / "new", [0.2])).recall
    assert found is not None
    assert found.interval is not None
    assert found.difference == pytest.approx(-0.8)
    # nothing was seen to depart: the exact limit for one unit is 1 - 0.025
    assert (found.interval.low, found.interval.high) == pytest.approx((-0.8 - 0.975 * 0.2, -0.8 + 0.975 * 1.8))
    assert found.verdict == "undecided"


def test_cases_of_one_persona_are_not_independent(tmp_path: Path) -> None:
    """The same 40 values in 10 groups that lose alike: a wider interval than 40 independent cases give."""
    lost = [value - 0.02 * (number % 10) for number, value in enumerate(UP_AND_DOWN)]
    alone = compared(write(tmp_path / "a", UP_AND_DOWN), write(tmp_path / "b", lost))
    alike = compared(write(tmp_path / "c", UP_AND_DOWN, personas=10), write(tmp_path / "d", lost, personas=10))
    assert (alone.groups, alike.groups) == (40, 10)
    results = [found.recall for found in (alone, alike) if found.recall is not None]
    assert results[0].difference == results[1].difference
    widths = [result.interval.high - result.interval.low for result in results if result.interval is not None]
    assert widths[1] > 1.5 * widths[0]


def test_other_cases_are_not_paired(tmp_path: Path) -> None:
    """Another case set has nothing to pair: said, not computed."""
    found = compared(write(tmp_path / "old", UP_AND_DOWN), write(tmp_path / "new", LOWER, cases="other"))
    assert (found.cases, found.recall, found.remarks) == (
        0,
        None,
        (NotPaired("cases"),),
    )


@pytest.mark.parametrize("changed", [{"judge": "server:other"}, {"stride": 2}, {"judge_prompts": "3"}])
def test_runs_read_by_another_judge_are_not_paired(tmp_path: Path, changed: dict[str, object]) -> None:
    """A drop of 0.1 between two judges says nothing about the model."""
    old, new = write(tmp_path / "old", UP_AND_DOWN), write(tmp_path / "new", LOWER)
    plain = json.loads(new.read_text(encoding="utf-8"))
    plain["manifest"] |= changed
    new.write_text(json.dumps(plain), encoding="utf-8")
    found = compared(old, new)
    assert (found.cases, found.recall) == (0, None)
    [remark] = found.remarks
    assert isinstance(remark, NotPaired)
    assert "judge" in remark.what


def test_recall_that_nobody_read_to_the_end_is_remarked(tmp_path: Path) -> None:
    """0.9 and 1.0, the first 0.7 with open alarms: 0.95, and 0.85 with them; what a judge settled needs no remark."""
    read = write(tmp_path / "read", [0.9, 1.0])
    open_ones = reopened(write(tmp_path / "open", [0.9, 1.0]), 0.7, "unread")
    rules = reopened(write(tmp_path / "rules", [0.9, 1.0]), 0.9, "unread")
    pairs = {"none": (read, write(tmp_path / "also", [0.9, 1.0])), "one": (read, open_ones), "both": (open_ones, rules)}
    remarks = {name: compared(old, new).remarks for name, (old, new) in pairs.items()}
    opened = OpenRecall("open", recall=pytest.approx(0.95), worst=pytest.approx(0.85))
    by_rules = OpenRecall("rules", recall=pytest.approx(0.95), worst=pytest.approx(0.95))
    assert remarks == {
        "none": (),
        "one": (RecallUnread((opened,)),),
        "both": (RecallUnread((opened, by_rules)),),
    }


def test_runs_of_one_name_are_told_apart(tmp_path: Path) -> None:
    """Two folders with the same last name keep their whole place."""
    first, second = write(tmp_path / "one" / "model", [1.0]), write(tmp_path / "two" / "model", [1.0])
    names = [name for name, _ in load_runs([first.parent, second])]
    assert names == [str(first.parent), str(second.parent)]
