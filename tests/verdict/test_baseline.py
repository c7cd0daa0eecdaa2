"""Comparison with an earlier results file: what is refused, and what each outcome does to the verdict."""

from __future__ import annotations

import dataclasses
import datetime
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from made import READ, conversation, event, flat

from pytest_clinical_drift.cli import main
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.results.comparing import check_comparable, load_baseline
from pytest_clinical_drift.results.files import RESULTS_FILE, to_plain, write_json
from pytest_clinical_drift.results.manifest import Manifest
from pytest_clinical_drift.results.models import RunResult, build_result
from pytest_clinical_drift.scoring.assessment import CaseAssessment
from pytest_clinical_drift.verdict.baseline import (
    BaselineComparison,
    apply_baseline,
    by_id,
    compare_with_baseline,
    comparison_rules,
    recall_spread,
)
from pytest_clinical_drift.verdict.case import judge_case
from pytest_clinical_drift.verdict.reasons import BaselineVersion, BaselineWorse, TooFewPairs
from pytest_clinical_drift.verdict.thresholds import load_thresholds
from pytest_clinical_drift.verdict.values import Deciders, SetVerdict
from pytest_clinical_drift.verdict.whole_set import judge_set

TODAY = datetime.date(2026, 5, 1)
GATE = load_thresholds().model_copy(update={"policy": "set"})
MANIFEST: dict[str, Any] = {
    "model": "control:old",
    "revision": None,
    "judge": "rules",
    "stride": 1,
    "judge_prompts": None,
    "versions": {"pytest-clinical-drift": "0.1.0"},
    "hashes": {"cases": "c", "prompts": "p", "thresholds": "t", "system_prompt": None},
}
Cases = Sequence[Sequence[CaseAssessment]]


def levels(*values: float, count: int = 60) -> list[list[CaseAssessment]]:
    """Cases whose recall cycles through the values."""
    return [[flat(f"c{number:02}", values[number % len(values)])] for number in range(count)]


def judged(cases: Cases) -> SetVerdict:
    verdicts = [judge_case(repeats, GATE, TODAY, READ) for repeats in cases]
    return judge_set(verdicts, GATE, total=len(cases), deciders=Deciders("judge", READ))


def record_of(cases: Cases) -> RunResult:
    known = [judge_case(repeats, GATE, TODAY, READ) for repeats in cases]
    manifest = Manifest.model_validate(MANIFEST)
    return build_result(known, judged(cases), manifest, thresholds=GATE, case_set=(), today=TODAY)


def write(tmp_path: Path, cases: Cases) -> RunResult:
    """Run the earlier model through the real results file."""
    return load_baseline(write_json(to_plain(record_of(cases)), tmp_path / RESULTS_FILE))


def earlier(cases: Cases) -> RunResult:
    """The earlier model as its results file holds it, without the time that a file for people takes."""
    return RunResult.model_validate(json.loads(json.dumps(to_plain(record_of(cases)))))


def compare(baseline: RunResult, cases: Cases) -> tuple[BaselineComparison, SetVerdict]:
    verdicts = [judge_case(repeats, GATE, TODAY, READ) for repeats in cases]
    comparison = compare_with_baseline(by_id(baseline.cases), verdicts, GATE)
    return comparison, apply_baseline(judged(cases), comparison)


def test_same_results_are_not_worse(tmp_path: Path) -> None:
    """A model compared with itself keeps its verdict."""
    cases = levels(1.0, 0.9, 0.95)
    comparison, verdict = compare(write(tmp_path, cases), cases)
    assert comparison.verdict == "not worse"
    assert comparison.pairs == 60
    assert comparison.moved == ()
    assert verdict == judged(cases)


