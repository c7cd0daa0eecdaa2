"""Reasons are codes: every code has its sentence, and nobody decides anything by reading one."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from jinja2 import nodes

import pytest_clinical_drift
from pytest_clinical_drift.errors import Failure, FailureCode
from pytest_clinical_drift.ranking.figure_types import SlateCode
from pytest_clinical_drift.report.page import environment
from pytest_clinical_drift.report.reasons import TEMPLATE
from pytest_clinical_drift.report.words import words
from pytest_clinical_drift.verdict.metric_table import METRICS
from pytest_clinical_drift.verdict.reasons import ReasonCode
from pytest_clinical_drift.verdict.thresholds import load_thresholds

PACKAGE = Path(pytest_clinical_drift.__file__).parent
READERS = ("evidence", "authoring")
"""What reads clinical text by rules, which is prose by nature."""
PROSE = {
    "advice", "cause", "causes", "detail", "diagnosis", "error", "failed", "failure", "given_up", "headline", "hint",
    "incomplete", "message", "note", "notes", "problem", "problems", "reason", "reasons", "refusal", "remark",
    "remarks", "sentence", "sentences", "trouble", "warning", "warnings", "why", "wording",
}  # fmt: skip
"""Names of what people read."""
READING = {
    "startswith",
    "endswith",
    "rsplit",
    "removeprefix",
    "removesuffix",
    "partition",
    "rpartition",
    "find",
    "index",
}
MATCHING = {"search", "match", "fullmatch", "findall", "finditer", "sub"}
FOREIGN = {
    ("cases/faults.py", "message"): "the words of pydantic",
    ("subjects/server.py", "error"): "the words of a server, which has no codes of its own",
}


def named(node: ast.expr) -> str:
    """The last part of a name; what `str()` is made of, and what a key of a mapping holds."""
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        return str(node.slice.value)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("get", "lower"):
        key = node.args[0] if node.func.attr == "get" and node.args else node.func.value
        return str(key.value) if isinstance(key, ast.Constant) else named(key)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "str" and node.args:
        return named(node.args[0])
    return node.id if isinstance(node, ast.Name) else ""


def readings(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Lines that take a sentence apart, or compare it with words: `split()` at white space alone does not."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            how, source = node.func.attr, named(node.func.value)
            if source in PROSE and (how in READING or (how == "split" and node.args)):
                yield node.lineno, source
            if how in MATCHING:
                yield from ((node.lineno, named(arg)) for arg in node.args if named(arg) in PROSE)
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            text = any(isinstance(side, ast.Constant) and isinstance(side.value, str) and side.value for side in sides)
            inside = any(isinstance(op, ast.In | ast.NotIn) for op in node.ops)
            for side in node.comparators if inside else sides:
                if named(side) in PROSE and (text or (inside and isinstance(side, ast.Call | ast.Subscript))):
                    yield node.lineno, named(side)


def test_the_search_for_such_readings_finds_them() -> None:
    """Each line below makes a decision by words; the last three do not."""
    lines = (
        'if cause.startswith("no"): pass',
        'if "token limit" in run.incomplete: pass',
        'why, _, rest = reply.error.partition("\\n")',
        'parts = reason.split(";")',
        'if str(fault.cause) == "timeout": pass',
        "if option not in fault.values.get('error', ''): pass",
        'if re.search("memory", message): pass',
        'flat = " ".join(str(error).split())',
        "if error is None: pass",
        'if "reason" in plain: pass',
    )
    assert [n for n, line in enumerate(lines) if list(readings(ast.parse(line)))] == list(range(7))


@pytest.mark.parametrize(
    "path",
    [p for p in sorted(PACKAGE.rglob("*.py")) if p.relative_to(PACKAGE).parts[0] not in READERS],
    ids=lambda path: str(path.relative_to(PACKAGE)),
)
def test_no_decision_is_made_by_reading_prose(path: Path) -> None:
    """No `reason.startswith(…)`, no `"token limit" in cause`: whoever needs to know asks the code."""
    place = path.relative_to(PACKAGE).as_posix()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert [(line, name) for line, name in readings(tree) if (place, name) not in FOREIGN] == []


def test_every_failure_and_slate_reason_has_its_sentence() -> None:
    """One sentence per code, none for a code that is gone; each names only plain values."""
    for file, codes in (("failures.yaml", FailureCode), ("slate_reasons.yaml", SlateCode)):
        sentences = yaml.safe_load((PACKAGE / "data" / file).read_text(encoding="utf-8"))
        assert list(sentences) == [code.value for code in codes]
    assert str(Failure(FailureCode.TOO_SLOW, {"seconds": 2.5}, attempts=3, turn=4, part="reply")) == (
        "turn 4, reply: no answer within 2.5 s, after 3 attempts"
    )


def test_every_code_has_its_sentence() -> None:
    """A macro per code, and none for a code that is gone; a figure is told by its judgement."""
    source = (PACKAGE / "data" / "templates" / TEMPLATE).read_text(encoding="utf-8")
    macros = {macro.name for macro in environment().parse(source).find_all(nodes.Macro)}
    assert macros - {"finished", "named", "wrong"} == {code.value for code in ReasonCode} - {ReasonCode.FIGURE.value}


def comments_on_codes() -> dict[str, str]:
    """What the source says of each code: at the end of its line, and in the lines of comment right above it."""
    found: dict[str, str] = {}
    above = ""
    for line in inspect.getsource(ReasonCode).splitlines():
        code, _, comment = line.strip().partition("#")
        if code:
            found[code.partition(" = ")[0]] = f"{above} {comment}"
            above = ""
        else:
            above = f"{above} {comment}" if comment else ""
    return {code.value: found[code.name] for code in ReasonCode}


@pytest.mark.parametrize("code", [code for code in ReasonCode if code is not ReasonCode.FIGURE])
def test_every_code_says_which_values_come_with_it(code: ReasonCode) -> None:
    """The names in the comment on a code are those that its macro takes."""
    source = (PACKAGE / "data" / "templates" / TEMPLATE).read_text(encoding="utf-8")
    macros = {macro.name: macro for macro in environment().parse(source).find_all(nodes.Macro)}
    told = set(re.findall(r"\w+", comments_on_codes()[code.value]))
    taken = {argument.name for argument in macros[code.value].args}
    assert taken - told == set()


def test_comments_on_codes_are_found() -> None:
    comments = comments_on_codes()
    assert comments["severe_open"].split() == ["cases"]
    assert comments["no_scorer"].split() == []
    assert "canaries: inserted faults among what was not answered" in comments["judge_outage"]
    assert "CASES" not in comments["judge_outage"]
    assert len(comments) == len(ReasonCode)


def test_every_metric_has_words_and_limits() -> None:
    """A metric is one entry in the table, one in the thresholds and one in the words of the reports."""
    assert set(words("metrics")) == set(METRICS)
    assert set(load_thresholds().metrics) == set(METRICS)
    assert all("one" in words("metrics")[name] for name, metric in METRICS.items() if metric.severe)
    assert set(words("diagnoses")) == {name for name, metric in METRICS.items() if metric.gravity}
