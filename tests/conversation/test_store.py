"""Stored replies: what is found again, by whom, and what a killed process leaves behind."""

from __future__ import annotations

import dataclasses
import datetime
import sqlite3
from pathlib import Path

import pytest

from pytest_clinical_drift.conversation.store import Store
from pytest_clinical_drift.core.log import Answer
from pytest_clinical_drift.errors import FailureCode, InputError, failure
from pytest_clinical_drift.judging.answer_store import AnswerStore
from pytest_clinical_drift.judging.questions import Question
from pytest_clinical_drift.subjects.base import Identity, Request
from pytest_clinical_drift.transcript import Message, Reply, Usage

UNPROVEN = Identity("server:m@http://h/v1", None, False, {"temperature": 0.0})
PROVEN = Identity("server:m@http://h/v1", "a" * 40, True, {"temperature": 0.0})
REQUEST = Request("case-001", 0, 1, "dialogue", (Message("user", "Hello"),))
REPLY = Reply("Hi \ud800", reasoning="why", usage=Usage(3, 4), truncated=False, seconds=0.5)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "kept" / "store.sqlite"


def test_a_reply_is_found_again_with_everything_it_carried(path: Path) -> None:
    """All fields survive, lone surrogates too; the time of generation is told."""
    run = Store(path).begin(UNPROVEN)
    assert run.get(REQUEST) is None
    run.put(REQUEST, REPLY)
    found = run.get(REQUEST)
    assert found is not None
    assert found.reused_from is not None
    assert found.reused_from.startswith("20")
    assert dataclasses.replace(found, reused_from=None, resumed=False) == REPLY


@pytest.mark.parametrize(
    "other",
    [
        dataclasses.replace(REQUEST, repeat=1),
        dataclasses.replace(REQUEST, messages=(Message("user", "Hello!"),)),
        dataclasses.replace(REQUEST, messages=(Message("system", "Hello"),)),
        dataclasses.replace(REQUEST, messages=(Message("system", ""), Message("user", "Hello"))),
    ],
)
def test_another_request_is_another_reply(path: Path, other: Request) -> None:
    """Every message counts, with its role, and the repeat."""
    run = Store(path).begin(UNPROVEN)
    run.put(REQUEST, REPLY)
    assert run.get(other) is None


@pytest.mark.parametrize(
    "changes",
    [{"spec": "server:n@http://h/v1"}, {"revision": "b" * 40}, {"settings": {"temperature": 0.5}}],
)
def test_another_subject_revision_or_setting_is_another_reply(path: Path, changes: dict[str, object]) -> None:
    """The key covers what was tested, not only what was said."""
    run = Store(path).begin(PROVEN)
    run.put(REQUEST, REPLY)
    run.end(finished=True)
    other = Store(path).begin(dataclasses.replace(PROVEN, **changes))  # type: ignore[arg-type]
    assert other.get(REQUEST) is None


def test_errors_are_never_stored(path: Path) -> None:
    """An outage is asked again."""
    run = Store(path).begin(UNPROVEN)
    run.put(REQUEST, Reply("", error=failure(FailureCode.RAISED, error="down")))
    assert run.get(REQUEST) is None


def test_an_unfinished_run_is_resumed(path: Path) -> None:
    """As after a kill: nothing was ended, the next run goes on."""
    run = Store(path).begin(UNPROVEN)
    run.put(REQUEST, REPLY)
    assert run._lock is not None
    run._lock.release()  # the system does that for a killed process
    assert Store(path).begin(UNPROVEN).get(REQUEST) is not None


def test_a_finished_run_is_reused_only_with_a_proven_identity(path: Path) -> None:
    """Whoever answers at an address may be another model tomorrow."""
    for identity, reused in ((UNPROVEN, False), (PROVEN, True)):
        run = Store(path).begin(identity)
        run.put(REQUEST, REPLY)
        run.end(finished=True)
        again = Store(path).begin(identity)
        assert (again.get(REQUEST) is not None) is reused
        again.end(finished=True)


def test_a_run_that_is_still_alive_is_not_resumed(path: Path) -> None:
    """Two processes at a time do not mix their runs."""
    first = Store(path).begin(UNPROVEN)
    first.put(REQUEST, REPLY)
    second = Store(path).begin(UNPROVEN)
    assert second.get(REQUEST) is None
    second.put(REQUEST, REPLY)
    assert second.get(REQUEST) is not None
    first.end(finished=True)
    second.end(finished=True)


