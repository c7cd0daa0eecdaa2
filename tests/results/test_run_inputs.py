"""`run.json`: what it keeps of a run, what it is read as, and which results it belongs to."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

import pytest
from made import READ, event, flat
from pydantic import ValidationError
from shard_records import JUDGING, WINDOW, gate, inputs_of, results

from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.judging.reviews import content_hash
from pytest_clinical_drift.results.inputs import (
    JudgingRecord,
    RunInputs,
    check_inputs,
    manifest_hash,
    options_hash,
    read_inputs,
    write_inputs,
)
from pytest_clinical_drift.results.models import LimitRecord, RunResult
from pytest_clinical_drift.verdict.reasons import ShortRun, Verdict
from pytest_clinical_drift.verdict.values import Deciders

PLACE = Path("run")
LIMIT = LimitRecord.model_validate(
    {
        "direction": "higher",
        "pass": "> 0.8",
        "caution": "> 0.7",
        "pass_value": 0.8,
        "caution_value": 0.7,
        "worst": "fail",
        "why": "test",
    }
)


def write(folder: Path, **changed: Any) -> Path:
    inputs = gate(**changed)
    return write_inputs(folder, inputs, results(inputs), JUDGING)


def plain(file: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return found


def with_limits() -> RunResult:
    """A baseline; its limits have names that are no names in Python."""
    return results(gate()).model_copy(update={"limits": {"recall_at_t10": LIMIT}})


def test_the_file_holds_the_inputs(tmp_path: Path) -> None:
    """Everything that was given comes back; limits are called as in a thresholds file, and any reader takes ASCII."""
    patient = gate().cases[0].model_copy(update={"persona_id": "Brühl"})
    given = gate(strict=True, stride=2, cases=(patient,), baseline=with_limits(), signed=("anna",))
    file = write_inputs(tmp_path, given, results(given, deciders=Deciders("big", READ)), JUDGING)
    assert file == tmp_path / "run.json"
    assert file.read_bytes().isascii()
    assert plain(file)["thresholds"]["metrics"]["recall_at_t10"]["pass"] == [">", 0.8]
    assert plain(file)["baseline"]["limits"]["recall_at_t10"]["pass"] == "> 0.8"
    read = read_inputs(tmp_path)
    assert (read.judging, read.deciders) == (JUDGING, Deciders("big", READ))
    assert {name: getattr(read, name) for name in type(given).model_fields} == dict(given)


def test_a_run_is_judged_again_by_the_waivers_of_the_day(tmp_path: Path) -> None:
    """The day of the run is not kept: a waiver that has expired since would hold for ever."""
    file = write(tmp_path, today=datetime.date(2001, 1, 1))
    assert "today" not in plain(file)
    before = datetime.date.today()
    assert before <= read_inputs(tmp_path).today <= datetime.date.today()


def test_what_an_older_file_does_not_name_was_not_requested(tmp_path: Path) -> None:
    """Probes by the schedule, no transcript in one message, nothing signed, no shard."""
    file = write(tmp_path)
    content = plain(file)
    for name in ("probe_every_turn", "single_message", "signed", "shard"):
        del content[name]
    file.write_text(json.dumps(content), encoding="utf-8")
    read = read_inputs(tmp_path)
    assert (read.probe_every_turn, read.single_message, read.signed, read.shard) == (False, False, (), None)


def test_inputs_do_not_change_during_a_run() -> None:
    """What the first case was held against holds for the last one."""
    inputs = gate()
    with pytest.raises(ValidationError, match="frozen"):
        inputs.strict = True  # type: ignore[misc]
    with pytest.raises(ValidationError, match="frozen"):
        JUDGING.window = 1  # type: ignore[misc]


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_counts_of_a_calibration_are_numbers(number: float) -> None:
    """A judge's error that is no number would correct a rate to no number."""
    known = dict(inputs_of(gate(), results(gate())))
    errors = {"facts": ((number, 10.0), (9.0, 10.0))}
    with pytest.raises(ValidationError, match="finite"):
        RunInputs(**{**known, "deciders": {"errors": errors}})


@pytest.mark.parametrize(
    ("level", "events", "state", "lenient", "strict"),
    [
        (1.0, [], Verdict.PASS, False, False),
        (0.75, [], Verdict.CAUTION, False, True),
        (1.0, [event("breaches")], Verdict.FAIL, True, True),
    ],
)
def test_a_caution_fails_its_test_where_the_run_is_strict(
    level: float, events: list[Any], state: Verdict, lenient: bool, strict: bool
) -> None:
    """A PASS never does, a FAIL always."""
    verdict = gate().judge_case([flat("anna", level, events=events)], READ)
    assert verdict.verdict == state
    assert gate().fails(verdict) == lenient
    assert gate(strict=True).fails(verdict) == strict


def test_options_are_hashed_as_the_file_holds_them(tmp_path: Path) -> None:
    """Whoever has run.json can make the hash again, whatever its fields are called in Python."""
    given = gate(strict=True, probe="Write it down.", signed=("anna",), baseline=with_limits())
    content = plain(write_inputs(tmp_path, given, results(given), JUDGING))
    kept = {name: content[name] for name in ("strict", "probe", "signed", "baseline", "baseline_remarks")}
    kept["window"] = content["judging"]["window"]
    assert options_hash(given, WINDOW) == content_hash(kept)
    assert content_hash(content["manifest"]) == manifest_hash(results(given).manifest)


def refusal(inputs: RunInputs, result: RunResult) -> str:
    """Why they are not of one run; empty where they are."""
    try:
        check_inputs(PLACE, inputs, result)
    except InputError as error:
        return str(error)
    return ""


def test_records_of_one_run_agree() -> None:
    """Also where every summary was requested, and where an older run did not record the hash of its options."""
    for changed in ({}, {"probe_every_turn": True}, {"single_message": True}, {"stride": 3, "repeats": 2}):
        given = gate(**changed)
        result = results(given)
        assert refusal(inputs_of(given, result), result) == ""
    manifest = result.manifest
    hashes = manifest.hashes.model_copy(update={"options": None})
    older = result.model_copy(update={"manifest": manifest.model_copy(update={"hashes": hashes})})
    assert refusal(inputs_of(given, older), older) == ""


REMARK = ShortRun(3)


@pytest.mark.parametrize(
    ("changed", "what"),
    [
        (
            {"manifest": results(gate(), model="other").manifest},
            "its results and its run.json belong to different runs, or one of them was changed",
        ),
        ({"cases": gate().cases[:2]}, "the cases or thresholds in run.json are not those of the run"),
        (
            {"thresholds": gate().thresholds.model_copy(update={"policy": "set"})},
            "the cases or thresholds in run.json are not those of the run",
        ),
        *(
            (changed, "its results and its run.json name different options; one of them was changed")
            for changed in (
                {"stride": 2},
                {"ner": "other"},
                {"repeats": 2},
                {"probe_every_turn": True},
                {"single_message": True},
                {"strict": True},
                {"probe": "Write it down."},
                {"signed": ("anna",)},
                {"baseline": with_limits()},
                {"baseline_remarks": (REMARK,)},
                {"judging": JudgingRecord(window=WINDOW + 1)},
            )
        ),
        (
            {"deciders": Deciders("big")},
            "its results and its run.json name different judges or reviewers; one of them was changed",
        ),
    ],
)
def test_records_that_contradict_each_other(changed: dict[str, Any], what: str) -> None:
    """One thing that was changed is enough; the sentence says where and what."""
    result = results(gate())
    inputs = inputs_of(gate(), result).model_copy(update=changed)
    assert refusal(inputs, result) == f"run: {what}"
