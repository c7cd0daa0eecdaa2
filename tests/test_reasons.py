"""Reasons are codes: every code has its sentence, and nobody decides anything by reading one."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import pytest
from jinja2 import nodes

import pytest_clinical_drift
from pytest_clinical_drift.report.page import environment
from pytest_clinical_drift.report.reasons import TEMPLATE
from pytest_clinical_drift.report.words import words
from pytest_clinical_drift.verdict.metric_table import METRICS
from pytest_clinical_drift.verdict.reasons import ReasonCode
from pytest_clinical_drift.verdict.thresholds import load_thresholds

PACKAGE = Path(pytest_clinical_drift.__file__).parent
ROOMS = ("subjects", "scoring", "verdict", "results", "report", "gate", "ranking")
PROSE = {"reason", "reasons", "cause", "headline", "detail", "why", "sentence", "remark", "diagnosis", "incomplete"}
"""Names of what people read."""
READING = {"startswith", "endswith", "split", "rsplit", "removeprefix", "removesuffix", "partition", "find", "index"}


def named(node: ast.expr) -> str:
    """The last part of a name."""
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        return str(node.slice.value)
    return node.id if isinstance(node, ast.Name) else ""


@pytest.mark.parametrize(
    "path",
    [path for room in ROOMS for path in sorted((PACKAGE / room).glob("*.py"))],
    ids=lambda path: f"{path.parent.name}/{path.name}",
)
def test_no_decision_is_made_by_reading_prose(path: Path) -> None:
    """No `reason.startswith(…)`, no `"token limit" in cause`: whoever needs to know asks the code."""
    faults = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in READING:
            faults += [node.lineno] if named(node.func.value) in PROSE else []
        if isinstance(node, ast.Compare) and any(isinstance(op, ast.In | ast.NotIn) for op in node.ops):
            text = isinstance(node.left, ast.Constant) and isinstance(node.left.value, str)
            faults += [node.lineno] if text and any(named(side) in PROSE for side in node.comparators) else []
    assert faults == [], f"{path.name}: lines {faults}"


def test_every_code_has_its_sentence() -> None:
    """A macro per code, and none for a code that is gone; a figure is told by its judgement."""
    source = (PACKAGE / "data" / TEMPLATE).read_text(encoding="utf-8")
    macros = {macro.name for macro in environment().parse(source).find_all(nodes.Macro)}
    assert macros - {"named", "wrong"} == {code.value for code in ReasonCode} - {ReasonCode.FIGURE.value}


def test_every_code_says_which_values_come_with_it() -> None:
    """The names in its docstring are those that its macro takes."""
    source = (PACKAGE / "data" / TEMPLATE).read_text(encoding="utf-8")
    wanted = {m.name: [arg.name for arg in m.args] for m in environment().parse(source).find_all(nodes.Macro)}
    tree = ast.parse(inspect.getsource(ReasonCode)).body[0]
    assert isinstance(tree, ast.ClassDef)
    for code, told in zip(tree.body, [*tree.body[1:], None], strict=True):
        if isinstance(code, ast.Assign) and isinstance(code.value, ast.Constant) and code.value.value in wanted:
            text = told.value.value if isinstance(told, ast.Expr) and isinstance(told.value, ast.Constant) else ""
            for name in wanted[code.value.value]:
                assert name in str(text), f"{code.value.value}: {name}"


def test_every_metric_has_words_and_limits() -> None:
    """A metric is one entry in the table, one in the thresholds and one in the words of the reports."""
    assert set(words("metrics")) == set(METRICS)
    assert set(load_thresholds().metrics) == set(METRICS)
    assert all("one" in words("metrics")[name] for name, metric in METRICS.items() if metric.severe)
    assert set(words("diagnoses")) == {name for name, metric in METRICS.items() if metric.gravity}
