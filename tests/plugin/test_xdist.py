"""With -n the same run: ids, results and junit, and each reply generated once."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest
from small_project import Project

ARGUMENTS = ("--model", "python:model:make", "--drift-cases", "mycases")


def junit_shape(pytester: pytest.Pytester, file: str) -> list[tuple[object, ...]]:
    suite = ElementTree.parse(pytester.path / file).getroot()[0]
    return sorted(
        (
            case.get("classname"),
            case.get("name"),
            tuple((child.tag, child.get("message")) for child in case if child.tag != "properties"),
            tuple((item.get("name"), item.get("value")) for item in case.iter("property")),
        )
        for case in suite
    )


@pytest.mark.parametrize("forget_from", [pytest.param(99, marks=pytest.mark.slow), 2])
def test_same_results_with_workers(project: Project, forget_from: int) -> None:
    """Two workers give the same results file, junit content and exit code as none."""
    pytester = project(forget_from=forget_from)
    file = pytester.path / "results" / "python-model-make" / "study_c_results.json"
    alone = pytester.runpytest(*ARGUMENTS, "--junitxml=one.xml", "-p", "no:randomly")
    first = json.loads(file.read_text(encoding="utf-8"))
    shared = pytester.runpytest(*ARGUMENTS, "--junitxml=two.xml", "-n", "2")
    second = json.loads(file.read_text(encoding="utf-8"))
    assert alone.ret == shared.ret
    assert first == second
    assert junit_shape(pytester, "one.xml") == junit_shape(pytester, "two.xml")
    figures = [line for line in alone.stdout.lines if line.lstrip().startswith("Recall@T10 ")]
    assert figures
    assert figures == [line for line in shared.stdout.lines if line.lstrip().startswith("Recall@T10 ")]


@pytest.mark.slow
def test_each_reply_is_generated_once(project: Project) -> None:
    """However many workers, the model is asked exactly once per reply: 3 cases × 4 turns × 2."""
    pytester = project()
    source = (pytester.path / "model.py").read_text(encoding="utf-8")
    counting = source.replace("        turns = sum", "        open('asked.txt', 'a').write('x')\n        turns = sum")
    (pytester.path / "model.py").write_text(counting, encoding="utf-8")
    pytester.runpytest(*ARGUMENTS, "-n", "2")
    assert len((pytester.path / "asked.txt").read_text(encoding="utf-8")) == 24


@pytest.mark.slow
def test_only_the_cases_that_a_test_asks_for_are_talked_to(project: Project) -> None:
    """`severe-asthma-girl` ends in other cases' names and holds one: none of them is asked."""
    pytester = project("asthma", "girl", "severe-asthma-girl")
    source = (pytester.path / "model.py").read_text(encoding="utf-8")
    counting = source.replace("        turns = sum", "        open('asked.txt', 'a').write('x')\n        turns = sum")
    (pytester.path / "model.py").write_text(counting, encoding="utf-8")
    pytester.makepyfile(test_own="def test_own(drift_result):\n    assert drift_result.case.id\n")
    result = pytester.runpytest(*ARGUMENTS, "test_own.py", "-n", "2", "-k", "severe")
    result.assert_outcomes(passed=1)
    assert len((pytester.path / "asked.txt").read_text(encoding="utf-8")) == 8