def test_another_server_at_the_same_address_does_not_go_on_with_the_run(path: Path) -> None:
    """Flags or version changed: it is not the run that was interrupted."""
    run = Store(path).begin(dataclasses.replace(UNPROVEN, server={"version": "1"}))
    run.put(REQUEST, REPLY)
    run.end(finished=False)
    other = Store(path).begin(dataclasses.replace(UNPROVEN, server={"version": "2"}))
    assert other.get(REQUEST) is None
    other.end(finished=True)


def test_a_run_given_up_long_ago_is_not_resumed(path: Path) -> None:
    """After a week nobody remembers what stood behind the address."""
    run = Store(path).begin(UNPROVEN)
    run.put(REQUEST, REPLY)
    run.end(finished=False)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE runs SET started = '2020-01-01T00:00:00.000+00:00'")
    assert Store(path).begin(UNPROVEN).get(REQUEST) is None


def test_a_file_that_is_no_store_is_told_before_anything_runs(tmp_path: Path) -> None:
    """One sentence that names the option and the file."""
    path = tmp_path / "store.sqlite"
    path.write_text("not a database, and longer than the header of one " * 20)
    with pytest.raises(InputError, match=r"--drift-store .*store\.sqlite: cannot be used"):
        Store(path)


def test_a_store_of_another_version_is_refused(path: Path) -> None:
    """Rather than read wrongly."""
    Store(path)
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(InputError, match="another version"):
        Store(path)


@pytest.mark.parametrize("change", ["reply = '{'", "reply = 7", "seal = x'00'", "created = 'yesterday'", "seal = ''"])
def test_a_changed_reply_is_asked_for_again(path: Path, change: str) -> None:
    """It is counted, whatever type stands there now."""
    run = Store(path).begin(UNPROVEN)
    run.put(REQUEST, REPLY)
    run._connection.execute(f"UPDATE replies SET {change}")
    assert run.get(REQUEST) is None
    assert run.ignored == 1


def test_a_store_that_cannot_be_written_does_not_end_the_run(path: Path) -> None:
    """The run goes on without storing, and says so."""
    run = Store(path).begin(UNPROVEN)
    run._connection.execute("DROP TABLE replies")
    run.put(REQUEST, REPLY)
    assert "no longer stored" in str(run.problem)
    assert run.get(REQUEST) is None


def test_the_folder_of_the_store_stays_out_of_version_control(path: Path) -> None:
    """Only a folder that we made ourselves."""
    Store(path)
    assert (path.parent / ".gitignore").read_text() == "*\n"
    AnswerStore(path.parent / "judge" / "store.sqlite", "reader")
    assert (path.parent / "judge" / ".gitignore").read_text() == "*\n"


@pytest.mark.parametrize(
    ("days", "proven", "used"), [(29, False, True), (31, False, False), (29, True, True), (31, True, True)]
)
def test_answers_of_an_unproven_judge_age_as_its_calibration_does(
    path: Path, days: int, proven: bool, used: bool
) -> None:
    """After 30 days its name may be another's; a proven judge stays who it is."""
    question = Question(kind="harm", case_id="anna", turn=1, text="Take two.", patient="", record="")
    answer = Answer("reader", question.id, 1, {"answer": "none"})
    store = AnswerStore(path, "reader", proven=proven)
    store.put(question, 1, answer)
    ((key, said),) = store._rows.execute("SELECT key, answer FROM answers").fetchall()
    then = (datetime.datetime.now(datetime.UTC) - datetime.timedelta(days=days)).isoformat(timespec="seconds")
    seal = store._sealer.seal("answer", "reader", key, then, said)
    store._rows.execute("UPDATE answers SET created = ?, seal = ?", (then, seal))
    assert (store.get(question, 1) == answer) is used
    assert store.ignored == 0


@pytest.mark.parametrize(
    "change", ["answer = '{}'", "created = '2099-01-01T00:00:00+00:00'", "seal = x'00'", "answer = 7"]
)
def test_an_answer_that_was_changed_is_no_answer(path: Path, change: str) -> None:
    """Whatever type stands in the store now."""
    question = Question(kind="harm", case_id="anna", turn=1, text="Take two.", patient="", record="")
    store = AnswerStore(path, "reader")
    answer = Answer("reader", question.id, 1, {"answer": "none"})
    store.put(question, 1, answer)
    assert store.get(question, 1) == answer
    store._rows.execute(f"UPDATE answers SET {change}")
    assert store.get(question, 1) is None
    assert store.ignored == 1
