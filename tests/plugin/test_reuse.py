"""Attacks on reuse: a good model's replies never pass for another one, whoever wrote into the store."""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from engine_server import Answer, ChatServer, as_json, completion
from sharded import merge, parts, record, run_shards
from small_project import ARGUMENTS, SUMMARY, Project, results_file

from pytest_clinical_drift.conversation.seals import KEY_VARIABLE, key_file

COMMIT = "3f2a91c0" * 5
REPLIES = 3 * 4 * 2
"""Three cases of four turns, a reply and a summary each."""
FORGETFUL = "Nothing to add today."


class Model:
    """What stands behind the address; `summary` is all that it remembers."""

    def __init__(self) -> None:
        self.summary = SUMMARY
        self.breaks_after = 10_000
        self.server = ChatServer(answer=self.answer)

    def answer(self, body: dict[str, Any]) -> Answer:
        if len(self.server.requests) > self.breaks_after:
            return as_json({"error": "gone"}, 400)
        probing = "handover summary" in body["messages"][-1]["content"]
        return as_json(completion(self.summary if probing else "Thank you for telling me."))


@pytest.fixture
def model() -> Iterator[Model]:
    made = Model()
    with made.server:
        yield made


def gate(pytester: pytest.Pytester, model: Model, *more: str, url: str = "") -> pytest.RunResult:
    """Gate whatever stands behind the address, with the project's measured judge."""
    spec = f"server:m@{url or model.server.url}"
    return pytester.runpytest("--model", spec, *ARGUMENTS[2:], "--junitxml=j.xml", *more)


def in_store(pytester: pytest.Pytester, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(pytester.path / ".clinical-drift/store.sqlite")) as store, store:
        assert store.execute(statement, values).rowcount > 0


def manifest(pytester: pytest.Pytester) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(results_file(pytester.path).read_text(encoding="utf-8"))["manifest"]
    return found


# -- names that move


@pytest.mark.parametrize("name", ["main", "latest", "v1.2", "3f2a91c", "", "sha256:main", COMMIT + "0"])
@pytest.mark.parametrize("option", ["--drift-set", "--drift-judge-set"])
def test_a_name_that_moves_is_refused(project: Project, model: Model, option: str, name: str) -> None:
    """Exit code 4 and one sentence that says what to give; nothing is sent."""
    result = gate(project(), model, option, f"revision={name}")
    assert result.ret == 4
    (line,) = [line for line in result.errlines if line]
    assert f"{option} revision: {name!r} may name another model tomorrow; give the full commit" in line
    assert "or leave revision out" in line
    assert model.server.requests == []


def test_a_function_needs_a_commit_too(project: Project) -> None:
    """The code behind a `python:` model can change as a branch can."""
    result = project().runpytest(*ARGUMENTS, "--drift-set", "revision=main")
    assert result.ret == 4
    assert "--drift-set revision: 'main' may name another model tomorrow" in "".join(result.errlines)


def test_code_that_changed_under_a_declared_commit_is_asked_again(project: Project) -> None:
    """A working tree is not its commit: what the subject tells about itself has to be the same as well."""
    pytester = project()
    given = (*ARGUMENTS, "--drift-set", f"revision={COMMIT}")
    assert pytester.runpytest(*given).ret == 0
    file = pytester.path / "model.py"
    file.write_text(file.read_text(encoding="utf-8").replace("FORGET_FROM = 99", "FORGET_FROM = 1"), encoding="utf-8")
    result = pytester.runpytest(*given)
    assert result.ret == 1
    assert manifest(pytester)["replies_reused"] == 0


def test_a_server_that_names_another_commit_is_refused(project: Project, model: Model) -> None:
    """TGI tells the commit of its weights."""
    model.server.tells["/info"] = {"model_sha": "0" * 40}
    result = gate(project(), model, "--drift-set", f"revision={COMMIT}")
    assert result.ret == 4
    assert f"the server says that it serves {'0' * 40}; give that commit" in "".join(result.errlines)


# -- an exchanged model


