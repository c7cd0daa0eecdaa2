"""Records of a run that somebody changed by hand: merge and review refuse them, and never judge by them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from inner_runs import run_here
from made import flat
from reviewing import KEPT, lay_out

from pytest_clinical_drift.cli import main
from pytest_clinical_drift.errors import FailureCode, InputError, failure
from pytest_clinical_drift.gate.reopened import check_conversations, scores_agree
from pytest_clinical_drift.results.files import read_results
from pytest_clinical_drift.results.inputs import read_inputs
from pytest_clinical_drift.results.run_log import LOG_FILE
from pytest_clinical_drift.scoring.assessment import CaseAssessment

RESULTS, INPUTS = "study_c_results.json", "run.json"
Change = Callable[[dict[str, Any]], None]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A control that denies every allergy: a whole run, and the same as one shard of one; both fail."""
    place = tmp_path_factory.mktemp("recorded")
    lay_out(place, {"anna": [KEPT] * 3})
    for options in (("whole",), ("parts", "--drift-shard", "1/1")):
        code, said = run_here(place, "--model", "control:denier", "--drift-cases", "cases", "--drift-results", *options)
        assert code == 1, said
    return place


@pytest.fixture
def shard(recorded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the shard's folder."""
    monkeypatch.chdir(tmp_path)
    (found,) = recorded.glob(f"parts/*/runs/*/{RESULTS}")
    return Path(shutil.copytree(found.parent, tmp_path / "part")).relative_to(tmp_path)


def edit(file: Path, change: Change) -> None:
    content = json.loads(file.read_text(encoding="utf-8"))
    change(content)
    file.write_text(json.dumps(content), encoding="utf-8")


def merge(capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    capsys.readouterr()
    return main(["merge", "part", "--out", "merged"]), capsys.readouterr().err


def conversation(record: dict[str, Any]) -> dict[str, Any]:
    """The one conversation of a results file."""
    found: dict[str, Any] = record["cases"][0]["repeats"][0]
    return found


def test_an_untouched_shard_fails(shard: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What the changes below would hide."""
    assert merge(capsys) == (1, "")


def without_losses(record: dict[str, Any]) -> None:
    conversation(record).update(alarms=[], events=[])


def dismissed(record: dict[str, Any]) -> None:
    for alarm in conversation(record)["alarms"]:
        alarm["state"] = "dismissed"


def full_recall(record: dict[str, Any]) -> None:
    for turn in conversation(record)["turns"]:
        turn.update(recall=1.0, recall_worst=1.0, strict_recall=1.0, strict_worst=1.0)


def excused(record: dict[str, Any]) -> None:
    conversation(record).update(incomplete="the server was down", failure={"code": "subject_stopped", "values": {}})


@pytest.mark.parametrize("change", [without_losses, dismissed, full_recall, excused])
def test_scores_that_do_not_follow_from_the_transcript(
    shard: Path, capsys: pytest.CaptureFixture[str], change: Change
) -> None:
    """Exit code 4 with file and case: the verdict is made of what was said, not of what a file says was found."""
    edit(shard / RESULTS, change)
    code, said = merge(capsys)
    assert code == 4
    assert said.startswith("clinical-drift: part/study_c_results.json: ")
    assert "the scores of anna do not follow from its transcript and log.jsonl" in said
    assert said.count("\n") == 1
    assert not Path("merged/study_c_results.json").exists()


def test_a_transcript_that_was_changed(shard: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Kinder words in the transcript do not go with the recorded scores."""
    file = shard / "transcripts" / "anna.jsonl"
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    for row in rows:
        row["response_text"] = KEPT if row["variant"] == "summary" else row["response_text"]
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    code, said = merge(capsys)
    assert (code, "the questions on anna do not follow from its transcript" in said) == (4, True)


def no_conversation(record: dict[str, Any]) -> None:
    record["cases"][0]["repeats"] = []


def one_twice(record: dict[str, Any]) -> None:
    record["cases"][0]["repeats"] *= 2


def case_twice(record: dict[str, Any]) -> None:
    record["cases"] *= 2


def of_another(record: dict[str, Any]) -> None:
    conversation(record)["case_id"] = "bela"


@pytest.mark.parametrize("change", [no_conversation, one_twice, case_twice, of_another])
def test_conversations_that_were_not_held(shard: Path, capsys: pytest.CaptureFixture[str], change: Change) -> None:
    """Each case has the conversations that were asked for, once, and nobody else's."""
    edit(shard / RESULTS, change)
    code, said = merge(capsys)
    assert code == 4
    assert "part/study_c_results.json: other conversations of anna than were run" in said


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("strict", True, "name different options"),
        ("judging", {"window": 7}, "name different options"),
        ("probe", "Write it down.", "name different options"),
        ("signed", ["anna"], "name different options"),
        ("repeats", 10**30, "name different options"),
        ("stride", 3, "name different options"),
        ("deciders", {}, "name different judges or reviewers"),
        ("shard", {"index": 1, "count": 2}, "are not of one shard"),
    ],
)
def test_a_run_json_that_was_changed(
    shard: Path, capsys: pytest.CaptureFixture[str], field: str, value: object, sentence: str
) -> None:
    """What decides on a verdict stands in one file and, or its hash, in the other."""
    edit(shard / INPUTS, lambda inputs: inputs.update({field: value}))
    code, said = merge(capsys)
    assert (code, sentence in said, said.count("\n")) == (4, True, 1), said


def test_a_manifest_of_another_run(shard: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Both files hold it."""
    edit(shard / INPUTS, lambda inputs: inputs["manifest"].update(model="other"))
    code, said = merge(capsys)
    assert (code, "belong to different runs" in said, said.count("\n")) == (4, True, 1), said


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda shard: shard.update(index=2), "index must be 1 to 1, found 2"),
        (lambda shard: shard.update(index=0), "manifest.shard.index: expected at least 1, found 0"),
        (lambda shard: shard.update(count=10**30), "are not of one shard"),
        (lambda shard: shard["settings"].update(prices=5), "prices"),
        (lambda shard: shard["settings"].update(prices=[1]), "prices"),
    ],
    ids=["second of one", "from 0", "endless", "a number", "one price"],
)
def test_a_manifest_that_is_the_same_in_both_files(
    shard: Path, capsys: pytest.CaptureFixture[str], change: Change, sentence: str
) -> None:
    """Changed in both files alike: still one sentence, at once."""
    manifest: dict[str, Any] = {}

    def exchange(record: dict[str, Any]) -> None:
        change(record["manifest"]["shard"])
        manifest.update(record["manifest"])

    edit(shard / RESULTS, exchange)
    edit(
        shard / INPUTS,
        lambda inputs: inputs.update(
            manifest=manifest, shard={key: manifest["shard"][key] for key in ("index", "count")}
        ),
    )
    code, said = merge(capsys)
    assert (code, sentence in said, said.count("\n")) == (4, True, 1), said


def test_half_a_surrogate_pair_in_a_case(shard: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Such a text can be neither hashed nor written."""
    edit(shard / INPUTS, lambda inputs: inputs["cases"][0].update(persona_id="\ud800"))
    code, said = merge(capsys)
    assert code == 4
    assert "cases.0.persona_id: expected text without halves of surrogate pairs, found '\\ud800'" in said


@pytest.mark.parametrize("name", [RESULTS, INPUTS])
def test_a_key_that_is_given_twice(shard: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    """The last one would win, and a reader may have seen the first."""
    file = shard / name
    file.write_text('{"schema_version": 1,' + file.read_text(encoding="utf-8").lstrip()[1:], encoding="utf-8")
    code, said = merge(capsys)
    assert (code, f"part/{name}: not a" in said, "'schema_version' is given twice" in said) == (4, True, True)


@pytest.mark.parametrize("written", ["NaN", "-Infinity", "1e999"])
def test_not_a_number_where_no_field_is(shard: Path, capsys: pytest.CaptureFixture[str], written: str) -> None:
    """The manifest keeps keys that are not known."""
    edit(shard / RESULTS, lambda record: record["manifest"]["decoding"].update(temperature="hot"))
    file = shard / RESULTS
    file.write_text(file.read_text(encoding="utf-8").replace('"hot"', written), encoding="utf-8")
    code, said = merge(capsys)
    assert (code, f"{written} is not a finite number" in said) == (4, True)


def test_a_changed_transcript_is_not_reviewed(
    recorded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The alarms are the same; the words that a reviewer would see are not those of the run."""
    place = Path(shutil.copytree(recorded / "whole" / "control-denier", tmp_path / "run"))
    file = place / "transcripts" / "anna.jsonl"
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    rows[0]["response_text"] = ""  # a reply that advises nothing, on which no alarm rests
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    assert main(["review", str(place)]) == 4
    assert "the questions on anna do not follow from its transcript and the answers" in capsys.readouterr().err


def unknown_kind(row: dict[str, Any]) -> None:
    if row["entry"] == "asked":
        row["key"] = "nothing" + row["key"][row["key"].index("@") :]


def unknown_fact(row: dict[str, Any]) -> None:
    if row["entry"] == "asked" and row["key"].startswith("fact@"):
        row["key"] += "nobody's fact"


def unknown_text(row: dict[str, Any]) -> None:
    if row["entry"] == "answer":
        row["item"] = "0" * len(row["item"])


def no_object(row: dict[str, Any]) -> None:
    if row["entry"] == "answer":
        row["given"] = ["retained"]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (unknown_kind, "not an entry of a log ('nothing' is not a valid Kind)"),
        (unknown_fact, "the questions on anna do not follow"),
        (unknown_text, "the questions on anna do not follow"),
        (no_object, "not an entry of a log (given"),
    ],
)
@pytest.mark.parametrize("command", ["merge", "review"])
def test_answers_that_fit_no_question(
    recorded: Path, shard: Path, capsys: pytest.CaptureFixture[str], change: Change, sentence: str, command: str
) -> None:
    """Kinds, facts and texts that do not exist: one sentence, never a traceback."""
    place = shard
    if command == "review":
        place = Path(shutil.copytree(recorded / "whole" / "control-denier", "run"))
    rows = [json.loads(line) for line in (place / LOG_FILE).read_text(encoding="utf-8").splitlines()]
    for row in rows:
        change(row)
    (place / LOG_FILE).write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    capsys.readouterr()
    assert main([command, str(place), "--out", "out"]) == 4
    said = capsys.readouterr().err
    assert (LOG_FILE in said, sentence in said, said.count("\n")) == (True, True, 1), said


def test_of_a_conversation_that_could_not_be_held_the_log_knows_why() -> None:
    """Incomplete for another cause, or at one time only, is a contradiction; how long it took is no part of it."""
    whole, other = flat("anna"), flat("anna", 0.1)
    stopped = replace(whole, failure=failure(FailureCode.SUBJECT_STOPPED, error="down"))
    again = replace(whole, failure=failure(FailureCode.RECORDED, error="not there"))
    assert scores_agree(whole, whole)
    assert not scores_agree(whole, other)
    assert scores_agree(stopped, stopped)
    assert scores_agree(whole, replace(whole, generation_seconds=7.5))
    assert not scores_agree(again, stopped)
    assert not scores_agree(again, whole)
    assert not scores_agree(whole, stopped)


def test_a_case_that_was_stopped_has_one_conversation(recorded: Path) -> None:
    """However many were wanted; one that was held to its end has all of them."""
    place = recorded / "whole" / "control-denier"
    inputs, result = read_inputs(place).model_copy(update={"repeats": 2}), read_results(place)
    (case,) = result.cases
    held = case.repeats[0]

    def check(*repeats: CaseAssessment) -> None:
        check_conversations(place, inputs, result.model_copy(update={"cases": (replace(case, repeats=repeats),)}))

    check(held, replace(held, repeat=1))
    check(replace(held, failure=failure(FailureCode.SUBJECT_STOPPED, error="down")))
    for repeats in ((), (held,), (held, held), (replace(held, repeat=1), held)):
        with pytest.raises(InputError, match="other conversations of anna than were run"):
            check(*repeats)
