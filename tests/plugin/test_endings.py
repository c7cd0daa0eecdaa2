"""How a run ends when something is in its way: a bad sign-off sheet, Ctrl-C twice, other plugins, hostile errors."""

from __future__ import annotations

import json

import pytest
from small_project import ARGUMENTS, Project, results_file

from pytest_clinical_drift.errors import InputError

TWICE = """
import pytest

def pytest_runtest_logreport(report):
    if report.when == "call":
        raise KeyboardInterrupt

@pytest.hookimpl(trylast=True)
def pytest_keyboard_interrupt(excinfo):
    raise KeyboardInterrupt  # the second one, before pytest has set the session's exit status
"""
BITS = """
import pytest

@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session, exitstatus):
    session.exitstatus |= exitstatus
"""


@pytest.mark.parametrize("sheet", ["- a list", "intended_use: [", "\udc80"], ids=["list", "no yaml", "no text"])
def test_a_bad_sign_off_sheet_is_reported_before_the_run(project: Project, sheet: str) -> None:
    """One sentence and exit code 4; the model is not asked, and nothing is written."""
    pytester = project()
    (pytester.path / "dossier.yaml").write_bytes(sheet.encode("utf-8", "surrogateescape"))
    result = pytester.runpytest(*ARGUMENTS)
    assert result.ret == 4
    assert "dossier.yaml" in result.stderr.str()
    assert not (pytester.path / "results").exists()


def test_results_are_written_before_the_dossier(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page that cannot be made costs no results."""

    def broken(*_: object) -> str:
        raise InputError("the page cannot be made")

    pytester = project()
    monkeypatch.setattr("pytest_clinical_drift.gate.publishing.render_report", broken)
    result = pytester.runpytest(*ARGUMENTS)
    assert result.ret == 4
    result.stdout.fnmatch_lines(["ERROR: the results could not be written: the page cannot be made"])
    (kept,) = (pytester.path / "results").rglob("study_c_results.json")
    assert json.loads(kept.read_text(encoding="utf-8"))["verdict"] == "CAUTION"


def test_a_second_ctrl_c_does_not_end_the_run_for_good(project: Project) -> None:
    """The next run goes on with the replies of the one that was broken off."""
    pytester = project()
    conftest = pytester.makeconftest(TWICE)
    with pytest.raises(KeyboardInterrupt):
        pytester.runpytest(*ARGUMENTS)
    conftest.unlink()
    pytester.runpytest(*ARGUMENTS)
    record = json.loads(results_file(pytester.path).read_text(encoding="utf-8"))
    assert record["manifest"]["replies_resumed"] > 0
    assert record["manifest"]["replies_reused"] == 0


@pytest.mark.parametrize(("breaks_at", "code"), [(3, 6), (0, 0)])
def test_another_plugins_bits_do_not_change_the_exit_code(project: Project, breaks_at: int, code: int) -> None:
    """Some plugins add the bits of pytest's own exit status to whatever is there: 6 with 1 would be 7."""
    pytester = project(breaks_at=breaks_at)
    pytester.makeconftest(BITS)
    assert pytester.runpytest(*ARGUMENTS).ret == code


def test_a_models_traceback_is_no_command_to_a_ci_system(project: Project) -> None:
    """An error of the model's own code is printed line by line: none begins with `::`, none holds `##[`."""
    pytester = project(breaks_at=2)
    source = (pytester.path / "model.py").read_text(encoding="utf-8")
    said = "down\\n::error::owned\\n  ::stop-commands::x\\n##[error]owned ##vso[task.complete]"
    assert "out of memory" in source
    (pytester.path / "model.py").write_text(source.replace("out of memory", said), encoding="utf-8")
    lines = pytester.runpytest(*ARGUMENTS).stdout.lines
    assert any("error::owned" in line for line in lines)
    assert [line for line in lines if line.lstrip().startswith("::")] == []
    assert [line for line in lines if "##[" in line or "##vso[" in line] == []