def test_replies_of_a_finished_run_are_not_those_of_the_next_model(project: Project, model: Model) -> None:
    """A good model passes, another one takes its address: it is asked for everything, and fails."""
    pytester = project()
    assert gate(pytester, model).ret == 0
    model.summary = FORGETFUL
    assert gate(pytester, model).ret == 1
    assert len(model.server.requests) == 2 * REPLIES


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE runs SET finished = NULL, server = '{}'",
        "UPDATE runs SET finished = NULL",
        "UPDATE runs SET finished = NULL, seal = ''",
    ],
)
def test_a_finished_run_that_a_statement_reopens_is_not_resumed(project: Project, model: Model, statement: str) -> None:
    """The run's seal no longer fits: its replies are not used, and the terminal says so."""
    pytester = project()
    assert gate(pytester, model).ret == 0
    in_store(pytester, statement)
    model.summary = FORGETFUL
    result = gate(pytester, model)
    assert result.ret == 1
    assert len(model.server.requests) == 2 * REPLIES
    result.stdout.fnmatch_lines([f"  {REPLIES} stored replies not used: changed, or written with another key*"])
    assert manifest(pytester)["replies_ignored"] == REPLIES


def test_replies_moved_into_an_unfinished_run_are_not_used(project: Project, model: Model) -> None:
    """The seal names the run: a finished one's replies under the id of a run that may be resumed are worth nothing."""
    pytester = project()
    assert gate(pytester, model).ret == 0
    model.summary = FORGETFUL
    model.breaks_after = REPLIES + 4
    assert gate(pytester, model, "--drift-store", ".clinical-drift/store.sqlite").ret in (1, 6)
    in_store(
        pytester,
        "UPDATE OR REPLACE replies SET run = (SELECT run FROM runs WHERE finished IS NULL) "
        "WHERE run = (SELECT run FROM runs WHERE finished IS NOT NULL)",
    )
    model.breaks_after = 10_000
    result = gate(pytester, model)
    assert result.ret == 1
    assert "stored replies not used" in result.stdout.str()


def test_an_edited_reply_is_asked_for_again(project: Project, model: Model) -> None:
    """Also of a proven identity: the seal is over identity, request and reply."""
    pytester = project()
    given = ("--drift-set", f"revision={COMMIT}")
    model.summary = FORGETFUL
    assert gate(pytester, model, *given).ret == 1
    in_store(pytester, "UPDATE replies SET reply = replace(reply, ?, ?)", FORGETFUL, SUMMARY)
    result = gate(pytester, model, *given)
    assert result.ret == 1
    # the replies of the conversation were not changed by the edit and are still whole
    assert len(model.server.requests) > REPLIES
    result.stdout.fnmatch_lines(["*stored replies not used: changed, or written with another key*"])


def test_a_good_models_replies_are_not_those_of_another_commit(project: Project, model: Model) -> None:
    """Neither as they are, nor with the identity of the run rewritten in the store."""
    pytester = project()
    assert gate(pytester, model, "--drift-set", f"revision={COMMIT}").ret == 0
    model.summary = FORGETFUL
    other = ("--drift-set", f"revision={'b' * 40}")
    model.breaks_after = REPLIES + 2
    assert gate(pytester, model, *other).ret in (1, 6)
    in_store(pytester, "UPDATE runs SET subject = (SELECT subject FROM runs ORDER BY started DESC LIMIT 1)")
    model.breaks_after = 10_000
    before = len(model.server.requests)
    assert gate(pytester, model, *other).ret == 1
    assert len(model.server.requests) - before >= REPLIES - 2
    assert manifest(pytester)["replies_reused"] == 0


def test_another_server_does_not_go_on_with_a_run(project: Project, model: Model) -> None:
    """Neither one that says something else about itself, nor one that has become silent about itself."""
    pytester = project()
    model.server.tells["/version"] = {"version": "1"}
    model.breaks_after = 6
    assert gate(pytester, model).ret == 6
    model.breaks_after = 10_000
    for told in ({"version": "2"}, None):
        model.server.tells["/version"] = told
        before = len(model.server.requests)
        gate(pytester, model, "--drift-results", f"with-{told is None}")
        assert len(model.server.requests) - before == REPLIES


# -- a store that comes from elsewhere


def elsewhere(monkeypatch: pytest.MonkeyPatch, place: Path) -> None:
    """Another machine or user: other state folder."""
    monkeypatch.setenv("XDG_STATE_HOME", str(place))


