"""A function of one's own as judge, and how judges are named."""

from __future__ import annotations

import asyncio
import importlib
import sys
import types
from collections.abc import Callable
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import pytest
from asked import question, settled, summary

from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.judging.entries import ReadingAnswer
from pytest_clinical_drift.judging.protocol import JudgeRequest, build_judge
from pytest_clinical_drift.judging.rulings import Raised, Ruling, State


def ruled(monkeypatch: pytest.MonkeyPatch, function: Callable[[dict[str, Any]], Any]) -> Ruling:
    """What a function's answer to one question amounts to."""
    module = types.ModuleType("own_judge")
    module.make = lambda: function  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "own_judge", module)
    judge = build_judge("python:own_judge:make", {"revision": "3" * 40})
    assert judge is not None
    assert judge.check() == []
    assert judge.identity().proven
    (found,), _ = settled(judge, [question("must")], Raised.UNSURE)
    return found


def test_it_gets_the_mapping_in_both_wordings(monkeypatch: pytest.MonkeyPatch) -> None:
    """The function sees the whole question, once per wording, and its answer counts."""
    seen: list[dict[str, Any]] = []

    def answer(given: dict[str, Any]) -> dict[str, str]:
        seen.append(given)
        return {"answer": "met", "quote": given["text"].split("\n")[0]}

    assert ruled(monkeypatch, answer).state is State.DISMISSED
    assert sorted(given["wording"] for given in seen) == [1, 2]
    assert {given["id"] for given in seen} == {question("must").id}
    assert seen[0]["demand"] == "ring the clinic today"


def test_it_may_be_async(monkeypatch: pytest.MonkeyPatch) -> None:
    """A coroutine is waited for, as a subject's is."""

    async def answer(given: dict[str, Any]) -> dict[str, str]:
        return {"answer": "met", "quote": given["text"].split("\n")[0]}

    assert ruled(monkeypatch, answer).state is State.DISMISSED


def test_what_a_call_sets_in_its_context_is_there_in_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    """A login or a client that is kept in a ContextVar."""
    login: ContextVar[str] = ContextVar("login", default="")
    logins = []

    async def answer(given: dict[str, Any]) -> dict[str, str]:
        logins.append(login.get())
        login.set("logged in")
        return {"answer": "met", "quote": given["text"].split("\n")[0]}

    assert ruled(monkeypatch, answer).state is State.DISMISSED
    assert logins == ["", "logged in"]


@pytest.mark.parametrize("given", [None, "met", {"answer": "excellent"}, {}, {"answer": "met", "quote": "not there"}])
def test_a_bad_answer_leaves_it_open(monkeypatch: pytest.MonkeyPatch, given: Any) -> None:
    """What is no mapping, no answer or no quotation settles nothing."""
    assert ruled(monkeypatch, lambda _: given).state is State.OPEN


def test_an_exception_leaves_it_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the user's code raises is an outage of the judge, and stands in the reason."""

    def answer(_: dict[str, Any]) -> dict[str, str]:
        raise KeyError("no such drug")

    found = ruled(monkeypatch, answer)
    assert found.state is State.OPEN
    assert "no such drug" in found.opinions[0].reason


