"""junit, exit code, page and step summary agree for every verdict: a test for each row of docs/verdicts.md."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

import junitparser
import pytest
from small_project import ARGUMENTS, RULES_ONLY, Project, results_file

from pytest_clinical_drift.report.sentences import turn_list

DOCS = Path(__file__).parents[2] / "docs" / "verdicts.md"
PASSING = """
clinical_drift:
  extends: bundled
  set: {decide_by: point, min_cases: 1}
  judge: {audit_bound: 0.2}
"""
CONTROL = ("--model", "control:steady", "--drift-cases", "mycases")
OWN_TEST = "def test_own(drift_result):\n    assert False\n"


@dataclass(frozen=True)
class Row:
    """One row of the table: how to get it, and what is to be seen."""

    verdict: str
    case: str
    """Outcome of the case `anna` in junit."""
    whole: str
    """Outcome of the whole set in junit."""
    code: int
    options: tuple[str, ...] = ()
    base: tuple[str, ...] = ARGUMENTS
    shape: dict[str, int] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    says: str = ""
    """What the whole set's line names besides the verdict."""


ROWS = {
    "PASS": Row("PASS", "passed", "passed", 0, base=CONTROL, files={"thresholds.yaml": PASSING}),
    "CAUTION": Row("CAUTION", "passed", "passed", 0),
    "CAUTION, strict": Row("CAUTION", "passed", "failure", 1, ("--drift-strict",), says="fewer than the 40"),
    "FAIL": Row("FAIL", "failure", "failure", 1, shape={"forget_from": 3}, says="3 of 3 cases run failed"),
    "INCOMPLETE": Row("INCOMPLETE", "error", "error", 6, shape={"breaks_at": 3}, says="next: the same command again"),
    "UNSETTLED": Row("UNSETTLED", "error", "error", 7, base=RULES_ONLY, says="clinical-drift review RESULTS"),
    "PARTIAL": Row("PARTIAL", "passed", "error", 7, ("-k", "anna"), says="on all 3 cases"),
    "PARTIAL, a case at FAIL": Row(
        "PARTIAL", "failure", "error", 1, ("-k", "anna"), shape={"forget_from": 3}, says="1 case at FAIL"
    ),
    "PARTIAL, a case INCOMPLETE": Row(
        "PARTIAL", "error", "error", 6, ("-k", "anna"), shape={"breaks_at": 3},
        says="next: mend what left 1 of 1 case INCOMPLETE, then the same command again",
    ),
    "CAUTION, an own test failed": Row(
        "CAUTION", "passed", "failure", 1, ("study_c", "test_own.py"), files={"test_own.py": OWN_TEST},
        says="3 tests of the project failed: exit code 1",
    ),
}  # fmt: skip


def outcome(case: junitparser.TestCase) -> str:
    """As GitLab and the usual GitHub actions count a test."""
    kinds = {junitparser.Failure: "failure", junitparser.Error: "error", junitparser.Skipped: "skipped"}
    found = [kinds[type(result)] for result in case.result]
    assert len(found) <= 1
    return found[0] if found else "passed"


def check(row: Row, pytester: pytest.Pytester, result: pytest.RunResult) -> None:
    assert result.ret == row.code
    parsed = junitparser.JUnitXml.fromfile(str(pytester.path / "j.xml"))
    cases = {case.classname: case for suite in parsed for case in suite}
    whole = cases["study_c.whole-set"]
    assert (outcome(cases["study_c.anna"]), outcome(whole)) == (row.case, row.whole)
    assert (parsed.failures + parsed.errors > 0) == (row.code != 0)
    assert parsed.tests == sum(len(suite) for suite in parsed)
    if row.whole != "passed":
        assert whole.result[0].message.startswith(row.verdict)
        assert row.says in whole.result[0].message
    if row.case == "error":
        assert cases["study_c.anna"].result[0].message.startswith(("UNSETTLED: ", "INCOMPLETE: "))
    page = results_file(pytester.path).with_name("report.html").read_text(encoding="utf-8")
    assert re.search(r'class="banner (\w+)"', page)[1] == row.verdict  # type: ignore[index]
    assert f": {row.verdict} (" in (pytester.path / "summary.md").read_text(encoding="utf-8").splitlines()[0]