def test_a_store_of_another_machine_is_not_used(
    project: Project, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one that a pull request adds: its author can compute every plain hash, and does not have the key."""
    pytester = project()
    given = ("--drift-set", f"revision={COMMIT}")
    elsewhere(monkeypatch, pytester.path / "theirs")
    assert gate(pytester, model, *given).ret == 0
    model.summary = FORGETFUL
    elsewhere(monkeypatch, pytester.path / "ours")
    result = gate(pytester, model, *given)
    assert result.ret == 1
    assert len(model.server.requests) == 2 * REPLIES
    result.stdout.fnmatch_lines([f"  {REPLIES} stored replies not used: changed, or written with another key*"])


def test_machines_of_a_pipeline_share_a_store_by_its_key(
    project: Project, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A proven identity's replies travel in the cache; another key's are not used, and a short key is refused."""
    pytester = project()
    given = ("--drift-set", f"revision={COMMIT}")
    for place, key, asked in (("one", "k" * 64, REPLIES), ("two", "k" * 64, 0), ("two", "l" * 64, REPLIES)):
        elsewhere(monkeypatch, pytester.path / place)
        monkeypatch.setenv(KEY_VARIABLE, key)
        before = len(model.server.requests)
        assert gate(pytester, model, *given).ret == 0
        assert len(model.server.requests) - before == asked
        assert not key_file().exists()
    monkeypatch.setenv(KEY_VARIABLE, "short")
    result = gate(pytester, model, *given)
    assert result.ret == 4
    assert f"{KEY_VARIABLE}: shorter than 32 characters" in "".join(result.errlines)
    assert "kkk" not in "".join(file.read_text("latin-1") for file in pytester.path.rglob("*") if file.is_file())


def test_a_store_of_an_earlier_version_is_kept_and_not_used(project: Project, model: Model) -> None:
    """Its entries have no seal; they are counted, and new ones stand beside them."""
    pytester = project()
    given = ("--drift-set", f"revision={COMMIT}")
    assert gate(pytester, model, *given).ret == 0
    for table in ("replies", "runs", "answers"):
        with closing(sqlite3.connect(pytester.path / ".clinical-drift/store.sqlite")) as store, store:
            store.execute(f"ALTER TABLE {table} DROP COLUMN seal")
            store.execute("PRAGMA user_version = 1")
    result = gate(pytester, model, *given)
    assert result.ret == 0
    result.stdout.fnmatch_lines([f"  {REPLIES} stored replies not used*", "*stored answers of the judge not used*"])
    assert len(model.server.requests) == 2 * REPLIES
    again = gate(pytester, model, *given)
    assert f"{REPLIES} replies reused, from 20" in again.stdout.str()


@pytest.mark.skipif(sys.platform == "win32", reason="files have no mode there")
def test_the_key_is_for_its_user_alone(project: Project, model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    """Made once, outside the project; one that others can read, as a file of a checkout is, is replaced."""
    pytester = project()
    given = ("--drift-set", f"revision={COMMIT}")
    elsewhere(monkeypatch, pytester.path / "state")
    key = pytester.path / "state/clinical-drift/store.key"
    gate(pytester, model, *given)
    assert key.stat().st_mode & 0o777 == 0o600
    made = key.read_text(encoding="ascii")
    gate(pytester, model, *given)
    assert key.read_text(encoding="ascii") == made
    assert len(model.server.requests) == REPLIES
    key.chmod(0o644)
    gate(pytester, model, *given)
    assert key.read_text(encoding="ascii") != made
    assert key.stat().st_mode & 0o777 == 0o600
    assert len(model.server.requests) == 2 * REPLIES


def test_without_a_place_for_the_key_nothing_is_used_again(
    project: Project, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run goes on and says so before it begins."""
    pytester = project()
    pytester.makefile("", blocked="a file, where a folder is needed")
    elsewhere(monkeypatch, pytester.path / "blocked")
    for _ in range(2):
        result = gate(pytester, model, "--drift-set", f"revision={COMMIT}")
        assert result.ret == 0
        result.stdout.fnmatch_lines([f"clinical-drift: reply cache: later runs cannot use it*{KEY_VARIABLE}*"])
    assert len(model.server.requests) == 2 * REPLIES


# -- what the judge said


def test_an_edited_answer_of_the_judge_is_asked_for_again(project: Project, model: Model) -> None:
    """The judge saw that everything was forgotten; a store that says otherwise changes nothing."""
    pytester = project()
    given = ("--drift-set", f"revision={COMMIT}")
    model.summary = FORGETFUL
    assert gate(pytester, model, *given).ret == 1
    before = manifest(pytester)["judged"]
    in_store(pytester, "UPDATE answers SET answer = replace(answer, '\"absent\"', '\"retained\"')")
    result = gate(pytester, model, *given)
    assert result.ret == 1
    judged = manifest(pytester)["judged"]
    assert judged["ignored"] == judged["sent"] > 0
    assert judged["ignored"] + judged["reused"] == before["sent"]
    result.stdout.fnmatch_lines([f"  {judged['ignored']} stored answers of the judge not used: changed, or *"])


# -- what is said


def test_reuse_is_said_wherever_the_verdict_is(project: Project, model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    """Headline, junit, step summary, page and record: how many, and from when."""
    pytester = project()
    given = ("--drift-set", f"revision={COMMIT}")
    assert gate(pytester, model, *given).ret == 0
    day = manifest(pytester)
    assert (day["replies_reused"], day["replies_reused_since"], day["replies_resumed"]) == (0, None, 0)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(pytester.path / "summary.md"))
    result = gate(pytester, model, *given)
    assert result.ret == 0
    assert len(model.server.requests) == REPLIES
    since = manifest(pytester)["replies_reused_since"][:10]
    said = f"{REPLIES} replies reused, from {since}"
    assert f"CAUTION ({said}; judge python:judge:make)" in " ".join(result.stdout.str().split())
    assert said in (pytester.path / "summary.md").read_text(encoding="utf-8").splitlines()[0]
    assert said in results_file(pytester.path).with_name("report.html").read_text(encoding="utf-8")
    tests = {test.get("classname"): test for test in ElementTree.parse(pytester.path / "j.xml").iter("testcase")}
    whole, anna = tests["study_c.whole-set"], tests["study_c.anna"]
    assert said in {item.get("value") for item in whole.iter("property") if item.get("name") == "reuse"}
    assert f"reuse={said}" in (whole.findtext("system-out") or "").splitlines()
    assert "8" in {item.get("value") for item in anna.iter("property") if item.get("name") == "replies_reused"}


def test_going_on_with_an_unfinished_run_is_no_reuse(project: Project, model: Model) -> None:
    """The same run on the same server: the headline has nothing to say, the lines below it do."""
    pytester = project()
    model.breaks_after = 10
    assert gate(pytester, model).ret == 6
    kept = len(model.server.answered)
    model.breaks_after = 10_000
    result = gate(pytester, model)
    assert result.ret == 0
    made = manifest(pytester)
    assert (made["replies_resumed"], made["replies_reused"], made["replies_ignored"]) == (kept, 0, 0)
    assert "reused" not in result.stdout.str()
    result.stdout.fnmatch_lines([f"  {kept} of {REPLIES} replies were stored by this run before it was interrupted"])


@pytest.mark.parametrize(("revision", "proven", "code"), [("main", True, 7), (None, False, 7), (COMMIT, True, 0)])
def test_reused_replies_pass_only_where_the_identity_is_proven(
    project: Project, capsys: pytest.CaptureFixture[str], revision: str | None, proven: bool, code: int
) -> None:
    """Records of a version that took any name for a proof, judged again: UNSETTLED, with the reason and what to do."""
    pytester = project()
    run_shards(pytester, 2, ARGUMENTS)
    for folder in parts(pytester):
        found = record(folder)
        found["manifest"] |= {"revision": revision, "identity_proven": proven, "replies_reused_since": "2026-03-01"}
        for case in found["cases"]:
            case["repeats"][0]["replies_reused"] = 8
        (folder / "study_c_results.json").write_text(json.dumps(found), encoding="utf-8")
        inputs = json.loads((folder / "run.json").read_text(encoding="utf-8"))
        inputs["manifest"] = found["manifest"]
        (folder / "run.json").write_text(json.dumps(inputs), encoding="utf-8")
        log = (folder / "log.jsonl").read_text(encoding="utf-8")
        changed = log.replace('"entry": "measured"', '"entry": "measured", "replies_reused": 8')
        (folder / "log.jsonl").write_text(changed, encoding="utf-8")
    ended, said = merge(capsys, "parts")
    assert ended == code
    told = " ".join(said.split())
    assert f"{REPLIES} replies reused, from 2026-03-01" in told
    why = f"{REPLIES} replies of an earlier run (from 2026-03-01) were reused, and nothing proves that the same model"
    assert (why in told) is (code == 7)
    assert ("next: the same command with another --drift-store FILE" in told) is (code == 7)
    verdict = record(pytester.path / "merged")["verdict"]
    assert verdict == ("UNSETTLED" if code else "CAUTION")


# -- the ledger


@pytest.mark.parametrize("spelling", ["{}/", "{}/chat/completions", "LOCALHOST", "localhost"])
def test_another_spelling_of_the_address_is_the_same_candidate(project: Project, model: Model, spelling: str) -> None:
    """Rerunning until green is counted, however the address is written."""
    pytester = project()
    url = model.server.url
    assert gate(pytester, model, url=url).ret == 0
    other = spelling.format(url) if "{}" in spelling else url.replace("127.0.0.1", spelling)
    result = gate(pytester, model, url=other)
    assert result.ret == 0
    result.stdout.fnmatch_lines(["  attempt 2 of this candidate (before: CAUTION)*"])
