"""`--drift-budget`: no new request once it is used up; the run is INCOMPLETE, says how far it got, and resumes."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from small_project import ARGUMENTS, Project, add_to_model, replies_counted, results_file

from pytest_clinical_drift.errors import FailureCode, InputError, failure
from pytest_clinical_drift.subjects.budget import Budget
from pytest_clinical_drift.transcript import Reply

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
    monkeypatch.setattr("pytest_clinical_drift.subjects.budget.time", clock)
    first = pytester.runpytest(*ARGUMENTS, "--drift-budget", "10s")
    assert first.ret == 6
    assert replies_counted(pytester) == 10
    told = "*the budget (10s) was used up; finished: 0 of 3 cases; 10 new replies of 24"
    first.stdout.fnmatch_lines([told, "*rerun the same command to resume*"])
    second = pytester.runpytest(*ARGUMENTS)
    assert second.ret == 0
    assert replies_counted(pytester) == 24
    assert results_file(pytester.path).exists()


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


@pytest.mark.parametrize(("text", "seconds"), [("20s", 20), ("55m", 3300), (" 1.5h", 5400)])
def test_times(text: str, seconds: float) -> None:
    """As people write them."""
    assert Budget(text).seconds == seconds


@pytest.mark.parametrize("text", ["", "55", "0m", "-5m", "5m,6m", "1e3s", "tokens=5"])
def test_what_is_no_budget(text: str) -> None:
    """One sentence that names the option."""
    with pytest.raises(InputError, match="--drift-budget"):
        Budget(text)


def test_what_is_counted() -> None:
    """New replies: not one that was reused, not an outage."""
    budget = Budget("1h")
    outage = Reply("", error=failure(FailureCode.OUT_OF_MEMORY))
    for reply in (Reply("x"), Reply("x", reused_from="before"), outage, Reply("y")):
        budget.count(reply)
    assert budget.received == 2
