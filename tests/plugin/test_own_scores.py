"""A project's own figures: the hook, what thresholds make of them, and what it may not return."""

from __future__ import annotations

import json

import pytest
import yaml
from small_project import ARGUMENTS, Project

CONFTEST = """
def pytest_clinical_drift_score(case, transcript):
    words = [len(exchange.reply.text.split()) for exchange in transcript.exchanges]
    return {"words": sum(words) / len(words), "nothing": None}
"""


def gated_on_words(pytester: pytest.Pytester, limit: str, name: str = "own.words") -> pytest.RunResult:
    """The model's replies are five words long."""
    limits = {
        "recall_at_t10": {"direction": "higher", "pass": "> 0.8", "caution": ">= 0.7", "why": "as bundled"},
        "drift_slope": {"direction": "higher", "pass": ">= -0.01", "caution": ">= -0.05", "why": "as bundled"},
        name: {"direction": "higher", "pass": limit, "caution": limit, "why": "replies say something"},
    }
    gate = {"clinical_drift": {"metrics": limits, "set": {"decide_by": "point", "min_cases": 1}}}
    (pytester.path / "thresholds.yaml").write_text(yaml.safe_dump(gate), encoding="utf-8")
    return pytester.runpytest(*ARGUMENTS)


def test_thresholds_gate_a_projects_own_figure(project: Project) -> None:
    """Five words a reply: more than four pass, fewer than six fail the case, and the figure is on record."""
    pytester = project()
    pytester.makeconftest(CONFTEST)
    assert gated_on_words(pytester, "> 4").ret == 0
    failed = gated_on_words(pytester, "> 6")
    assert failed.ret == 1
    failed.stdout.fnmatch_lines(["*own.words *5* > 6 *FAIL*"])
    record = json.loads((pytester.path / "results/python-model-make/study_c_results.json").read_text("utf-8"))
    (figure,) = [item for item in record["cases"][0]["judgements"] if item["metric"] == "own.words"]
    assert figure["value"] == 5


def test_a_gated_figure_that_nobody_gives_is_never_a_pass(project: Project) -> None:
    """None is nothing to measure, and a name that no scorer knows is no figure: the set is CAUTION at best."""
    pytester = project()
    pytester.makeconftest(CONFTEST)
    for name in ("own.nothing", "own.unheard_of"):
        result = gated_on_words(pytester, "> 4", name)
        result.stdout.fnmatch_lines([f"*{name} *not evaluated*"])
        result.stdout.no_fnmatch_line("PASS (rules only)*")


def test_the_hook_does_not_disturb_an_idle_run(pytester: pytest.Pytester) -> None:
    """A conftest with the hook is an ordinary conftest when no model is given."""
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile("def test_one(): pass")
    pytester.runpytest().assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("returned", "told"),
    [
        ("3", "expected a mapping of names to figures, found int"),
        ("{'two words': 1}", "'two words' is not a valid name"),
        ("{'words': 'many'}", "words is 'many'; expected a finite number"),
        ("{'words': float('nan')}", "words is nan; expected a finite number"),
    ],
)
def test_figures_that_are_none_are_told_in_a_sentence(project: Project, returned: str, told: str) -> None:
    """Which hook, and what is wrong with what it returned; no traceback of ours."""
    pytester = project("anna")
    pytester.makeconftest(f"def pytest_clinical_drift_score(case, transcript): return {returned}")
    result = pytester.runpytest(*ARGUMENTS)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stdout.fnmatch_lines([f"pytest_clinical_drift_score on anna: {told}*"])
    result.stdout.no_fnmatch_line("*Traceback*")
    result.stdout.no_fnmatch_line("*During handling*")


def test_a_scorer_that_raises_stops_the_run_in_a_sentence(project: Project) -> None:
    """The hook, the case, the error and its line; exit code 4; no reply is asked for again once it is mended."""
    pytester = project()
    broken = pytester.makeconftest("def pytest_clinical_drift_score(case, transcript):\n    return {}['words']")
    result = pytester.runpytest(*ARGUMENTS)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    told = f"pytest_clinical_drift_score on anna: KeyError: 'words' ({broken}:2)"
    assert result.outlines.count(told) == 1
    assert not [line for line in result.outlines if "pluggy/" in line or "Traceback" in line or "During" in line]
    assert len(result.outlines) < 30
    result.stdout.fnmatch_lines(["*reply cache: * (rerun the same command to resume)"])
    pytester.makeconftest(CONFTEST)
    again = pytester.runpytest(*ARGUMENTS)
    # anna's eight replies at least; how many more there were when the run stopped is chance
    again.stdout.re_match_lines([r"  (8|9|1\d|2[0-4]) of 24 replies were stored by this run before .*"])
