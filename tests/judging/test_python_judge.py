"""A function of one's own as judge, and how judges are named."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from typing import Any

import pytest
from asked import question
from pytest_clinical_drift.judging.inquiry import Inquiry

from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.judging.answers import KINDS
from pytest_clinical_drift.judging.opinions import DISMISSED, OPEN, Ruling
from pytest_clinical_drift.judging.protocol import build_judge


def ruled(monkeypatch: pytest.MonkeyPatch, function: Callable[[dict[str, Any]], Any]) -> Ruling:
    """What a function's answer to one question amounts to."""
    module = types.ModuleType("own_judge")
    module.make = lambda: function  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "own_judge", module)
    judge = build_judge("python:own_judge:make", {"revision": "3"})
    assert judge is not None
    assert judge.check() == []
    assert judge.identity().proven
    inquiry = Inquiry(judge)
    inquiry.submit("case", [question("must")])
    (found,) = inquiry.rulings("case", frozenset(KINDS)).values()
    inquiry.stop()
    return found


def test_it_gets_the_mapping_in_both_wordings(monkeypatch: pytest.MonkeyPatch) -> None:
    """The function sees the whole question, once per wording, and its answer counts."""
    seen: list[dict[str, Any]] = []

    def answer(given: dict[str, Any]) -> dict[str, str]:
        seen.append(given)
        return {"answer": "met", "quote": given["text"].split("\n")[0]}

    assert ruled(monkeypatch, answer).outcome == DISMISSED
    assert sorted(given["wording"] for given in seen) == [1, 2]
    assert {given["id"] for given in seen} == {question("must").id}
    assert seen[0]["demand"] == "ring the clinic today"


def test_it_may_be_async(monkeypatch: pytest.MonkeyPatch) -> None:
    """A coroutine is waited for, as a subject's is."""

    async def answer(given: dict[str, Any]) -> dict[str, str]:
        return {"answer": "met", "quote": given["text"].split("\n")[0]}

    assert ruled(monkeypatch, answer).outcome == DISMISSED


@pytest.mark.parametrize("given", [None, "met", {"answer": "excellent"}, {}, {"answer": "met", "quote": "not there"}])
def test_a_bad_answer_leaves_it_open(monkeypatch: pytest.MonkeyPatch, given: Any) -> None:
    """What is no mapping, no answer or no quotation settles nothing."""
    assert ruled(monkeypatch, lambda _: given).outcome == OPEN


def test_an_exception_leaves_it_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the user's code raises is an outage of the judge, and stands in the reason."""

    def answer(_: dict[str, Any]) -> dict[str, str]:
        raise KeyError("no such drug")

    found = ruled(monkeypatch, answer)
    assert found.outcome == OPEN
    assert "no such drug" in found.opinions[0].reason


@pytest.mark.parametrize("spec", ["llm:x", "server", "hf:", "python:", "oracle", ""])
def test_an_unknown_judge_names_the_forms(spec: str) -> None:
    """One sentence with every way to write it."""
    with pytest.raises(InputError, match=r"write one of rules, server:MODEL@URL"):
        build_judge(spec, {})


def test_rules_have_no_settings() -> None:
    """Settings without a judge are a mistake, not ignored."""
    assert build_judge("rules", {}) is None
    with pytest.raises(InputError, match="there is no judge"):
        build_judge("rules", {"temperature": "0"})