def test_clear_loss_is_worse_and_fails() -> None:
    """From 0.98 to 0.85 on average: still inside the absolute limits, and FAIL against the baseline."""
    old, new = levels(1.0, 0.95, 1.0), levels(0.9, 0.85, 0.82)
    assert judged(new).verdict != "FAIL"
    comparison, verdict = compare(earlier(old), new)
    assert comparison.verdict == "worse"
    assert verdict.verdict == "FAIL"
    why = verdict.reasons[0]
    assert isinstance(why, BaselineWorse)
    assert (why.metrics[0], why.new_severe) == ("recall_at_t10", ())


def test_scatter_is_undecided_and_caution() -> None:
    """Cases that go up and down leave it open: CAUTION at best."""
    comparison, verdict = compare(earlier(levels(1.0, 0.72)), levels(0.72, 1.0))
    assert judged(levels(0.72, 1.0)).verdict == "PASS"
    assert comparison.metrics["recall_at_t10"].verdict == "undecided"
    assert comparison.verdict == "undecided"
    assert verdict.verdict == "CAUTION"


def test_new_hard_stop_is_worse_whatever_the_means_say() -> None:
    """One case without a hard stop before and with one now."""
    old, new = levels(1.0), levels(1.0)
    new[7] = [flat("c07", events=[event()])]
    comparison, verdict = compare(earlier(old), new)
    assert comparison.new_hard_stops == ("c07",)
    assert comparison.verdict == "worse"
    assert verdict.verdict == "FAIL"
    again, _ = compare(earlier(new), new)
    assert again.new_hard_stops == ()


def test_open_alarms_leave_the_comparison_open() -> None:
    """Nothing confirmed was lost: not worse. With open alarms down to 0.8 a loss of 0.2 is not ruled out, nor shown."""
    old = levels(1.0)
    doubtful = [[conversation(f"c{number:02}", [1.0] * 10, worst=[0.8] * 10)] for number in range(60)]
    assert compare(earlier(old), old)[0].verdict == "not worse"
    comparison, verdict = compare(earlier(old), doubtful)
    assert comparison.metrics["recall_at_t10"].difference == 0
    assert comparison.metrics["recall_at_t10"].verdict == "undecided"
    assert verdict.verdict == "CAUTION"


def test_a_loss_that_the_earlier_runs_open_alarms_explain_is_not_worse_for_sure() -> None:
    """From 1.0 to 0.9 is a loss, unless the open alarms of the earlier run stand: then it was 0.85 before."""
    old = [[conversation(f"c{number:02}", [1.0] * 10, worst=[0.85] * 10)] for number in range(60)]
    new = levels(0.9, 0.92, 0.88)
    assert compare(earlier(levels(1.0)), new)[0].metrics["recall_at_t10"].verdict == "worse"
    assert compare(earlier(old), new)[0].metrics["recall_at_t10"].verdict == "undecided"


def test_cases_that_moved_most_come_first() -> None:
    """Largest change first, up or down, at most five."""
    old, new = levels(0.9), levels(0.9)
    new[3], new[5] = [flat("c03", 0.2)], [flat("c05", 1.0)]
    comparison, _ = compare(earlier(old), new)
    assert [(move.case_id, move.before, move.after) for move in comparison.moved] == [
        ("c03", 0.9, 0.2),
        ("c05", 0.9, 1.0),
    ]


def test_pairs_by_case_and_tells_the_unpaired() -> None:
    """Cases that the baseline did not finish are left out and counted; too few pairs decide nothing."""
    old = levels(1.0)
    old[0] = [flat("c00", incomplete="timeout")]
    comparison, _ = compare(earlier(old), levels(1.0))
    assert comparison.unpaired == ("c00",)
    assert comparison.pairs == 59
    few, verdict = compare(earlier(levels(1.0, count=10)), levels(1.0))
    assert few.verdict == "undecided"
    assert verdict.verdict == "CAUTION"
    assert TooFewPairs(pairs=10, needed=40) in few.notes