@pytest.mark.parametrize("name", ROWS)
def test_every_report_tells_the_same(name: str, project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole set passes exactly where the run ends with 0, and no case without a verdict passes."""
    row = ROWS[name]
    pytester = project(**row.shape)  # type: ignore[arg-type]
    for file, text in row.files.items():
        (pytester.path / file).write_text(text, encoding="utf-8")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(pytester.path / "summary.md"))
    check(row, pytester, pytester.runpytest(*row.base, *row.options, "--junitxml=j.xml"))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["UNSETTLED", "PARTIAL", "INCOMPLETE"])
def test_workers_change_nothing(name: str, project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """With -n 2 the same outcomes in the same file."""
    row = ROWS[name]
    pytester = project(**row.shape)  # type: ignore[arg-type]
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(pytester.path / "summary.md"))
    check(row, pytester, pytester.runpytest(*row.base, *row.options, "--junitxml=j.xml", "-n", "2"))


def test_unsettled_is_yellow_on_the_terminal(project: Project) -> None:
    """An error to junit and to CI, and no red failure text for a model against which nothing was found."""
    result = project().runpytest(*RULES_ONLY, "-v")
    result.stdout.fnmatch_lines(["study_c/anna::python-model-make UNSETTLED*", "study_c/whole-set* UNSETTLED*"])
    result.stdout.no_fnmatch_line("*= ERRORS =*")
    result.stdout.fnmatch_lines(["*4 unsettled in *"])


def test_results_that_cannot_be_written_are_an_error_of_the_set(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A release without its evidence: exit code 4, and the set's test says why."""
    pytester = project()

    def full_disk(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pytest_clinical_drift.gate.hooks.FinishedRun.publish", full_disk)
    assert pytester.runpytest(*ARGUMENTS, "--junitxml=j.xml").ret == 4
    parsed = junitparser.JUnitXml.fromfile(str(pytester.path / "j.xml"))
    (whole,) = (case for suite in parsed for case in suite if case.classname == "study_c.whole-set")
    assert outcome(whole) == "error"
    assert "No space left on device" in whole.result[0].message


def test_the_table_in_the_docs_is_this_one() -> None:
    """Every row of docs/verdicts.md has its test, and says what the test expects."""
    section = DOCS.read_text(encoding="utf-8").partition("## In a pipeline\n")[2].partition("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| ")]
    told = [[cell.strip() for cell in row.strip("| ").split("|")] for row in rows]
    found = {cells[0]: (cells[1], cells[2], cells[3], cells[4]) for cells in told if cells[0] in ROWS}
    assert found == {name: (row.case, row.whole, str(row.code), row.verdict) for name, row in ROWS.items()}


def test_the_step_summary_lists_an_alarm_once(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """A deadly fact lost on turns 3, 4 and 5 is one line for its case."""
    pytester = project(forget_from=3, turns=5)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(pytester.path / "summary.md"))
    pytester.runpytest(*ARGUMENTS)
    text = (pytester.path / "summary.md").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line.startswith("- **")]
    assert "### Severe alarms (3)" in text
    assert len(lines) == 3
    assert "anna, turns 3 to 5: lost" in lines[0]


@pytest.mark.parametrize(
    ("turns", "told"), [({4}, "turn 4"), ({3, 4}, "turns 3, 4"), ({1, 3, 4, 5, 9}, "turns 1, 3 to 5, 9")]
)
def test_turns_are_listed_shortly(turns: set[int], told: str) -> None:
    """Three or more in a row are a range."""
    assert turn_list(turns) == told
