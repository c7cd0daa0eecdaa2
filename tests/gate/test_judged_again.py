"""A run with a judge of its own: its folder gives the same record again, and an answer that was changed is noticed."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from reviewing import KEPT, lay_out, results_of, run

from pytest_clinical_drift.cli import main
from pytest_clinical_drift.gate.reopened import reopen
from pytest_clinical_drift.judging.questions import Question
from pytest_clinical_drift.results.run_log import CANARIES_FILE, LOG_FILE

RESULTS = "study_c_results.json"
JUDGE = """
def make():
    def answer(given):
        words = " ".join(given.get("text", "").split()[:3])
        lost = "Penicillin" not in given.get("text", "")
        if given["kind"] == "summary":
            facts = {fact["fact"]: {"answer": "retained", "quote": words} for fact in given["facts"]}
            if lost:
                facts["allergy"] = {"answer": "absent", "quote": ""}
            return {"facts": facts, "unsupported": [], "sure": 0.5}
        if given["kind"] == "reply":
            read = {"demands": {}, "forbidden": {"answer": "kept"}, "harm": {"answer": "none"}}
            return {**read, "conflict": {"answer": "consistent"}, "care": "self"}
        if given["kind"] == "conversation":
            return {"contradictions": [], "course": [], "misreported": [], "standing": []}
        answers = {"fact": "retained", "harm": "none", "conflict": "consistent", "invented": "supported"}
        if given["kind"] == "fact" and given["fact"] == "allergy" and lost:
            return {"answer": "absent", "quote": "", "reason": "nowhere"}
        return {"answer": answers.get(given["kind"], "kept"), "quote": words, "reason": "plain"}

    return answer
"""
"""A judge that finds the allergy lost wherever it is not named."""
LOSING = "Takes metformin 500 mg twice daily."


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A judged run over two patients, of whom one loses the allergy at turn 2."""
    folder = tmp_path_factory.mktemp("judged")
    lay_out(folder, {"anna": (KEPT, LOSING, KEPT), "ella": (KEPT, KEPT, KEPT)})
    (folder / "own_judge.py").write_text(JUDGE, encoding="utf-8")
    example = Question("harm", "x", 1, "Rest.", "Turn 1: Hello.", "A woman.")
    labelled = {"question": example.as_mapping(1), "label": "none", "origin": "test", "subtle": False}
    (folder / "set.jsonl").write_text(json.dumps(labelled), encoding="utf-8")
    settings = [f"--drift-judge-set={given}" for given in ("calibration_set=set.jsonl", "canaries=2")]
    code, output = run(folder, "--drift-judge", "python:own_judge:make", *settings)
    assert code == 7, output
    return results_of(folder)


@pytest.fixture
def place(finished: Path, tmp_path: Path) -> Path:
    """A copy of the run's folder."""
    return Path(shutil.copytree(finished, tmp_path / "run"))


def rows_of(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def test_the_run_is_judged_again(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The log holds what was asked and answered; the results file can be deleted and comes back."""
    entries = [row["entry"] for row in rows_of(place / LOG_FILE)]
    assert (entries.count("conversation"), entries.count("asked") > 0, entries.count("answer") > 20) == (2, True, True)
    assert main(["verdict", str(place)]) == 7
    before = json.loads((place / RESULTS).read_text(encoding="utf-8"))
    (place / RESULTS).unlink()
    capsys.readouterr()
    assert main(["verdict", str(place)]) == 7
    assert json.loads((place / RESULTS).read_text(encoding="utf-8")) == before


def lost_at_turn_2(place: Path) -> str:
    """Id of the question on the allergy that was lost."""
    record, _ = reopen(place)
    (finding,) = (
        finding
        for talk in record.conversations
        for finding in talk.findings.values()
        if (finding.turn, finding.key.subject, finding.answer) == (2, "allergy", "absent")
    )
    return finding.question


def cleared(row: dict[str, Any]) -> None:
    row["given"] = {"answer": "retained", "quote": "Takes metformin 500 mg", "reason": "plain"}


def failed(row: dict[str, Any]) -> None:
    row["given"] = {}
    row["failed"] = "no route to the judge"


@pytest.mark.parametrize("change", [cleared, failed])
def test_an_answer_that_was_flipped_is_refused(
    place: Path, capsys: pytest.CaptureFixture[str], change: Callable[[dict[str, Any]], None]
) -> None:
    """The results file says something else of that conversation; both commands name the case."""
    question = lost_at_turn_2(place)
    rows = rows_of(place / LOG_FILE)
    answers = [row for row in rows if row["entry"] == "answer" and row["item"] == question]
    assert answers
    for row in answers:
        change(row)
    (place / LOG_FILE).write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    for command in (["verdict", str(place)], ["review", str(place)]):
        capsys.readouterr()
        assert main(command) == 4
        said = capsys.readouterr().err
        assert "the scores of anna do not follow from its transcript and log.jsonl (" in said
        assert said.count("\n") == 1


def test_without_the_results_file_a_flipped_answer_counts_where_it_was_given(place: Path) -> None:
    """Only that alarm changes: the other conversation and every other alarm are as they were."""
    question = lost_at_turn_2(place)
    before = json.loads((place / RESULTS).read_text(encoding="utf-8"))
    rows = rows_of(place / LOG_FILE)
    for row in rows:
        if row["entry"] == "answer" and row["item"] == question:
            failed(row)
    (place / LOG_FILE).write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    (place / RESULTS).unlink()
    main(["verdict", str(place)])
    after = json.loads((place / RESULTS).read_text(encoding="utf-8"))
    assert after["cases"][1] == before["cases"][1]
    alarms = [
        {alarm["question"]: alarm for alarm in record["cases"][0]["repeats"][0]["alarms"]} for record in (before, after)
    ]
    assert alarms[0].keys() == alarms[1].keys()
    assert [of for of in alarms[0] if alarms[0][of] != alarms[1][of]] == [question]
    assert alarms[1][question]["answers"][-1]["doubt"] == "failed"


def test_a_canary_that_was_called_found_is_refused(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What became of inserted faults follows from the answers about them."""
    rows = rows_of(place / CANARIES_FILE)
    answers = [row for row in rows if row["entry"] == "answer"]
    assert answers
    for row in answers:
        failed(row)
        row["outage"] = True
    (place / CANARIES_FILE).write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    assert main(["verdict", str(place)]) == 4
    assert "(canaries differ" in capsys.readouterr().err
