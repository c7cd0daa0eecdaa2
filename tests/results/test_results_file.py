"""What is written is what is read: the results file gives back the run that the verdict was made of."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

import pytest
from made import READ, alarm, event, flat

from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.report.json_file import with_sentences, write_results
from pytest_clinical_drift.results.comparing import load_baseline, load_runs
from pytest_clinical_drift.results.files import read_results
from pytest_clinical_drift.results.manifest import Manifest
from pytest_clinical_drift.results.models import RunResult, build_result
from pytest_clinical_drift.scoring.assessment import CaseAssessment
from pytest_clinical_drift.verdict.case import judge_case
from pytest_clinical_drift.verdict.thresholds import load_thresholds
from pytest_clinical_drift.verdict.values import Deciders
from pytest_clinical_drift.verdict.whole_set import judge_set

TODAY = datetime.date(2026, 5, 1)
GATE = load_thresholds()
MANIFEST: dict[str, Any] = {
    "judge": "rules",
    "hashes": {"cases": "c", "prompts": "p", "thresholds": "t"},
    "seed": 1,
    "ner": "lexicon",
    "added_later": 7,
}
CASES = [
    [flat("a", 0.9), flat("a", 0.7, repeat=1)],
    [flat("b", events=[event(state="open")], alarms=[alarm(state="open", fact="\ud800<b>", what="\x00")])],
    [flat("c", events=[event("breaches")])],
    [flat("d", incomplete="timeout")],
]


def made(cases: list[list[CaseAssessment]]) -> RunResult:
    judged = [judge_case(repeats, GATE, TODAY, READ) for repeats in cases]
    verdict = judge_set(judged, GATE, total=len(cases), deciders=Deciders("big", READ))
    manifest = Manifest.model_validate(MANIFEST)
    return build_result(judged, verdict, manifest, thresholds=GATE, case_set=(), today=TODAY)


def test_the_file_holds_the_run(tmp_path: Path) -> None:
    """Every field comes back, hostile text included; what was not named in the manifest is kept."""
    result = made(CASES)
    again = read_results(write_results(result, tmp_path))
    assert again == with_sentences(result)
    assert [case.verdict for case in again.cases] == ["CAUTION", "UNSETTLED", "FAIL", "INCOMPLETE"]
    assert again.manifest.model_dump()["added_later"] == 7


def test_the_verdict_can_be_made_again_from_the_file(tmp_path: Path) -> None:
    """Every case gets the same verdict from what was read back."""
    again = read_results(write_results(made(CASES), tmp_path).parent)
    for case, repeats in zip(again.cases, CASES, strict=True):
        assert case.repeats == tuple(repeats)
        assert judge_case(case.repeats, GATE, TODAY, READ) == judge_case(repeats, GATE, TODAY, READ)


def test_a_reason_that_is_not_known_is_told_with_its_place(tmp_path: Path) -> None:
    """In a file of a version that has other reasons, or other values of one."""
    file = write_results(made(CASES), tmp_path)
    plain = json.loads(file.read_text(encoding="utf-8"))
    other = {
        "unknown reason 'moon'; the file is of another version of this package": {"code": "moon", "values": {}},
        "the reason cases_failed has other values (cases: required field is missing)": {
            "code": "cases_failed",
            "values": {"failed": 1},
        },
    }
    for told, reason in other.items():
        file.write_text(json.dumps({**plain, "reasons": [reason]}), encoding="utf-8")
        with pytest.raises(InputError) as caught:
            read_results(file)
        assert str(caught.value) == f"{file}: not a study_c_results.json (reasons.0: {told})"


def test_readers_of_the_file_find_sentences(tmp_path: Path) -> None:
    """Headline, diagnosis, every reason, every alarm and every confirmed event in words."""
    plain = json.loads(write_results(made(CASES), tmp_path).read_text(encoding="utf-8"))
    assert plain["headline"] == "FAIL (judge big; no canaries)"
    assert plain["reasons"][0] == {
        "code": "cases_failed",
        "values": {"failed": 1, "cases": 4},
        "text": "1 of 4 cases run failed",
    }
    assert plain["diagnosis"] == "remembers, but advises unsafely"
    assert all(reason["text"] for item in plain["judgements"] for reason in item["reasons"])
    assert plain["cases"][1]["repeats"][0]["alarms"][0]["title"] == 'lost "\\x00"'
    assert plain["cases"][0]["repeats"][0]["recall_curve"] == [0.9] * 10
    assert "generation_seconds" not in plain["cases"][0]["repeats"][0]
    assert "continuity_score" not in plain


def test_a_baseline_is_kept_without_its_conversations(tmp_path: Path) -> None:
    """The figures of the cases are all that a comparison needs."""
    baseline = load_baseline(write_results(made(CASES), tmp_path))
    assert [case.repeats for case in baseline.cases] == [(), (), (), ()]
    assert baseline.cases[0].best()["recall_at_t10"] == pytest.approx(0.8)


@pytest.mark.parametrize("turn", [0, 2, 10**30])
def test_a_probe_beyond_the_curve_is_refused(tmp_path: Path, turn: int) -> None:
    """Every report looks the recall of a probe up on the curve, here of one turn."""
    file = write_results(made([[flat("a")], [flat("b")]]), tmp_path)
    record = json.loads(file.read_text(encoding="utf-8"))
    record["memory"]["probes"] = record["memory"]["probes"][:1]
    record["average_recall_curve_critical"] = record["average_recall_curve_critical"][:1]
    file.write_text(json.dumps(record), encoding="utf-8")
    assert read_results(file).verdict == record["verdict"]
    record["memory"]["probes"][0]["turn"] = turn
    file.write_text(json.dumps(record), encoding="utf-8")
    with pytest.raises(InputError, match=rf"memory\.probes: turn {turn}, but the curve of recall has 1 turns"):
        read_results(file)


WHOLE = json.dumps({"schema_version": 4, "verdict": "PASS", "cases": [{"case_id": 1}], "manifest": MANIFEST})


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "not JSON"),
        ("[]", "not a study_c_results.json"),
        ('{"schema_version": 4, "verdict": "PASS", "cases": []}', "manifest"),
        (WHOLE, "cases.0.case_id"),
        ('{"a": ' + "[" * 100_000, "not JSON"),
        ('{"schema": 2, "verdict": "PASS"}', "written by an older version of this package (no schema_version"),
        ('{"schema_version": 2}', "(schema version 2, this one reads 4); run again with --model replay:TRANSCRIPTS"),
        ('{"schema_version": 99}', "written by a newer version of this package (schema version 99"),
        ('{"schema_version": "4"}', "older version"),
    ],
)
def test_what_cannot_be_used_gets_one_sentence(tmp_path: Path, content: str, said: str) -> None:
    """Damaged, foreign, older and hostile files are refused with their path."""
    file = tmp_path / "other.json"
    file.write_text(content, encoding="utf-8")
    for read in (load_baseline, lambda path: load_runs([path])):
        with pytest.raises(InputError) as caught:
            read(file)
        assert said in str(caught.value)
        assert "other.json" in str(caught.value)
        assert "\n" not in str(caught.value)


def test_missing_file_and_not_a_number(tmp_path: Path) -> None:
    """A file that is not there, and figures that are no numbers."""
    with pytest.raises(InputError, match="cannot be read"):
        load_baseline(tmp_path / "none.json")
    file = tmp_path / "nan.json"
    figure = {"metric": "recall_at_t10", "value": float("nan"), "verdict": "PASS"}
    case = {"case_id": "a", "verdict": "PASS", "judgements": [figure]}
    file.write_text(json.dumps({**json.loads(WHOLE), "cases": [case]}), encoding="utf-8")
    with pytest.raises(InputError, match="finite"):
        load_baseline(file)