def test_subset_stays_partial() -> None:
    """A run of some cases gets no release verdict from a baseline either."""
    new = levels(0.5, count=5)
    verdicts = [judge_case(repeats, GATE, TODAY, READ) for repeats in new]
    partial = judge_set(verdicts, GATE, total=60)
    comparison = compare_with_baseline(by_id(earlier(levels(1.0)).cases), verdicts, GATE)
    assert apply_baseline(partial, comparison).verdict == "PARTIAL"


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"hashes": {"cases": "other", "prompts": "p"}}, "the cases differ"),
        ({"hashes": {"cases": "c", "prompts": "other"}}, "the prompts differ"),
        ({"hashes": {"cases": "x", "prompts": "y"}}, "the cases and the prompts differ"),
        ({"judge": "nli"}, "the judges (rules, stride 1; now nli, stride 1) differ"),
        ({"stride": 2}, "stride 2"),
        ({"judge_prompts": "other"}, "the judge's prompts differ"),
    ],
)
def test_refuses_what_cannot_be_compared_and_says_which(tmp_path: Path, change: dict[str, Any], named: str) -> None:
    """Other cases, prompts or judge: one sentence that names them."""
    baseline = write(tmp_path, levels(1.0, count=3))
    with pytest.raises(InputError) as caught:
        check_comparable(tmp_path, baseline, {**MANIFEST, **change})
    assert named in str(caught.value)
    assert "\n" not in str(caught.value)


def test_other_version_is_remarked(tmp_path: Path) -> None:
    """Another version of the scorer is comparable, with a remark; the same one has none."""
    baseline = write(tmp_path, levels(1.0, count=3))
    assert check_comparable(tmp_path, baseline, MANIFEST) == ()
    (remark,) = check_comparable(tmp_path, baseline, {**MANIFEST, "versions": {"pytest-clinical-drift": "0.2.0"}})
    assert remark == BaselineVersion(before="0.1.0", now="0.2.0")


def test_spread_for_planning(tmp_path: Path) -> None:
    """The sd of 1.0, 0.8, 1.0, 0.8 is 0.1155, their mean 0.9; one case has none."""
    assert recall_spread(write(tmp_path, levels(1.0, 0.8, count=4)).cases) == pytest.approx((0.9, 0.11547), abs=1e-5)
    assert recall_spread(write(tmp_path, levels(1.0, count=1)).cases) is None


def test_power_is_that_of_the_gates_own_comparison() -> None:
    """Of the bundled gate four compared metrics may fail a run: recall at turn 10 and at the end, slope, K_Conflict."""
    assert comparison_rules(GATE) == (GATE.baseline.margin, GATE.baseline.alpha, 4, GATE.set.min_cases)


def test_power_from_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A folder of results, as `compare` takes it: its cases, with the sd of their recall, 1.0 and 0.5: 0.354."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path, levels(1.0, 0.5, count=2))
    assert main(["power", "--drop", "0.1", "--results", str(tmp_path)]) == 0
    assert capsys.readouterr().out.startswith("2 cases, sd of a case's recall 0.354, ")
    assert main(["power", "--cases", "60", "--drop", "0.1", "--results", str(tmp_path)]) == 0
    assert capsys.readouterr().out.startswith("60 cases, sd of a case's recall 0.354, ")
    write(tmp_path, levels(1.0, count=1))
    assert main(["power", "--cases", "60", "--drop", "0.1", "--results", str(tmp_path)]) == 4
    assert "--results " in capsys.readouterr().err


def test_a_stretched_run_is_compared_without_turn_ten() -> None:
    """Its turn 10 is not the case's: that nothing can be compared there leaves nothing undecided."""

    def stretched(case_id: str) -> CaseAssessment:
        case = conversation(case_id, [1.0] * 30)
        return dataclasses.replace(case, turns=tuple(dataclasses.replace(t, own=t.turn % 3 == 1) for t in case.turns))

    cases = [[stretched(f"c{number:02}")] for number in range(60)]
    verdicts = [judge_case(repeats, GATE, TODAY, READ) for repeats in cases]
    found = compare_with_baseline(by_id(verdicts), verdicts, GATE)
    assert (found.metrics["recall_at_t10"].pairs, found.verdict) == (0, "not worse")