def test_it_reads_whole_texts_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reading is a mapping as well; what JSON cannot carry in its answer becomes text."""
    seen: list[dict[str, Any]] = []

    def answer(given: dict[str, Any]) -> dict[str, Any]:
        seen.append(given)
        return {"facts": {}, "unsupported": [{"quote": "x", "grade": "severe", "reason": frozenset()}]}

    module = types.ModuleType("own_judge")
    module.make = lambda: answer  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "own_judge", module)
    judge = build_judge("python:own_judge:make", {})
    given = judge.answer(JudgeRequest(summary(), 2, "reader"))  # type: ignore[union-attr]
    assert given == ReadingAnswer(
        {"facts": {}, "unsupported": [{"quote": "x", "grade": "severe", "reason": "frozenset()"}]}
    )
    assert (seen[0]["kind"], seen[0]["wording"], seen[0]["id"]) == ("summary", 2, summary().id)
    assert [fact["fact"] for fact in seen[0]["facts"]] == ["penicillin", "lithium", "ramipril"]


def test_async_calls_share_one_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """A client that is bound to the loop of its first call still works at the last one; the loop is closed."""
    loops: list[asyncio.AbstractEventLoop] = []

    async def answer(given: dict[str, Any]) -> dict[str, str]:
        loops.append(asyncio.get_running_loop())
        return {"answer": "met", "quote": given["text"].split("\n")[0]}

    module = types.ModuleType("own_judge")
    module.make = lambda: answer  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "own_judge", module)
    asked = [question("must", f"Ring the clinic today, {number}.") for number in range(3)]
    found, _ = settled(build_judge("python:own_judge:make", {}), asked, Raised.UNSURE)
    assert {ruling.state for ruling in found} == {State.DISMISSED}
    assert (len(loops), len(set(map(id, loops)))) == (6, 1)
    assert loops[0].is_closed()


def test_other_code_is_another_judge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its stored answers and its calibration do not count any more; a comment is a change too."""
    monkeypatch.syspath_prepend(str(tmp_path))
    prints = []
    for source in ("def make():\n    return dict\n", "def make():\n    return set\n", "def make():\n    return dict\n"):
        (tmp_path / "changing_judge.py").write_text(source, encoding="utf-8")
        sys.modules.pop("changing_judge", None)
        importlib.invalidate_caches()
        judge = build_judge("python:changing_judge:make", {"revision": "1" * 40})
        assert judge is not None
        prints.append(judge.identity().fingerprint("prompts"))
    assert prints[0] == prints[2] != prints[1]


def test_its_code_is_what_it_imports_and_nothing_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A helper that it imports counts, also one imported in a function; another module of the project does not."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    package = tmp_path / "own_package"
    package.mkdir()
    files = {
        "own_package/__init__.py": "",
        "own_package/judge.py": "from . import words\ndef make():\n    import late_helper\n    return dict\n",
        "own_package/words.py": "GOOD = 'retained'\n",
        "late_helper.py": "X = 1\n",
        "application.py": "Y = 1\n",
    }

    def identity(**changed: str) -> str:
        for name, text in (files | changed).items():
            (tmp_path / name).write_text(text, encoding="utf-8")
        for name in [name for name in sys.modules if name.partition(".")[0] in ("own_package", "late_helper")]:
            del sys.modules[name]
        importlib.invalidate_caches()
        judge = build_judge("python:own_package.judge:make", {})
        assert judge is not None
        return judge.identity().fingerprint("prompts")

    first = identity()
    importlib.import_module("application")
    assert identity() == first
    assert identity(**{"own_package/words.py": "GOOD = 'absent'\n"}) != first
    assert identity(**{"late_helper.py": "X = 2\n"}) != first
    assert identity(**{"application.py": "Y = 2\n"}) == first


def test_an_installed_package_is_not_imported_to_hash_the_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the function imports when it is called, and somebody else wrote, may be slow or broken here."""
    installed = tmp_path / "site-packages"
    (installed / "heavy_library").mkdir(parents=True)
    (installed / "heavy_library" / "__init__.py").write_text("raise RuntimeError('imported')\n", encoding="utf-8")
    source = "def make():\n    return dict\ndef late():\n    from heavy_library.parts import a\n"
    (tmp_path / "careful_judge.py").write_text(source, encoding="utf-8")
    for folder in (tmp_path, installed):
        monkeypatch.syspath_prepend(str(folder))
    judge = build_judge("python:careful_judge:make", {})
    assert judge is not None
    assert judge.identity().settings["code"]


@pytest.mark.parametrize("spec", ["llm:x", "server", "hf:", "python:", "oracle", ""])
def test_an_unknown_judge_names_the_forms(spec: str) -> None:
    """One sentence with every way to write it."""
    with pytest.raises(InputError, match=r"write one of rules, server:MODEL@URL"):
        build_judge(spec, {})


def test_rules_have_no_settings() -> None:
    """Settings without a judge are a mistake, not ignored."""
    assert build_judge("rules", {}) is None
    with pytest.raises(InputError, match="no judge; give one"):
        build_judge("rules", {"temperature": "0"})
