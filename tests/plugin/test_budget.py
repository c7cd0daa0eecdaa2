"""`--drift-budget`: no new request once it is used up; the run is INCOMPLETE, says how far it got, and resumes."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from engine_server import ChatServer
from small_project import ARGUMENTS, RULES_ONLY, Project, add_to_model, replies_counted, results_file

from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.subjects.limits import Budget, read_limits
from pytest_clinical_drift.transcript import Reply, Usage

COUNTED = """
_make = make
def make():
    chat = _make()
    def counted(messages):
        with open("replies.txt", "a") as file:
            file.write("x")
        return chat(messages)
    return counted
"""


def test_a_run_stops_in_time_and_goes_on_later(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that goes on a second with each of 24 replies, and a budget of 10 s; then the rest, nothing twice.

    Eight replies are one conversation; it is not finished, because its judge may not be asked any more either.
    """
    pytester = project()
    add_to_model(pytester, COUNTED)
    clock = SimpleNamespace(monotonic=lambda: replies_counted(pytester))
    monkeypatch.setattr("pytest_clinical_drift.subjects.limits.time", clock)
    first = pytester.runpytest(*ARGUMENTS, "--drift-budget", "10s")
    assert first.ret == 6
    assert replies_counted(pytester) == 10
    told = "*the budget (10s) was used up: time; finished: 0 of 3 cases; 10 new replies of 24"
    first.stdout.fnmatch_lines([told, "*rerun the same command to resume*"])
    second = pytester.runpytest(*ARGUMENTS)
    assert second.ret == 0
    assert replies_counted(pytester) == 24
    assert results_file(pytester.path).exists()


@pytest.mark.parametrize(
    ("budget", "what"), [("2h,tokens=100", "tokens"), ("2h,cost=0.0001", "cost")], ids=["tokens", "cost"]
)
def test_a_server_that_counts_its_tokens(project: Project, budget: str, what: str) -> None:
    """24 tokens a reply, a millionth each: used up after 5 replies and what was under way; then the rest."""
    pytester = project()
    with ChatServer(delay=0.02) as server:
        arguments = ("--model", f"server:m@{server.url}", *RULES_ONLY[2:], "--drift-prices", "1,1")
        first = pytester.runpytest(*arguments, "--drift-budget", budget)
        asked = len(server.requests)
        assert first.ret == 6
        first.stdout.fnmatch_lines(
            [f"*the budget ({budget}) was used up: {what}; finished: 0 of 3 cases; * new replies of 24"]
        )
        assert 5 <= asked <= 5 + 2 * 3
        second = pytester.runpytest(*arguments)
    assert second.ret in (1, 7)
    assert len(server.requests) == len(set(server.requests)) == 24


@pytest.mark.parametrize("option", ["tokens=100", "cost=1"])
def test_tokens_that_nobody_counts(project: Project, option: str) -> None:
    """A limit that cannot be kept stops the run after its first reply."""
    pytester = project()
    add_to_model(pytester, COUNTED)
    ended = pytester.runpytest(*ARGUMENTS, "--drift-budget", option, "--drift-prices", "1,2")
    assert ended.ret == 6
    assert replies_counted(pytester) == 1
    ended.stdout.fnmatch_lines([f"*reports no token counts*{option}*"])


def test_a_budget_that_suffices_changes_nothing(project: Project) -> None:
    """The same exit code, and not a word about it."""
    pytester = project()
    ended = pytester.runpytest(*ARGUMENTS, "--drift-budget", "2h")
    assert ended.ret == 0
    ended.stdout.no_fnmatch_line("*used up*")


def test_a_budget_in_the_ini_file(project: Project) -> None:
    """A project sets it once."""
    pytester = project()
    (pytester.path / "pytest.ini").write_text("[pytest]\ndrift_budget = 0.001s\n")
    assert pytester.runpytest(*ARGUMENTS).ret == 6


@pytest.mark.parametrize(
    ("text", "limits"),
    [
        ("55m", {"time": 3300}),
        ("1.5h, tokens=2000", {"time": 5400, "tokens": 2000}),
        ("cost=2.5", {"cost": 2.5}),
    ],
)
def test_limits(text: str, limits: dict[str, float]) -> None:
    """Times and limits as people write them."""
    assert read_limits(text, prices=(1, 1)) == limits


@pytest.mark.parametrize("text", ["", "55", "0m", "-5m", "5m,6m", "tokens", "money=3", "tokens=0"])
def test_what_is_no_budget(text: str) -> None:
    """One sentence that names the option."""
    with pytest.raises(InputError, match="--drift-budget"):
        read_limits(text, prices=None)


def test_a_cost_needs_prices() -> None:
    """Otherwise nothing could be counted."""
    with pytest.raises(InputError, match="--drift-prices"):
        read_limits("cost=5", prices=None)


def test_what_is_counted() -> None:
    """Prompt and reply of new replies: 2 × (900 × 1 + 100 × 10) / 1,000,000 = 0.0038."""
    reply, reused = Reply("x", usage=Usage(900, 100)), Reply("x", usage=Usage(900, 100), reused_from="before")
    tokens, cost = Budget("tokens=2000"), Budget("cost=0.0038", (1.0, 10.0))
    for budget in (tokens, cost):
        budget.count(reply)
        budget.count(reused)
        assert budget.spent() is None
        budget.count(reply)
        assert "was used up" in str(budget.spent())
