"""`log.jsonl` and `canaries.jsonl`: what is written is read again, and what is not a log is told in one sentence."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from found import key

from pytest_clinical_drift.core.log import Answer, Asked, Measurement
from pytest_clinical_drift.core.words import Why
from pytest_clinical_drift.errors import FailureCode, InputError, failure
from pytest_clinical_drift.judging.chat import read_text
from pytest_clinical_drift.judging.protocol import JudgeRequest
from pytest_clinical_drift.judging.questions import Question
from pytest_clinical_drift.results.run_log import CANARIES_FILE, LOG_FILE, ConversationLog, read_log, write_log

READ = Answer("big", "text-1", 1, {"facts": {"allergy": {"answer": "retained", "quote": "é\n\ud83d"}}}, tokens=(90, 7))
DOWN = Answer("big", "question-1", 2, failed="no route to the judge", outage=True, unsent=True)
FAULTY = Answer("big", "canary-1", 1, {"answer": "absent", "quote": ""})
ASKED = (
    Asked(key("fact", 3, "allergy"), Why.READING, "question-1"),
    Asked(key("conflict", 1, 3), Why.UNSURE, "question-2"),
    Asked(key("invented", 2, "Takes: 5 mg/day"), Why.AUDIT, "question-3"),
)
LOGS = [
    ConversationLog(
        "anna", 0, ASKED, (READ, DOWN), (FAULTY,), Measurement(0.25, replies_reused=2, scores=(("mine", None),))
    ),
    ConversationLog("anna", 1, (), (READ,)),
    ConversationLog("bela", 0, measured=Measurement(failure=failure(FailureCode.RAISED, error="down")), judged=False),
]


ODD = [
    '{"answer": "retained", "sure": 1e999}',
    '{"answer": "retained", "sure": [NaN, -Infinity]}',
    '{"answer": "retained", "sure": ' + "[" * 800 + "]" * 800 + "}",
    '{"answer": "retained", "sure": ' + '{"a":' * 450 + "1" + "}" * 451,
    '{"answer": "retained", "sure": "\\ud800", "": 9999999999999999999999}',
]


@pytest.mark.parametrize("text", ODD, ids=["1e999", "nan", "deep list", "deep object", "half a pair"])
def test_whatever_a_judge_returns_can_be_logged(tmp_path: Path, text: str) -> None:
    """No number that JSON lacks and no depth that a reader gives up at: the log of a long run would be lost."""
    question = Question("fact", "anna", 3, "She takes metformin.", fact="allergy", statement="penicillin allergy")
    answer = replace(read_text(JudgeRequest(question, 1), text), voter="big")
    assert answer.given["answer"] == "retained"
    log = ConversationLog("anna", 0, (), (answer,))
    write_log(tmp_path, [log])
    assert read_log(tmp_path) == {("anna", 0): log}


def written(folder: Path) -> list[dict[str, Any]]:
    write_log(folder, LOGS)
    return [json.loads(line) for line in (folder / LOG_FILE).read_text(encoding="utf-8").splitlines()]


def test_a_log_is_read_as_it_was_written(tmp_path: Path) -> None:
    """Keys, reasons, answers as they came, what failed, tokens, canaries, measurements; any reader takes ASCII."""
    write_log(tmp_path, LOGS)
    assert (tmp_path / LOG_FILE).read_bytes().isascii()
    assert read_log(tmp_path) == {log.group: log for log in LOGS}


def test_the_lines_by_hand(tmp_path: Path) -> None:
    """Each conversation opens with a line of its own; an answer without what it does not say."""
    rows = written(tmp_path)
    assert [row["entry"] for row in rows] == [
        *("conversation", "measured", "asked", "asked", "asked", "answer", "answer"),
        *("conversation", "measured", "answer"),
        *("conversation", "measured"),
    ]
    assert (rows[0]["case_id"], rows[0]["repeat"]) == ("anna", 0)
    assert rows[2] == {"entry": "asked", "key": "fact@3:allergy", "why": "reading", "question": "question-1"}
    assert rows[6] == {
        "entry": "answer", "voter": "big", "item": "question-1", "wording": 2, "failed": "no route to the judge",
        "outage": True, "unsent": True,
    }  # fmt: skip
    canaries = [json.loads(line) for line in (tmp_path / CANARIES_FILE).read_text(encoding="utf-8").splitlines()]
    assert [row["entry"] for row in canaries] == ["conversation", "answer"]
    assert canaries[1]["item"] == "canary-1"


def test_without_canaries_there_is_no_file_of_them(tmp_path: Path) -> None:
    write_log(tmp_path, LOGS[1:])
    assert not (tmp_path / CANARIES_FILE).exists()
    assert set(read_log(tmp_path)) == {("anna", 1), ("bela", 0)}


def refusal(folder: Path) -> str:
    with pytest.raises(InputError) as caught:
        read_log(folder)
    said = str(caught.value)
    assert "\n" not in said
    return said


def test_a_torn_last_line(tmp_path: Path) -> None:
    """The run was killed while it wrote; the line is named."""
    file = tmp_path / LOG_FILE
    count = len(written(tmp_path))
    file.write_bytes(file.read_bytes()[:-9])
    assert refusal(tmp_path) == f"{file}, line {count}: ends in the middle; the run was broken off here"


@pytest.mark.parametrize(
    ("line", "changed", "why"),
    [
        (3, {"entry": "shouted"}, "unknown entry 'shouted'"),
        (3, {"key": "fact 3"}, "not a finding key: 'fact 3'"),
        (3, {"key": "nothing@3"}, "'nothing' is not a valid Kind"),
        (3, {"key": None}, ""),
        (3, {"why": "because"}, "'because' is not a valid Why"),
        (6, {"wording": "first"}, "wording"),
        (6, {"given": ["retained"]}, "given"),
        (2, {"replies_reused": "two"}, "replies_reused"),
    ],
)
def test_a_line_that_is_no_entry(tmp_path: Path, line: int, changed: dict[str, Any], why: str) -> None:
    """One sentence with file and line."""
    rows = written(tmp_path)
    rows[line - 1].update(changed)
    file = tmp_path / LOG_FILE
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    said = refusal(tmp_path)
    assert said.startswith(f"{file}, line {line}: not an entry of a log (")
    assert why in said


@pytest.mark.parametrize("name", ["voter", "item", "wording"])
def test_an_answer_that_does_not_say_whose_it_is(tmp_path: Path, name: str) -> None:
    rows = written(tmp_path)
    del rows[5][name]
    file = tmp_path / LOG_FILE
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    assert f"{file}, line 6: not an entry of a log ({name}" in refusal(tmp_path)


def test_an_entry_of_no_conversation(tmp_path: Path) -> None:
    file = tmp_path / LOG_FILE
    written(tmp_path)
    file.write_text("".join(file.read_text(encoding="utf-8").splitlines(keepends=True)[1:]), encoding="utf-8")
    assert f"{file}, line 1: not an entry of a log (" in refusal(tmp_path)


def test_a_conversation_twice(tmp_path: Path) -> None:
    """Whoever adds answers adds a second conversation."""
    file = tmp_path / LOG_FILE
    written(tmp_path)
    file.write_text(file.read_text(encoding="utf-8") * 2, encoding="utf-8")
    assert refusal(tmp_path) == f"{file}: holds anna twice; one of them was added"


def test_canaries_of_an_unknown_conversation(tmp_path: Path) -> None:
    file = tmp_path / CANARIES_FILE
    written(tmp_path)
    file.write_text(file.read_text(encoding="utf-8").replace('"anna"', '"zoe"'), encoding="utf-8")
    assert refusal(tmp_path) == f"{file}: holds zoe, which the log of the run does not"


def test_a_folder_without_a_log(tmp_path: Path) -> None:
    assert refusal(tmp_path) == f"{tmp_path / LOG_FILE}: cannot be read (No such file or directory)"
