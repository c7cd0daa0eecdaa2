"""Mutation test of metrics, verdicts, the two opinions and reviews: would the tests notice a wrong operator?

One small change at a time (a comparison, and/or, arithmetic, a number or flag, a return value, a negation), then
those of the module's own tests that call the changed function, the quickest first, up to the first that fails. The
code of functions is exchanged in a forked process: nothing is written, and a mutant costs little more than its tests; a
change outside functions is imported afresh and gets all tests. Twenty mutants per module are drawn with a seed. Goal:
at least 90 % noticed; mutants that change nothing that can be observed are listed with the reason.

    python -m benchmarks.mutation [--each 20] [--seed 1] [MODULE …]
"""

from __future__ import annotations

import argparse
import ast
import copy
import gc
import importlib
import importlib.abc
import importlib.machinery
import json
import os
import random
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "pytest_clinical_drift"
GOAL, SLOW = 0.9, 5.0
"""Share of the mutants to be noticed, and how many times the untouched tests' time one may take."""
VERDICT = ("tests/verdict/test_case_verdict.py", "tests/verdict/test_set_verdict.py")
TESTS: dict[str, tuple[str, ...]] = {
    "metrics/bootstrap": ("tests/metrics/test_bootstrap.py", "tests/metrics/test_intervals.py"),
    "metrics/agreement": ("tests/metrics/test_agreement.py", "tests/metrics/test_corrected.py"),
    "metrics/paired": ("tests/metrics/test_paired.py", "tests/metrics/test_power.py"),
    "metrics/recall": (
        "tests/metrics/test_recall.py",
        "tests/metrics/test_drift.py",
        "tests/metrics/test_token_decay.py",
    ),
    "metrics/intervals": ("tests/metrics/test_intervals.py",),
    "scoring/ruled_alarms": ("tests/scoring/test_ruled_alarms.py", "tests/scoring/test_scorer.py"),
    "verdict/case": VERDICT,
    "verdict/bands": ("tests/verdict/test_thresholds.py", VERDICT[0]),
    "verdict/set_metrics": VERDICT[1:],
    "verdict/thresholds": ("tests/verdict/test_thresholds.py", "tests/verdict/test_extends.py", VERDICT[0]),
    "verdict/whole_set": VERDICT[1:],
    "judging/opinions": (
        "tests/judging/test_opinions.py",
        "tests/judging/test_procedure.py",
        "tests/judging/test_reviews.py",
        "tests/scoring/test_ruled_alarms.py",
    ),
    "judging/reviews": ("tests/judging/test_reviews.py",),
    "judging/entries": ("tests/judging/test_entries.py",),
    "judging/due": (
        "tests/judging/test_due.py",
        "tests/judging/test_procedure.py",
        "tests/judging/test_readings.py",
    ),
    "judging/readings": (
        "tests/judging/test_entries.py",
        "tests/judging/test_due.py",
        "tests/judging/test_procedure.py",
        "tests/judging/test_prompts.py",
        "tests/judging/test_readings.py",
    ),
    "results/folders": ("tests/results/test_folders.py",),
    "cases/timeline": ("tests/cases/test_summary_turns.py", "tests/cases/test_marks.py"),
    "authoring/interludes": ("tests/cases/test_stretching.py", "tests/cases/test_interludes.py"),
    "results/comparing": (
        "tests/results/test_results_file.py",
        "tests/results/test_comparing.py",
        "tests/verdict/test_comparison.py",
        "tests/verdict/test_baseline.py",
    ),
    "results/shards": (
        "tests/results/test_shard_records.py",
        "tests/gate/test_changed_records.py",
        "tests/plugin/test_shards.py",
    ),
    "results/inputs": (
        "tests/results/test_run_inputs.py",
        "tests/gate/test_changed_records.py",
        "tests/plugin/test_review.py",
    ),
    "gate/merging": ("tests/gate/test_merging.py", "tests/gate/test_changed_records.py", "tests/plugin/test_shards.py"),
    "results/run_log": ("tests/results/test_run_log.py",),
    "gate/reopened": ("tests/gate/test_changed_records.py", "tests/gate/test_judged_again.py"),
}
EQUIVALENT = {
    (
        "authoring/interludes",
        "parts.append([Turn(turn=1, message=text, interlude=thread.id, interferes=about) for text in messages])",
        "1 → 2",
    ): "turns are counted anew",
    (
        "authoring/interludes",
        "asked = Turn(turn=1, message=case.late.message, expect=case.late.expect)",
        "1 → 2",
    ): "turns are counted anew",
    (
        "cases/timeline",
        "return range(1, len(case.turns) + 1)",
        "1 → 2",
    ): "the first turn is scheduled anyway",
    (
        "cases/timeline",
        "turns = (*range(1, 21), 25, 30, 40, 50, 60, 80, 100, 120, *range(160, 401, 40), *range(500, last, 100))",
        "401 → 402",
    ): "the step after 400 is 440",
    (
        "metrics/intervals",
        "level = (1 + confidence) / 2",
        "1 + confidence → 1 - confidence",
    ): "the ratio of two quantiles is squared, and the distribution is symmetric",
    (
        "metrics/bootstrap",
        "if resamples <= rows_at_once:",
        "resamples <= rows_at_once → resamples < rows_at_once",
    ): "all at once or in parts, the draws are the same",
    (
        "metrics/bootstrap",
        "if resamples <= rows_at_once:",
        "if resamples <= rows_at_once: → if not resamples <= rows_at_once:",
    ): "all at once or in parts, the draws are the same: only memory differs",
    ("metrics/bootstrap", "spread = squares > _TIE**2", "2 → 3"): "below either bound there is rounding only",
    (
        "metrics/paired",
        "unseen = span if any(abs(gain) > 1e-12 for gain in gains) else UNSEEN_LOSS * span",
        "abs(gain) > 1e-12 → abs(gain) >= 1e-12",
    ): "a gain of exactly 1e-12 is rounding, on either side",
    (
        "metrics/intervals",
        "up = int((departing > 0).sum())",
        "departing > 0 → departing >= 0",
    ): "what departs differs from 0",
    (
        "metrics/intervals",
        "shortage = (stdtrit(units - 1, level) / stdtrit(max(total - 1, 1.0), level)) ** 2",
        "1.0 → 2.0",
    ): "two units with more than one trial between them hold at least three",
    ("results/folders", "for _ in range(3):", "3 → 4"): "how often a lost race is run again is a matter of patience",
    (
        "results/inputs",
        'return content_hash(manifest.model_dump(mode="json", by_alias=True))',
        "True → False",
    ): "no field of a manifest has an alias",
    (
        "verdict/bands",
        "return value > self.value",
        "value > self.value → value >= self.value",
    ): "a value on the limit was decided before",
    (
        "verdict/set_metrics",
        "if not limits.pass_limit.holds(value) or room <= 1e-9 or reach <= _WIDTH:",
        "room <= 1e-09 → room < 1e-09",
    ): "a room of exactly 1e-9 is rounding, on either side",
    (
        "verdict/whole_set",
        "covered = complete > 0 and complete / run >= judged.thresholds.set.min_coverage - 1e-9",
        "complete / run >= judged.thresholds.set.min_coverage - 1e-09 → "
        "complete / run > judged.thresholds.set.min_coverage - 1e-09",
    ): "no share of cases lies exactly a billionth below the coverage",
}
"""Module, line and change: why no test can notice it."""

COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}


@dataclass(frozen=True)
class Mutant:
    """One change of one module."""

    module: str
    tree: ast.Module
    line: int
    source: str
    """The line as it was."""
    change: str
    inside: str
    """Name of the function whose body it is in, so that its code can be exchanged; empty outside."""


def alternatives(node: ast.AST) -> Iterator[ast.AST]:
    """What a node may be changed to."""
    if isinstance(node, ast.Compare):
        for at, operator in enumerate(node.ops):
            changed = copy.deepcopy(node)
            changed.ops[at] = COMPARED[type(operator)]()
            yield changed
    elif isinstance(node, ast.BoolOp):
        yield ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
    elif isinstance(node, ast.BinOp) and type(node.op) in COMPUTED:
        yield ast.BinOp(node.left, COMPUTED[type(node.op)](), node.right)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
        yield node.operand
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        yield ast.Constant(node.value + 1)
    elif isinstance(node, ast.Return) and ast.unparse(node) not in ("return", "return None"):
        yield ast.Return(ast.Constant(None))
    elif isinstance(node, ast.If | ast.IfExp):
        changed = copy.copy(node)
        changed.test = ast.UnaryOp(ast.Not(), node.test)
        yield changed


def places(node: ast.AST, inside: str = "") -> Iterator[tuple[ast.AST, str, int | None, str]]:
    """Every place in a tree that holds a node which may be changed: parent, field, position, the function it is in."""
    for name, value in ast.iter_fields(node):
        if name in ("decorator_list", "annotation", "returns", "ctx"):
            continue  # how a class is built and what a reader is told, not what is computed
        for at, child in enumerate(value if isinstance(value, list) else [value]):
            if not isinstance(child, ast.AST) or (isinstance(child, ast.keyword) and child.arg == "strict"):
                continue  # zip(strict=…) guards against what cannot happen
            if isinstance(child, ast.JoinedStr | ast.Raise):
                continue  # words
            within = inside
            if not inside and isinstance(node, ast.FunctionDef | ast.Lambda) and name == "body":
                within = getattr(node, "name", "<lambda>")
            yield node, name, at if isinstance(value, list) else None, within
            yield from places(child, within)


def mutants(module: str) -> list[Mutant]:
    """All changes of a module."""
    source = (ROOT / PACKAGE / f"{module}.py").read_text(encoding="utf-8")
    tree, lines = ast.parse(source), source.splitlines()
    found = []
    for parent, name, at, inside in places(tree):
        held = getattr(parent, name)
        node = held if at is None else held[at]
        for changed in alternatives(node):
            ast.copy_location(changed, node)
            ast.fix_missing_locations(changed)
            _put(parent, name, at, changed)
            told = f"{_first_line(node)} → {_first_line(changed)}"
            line: int = node.lineno  # type: ignore[attr-defined]
            found.append(Mutant(module, copy.deepcopy(tree), line, lines[line - 1].strip(), told, inside))
            _put(parent, name, at, node)
    return found


def _put(parent: ast.AST, name: str, at: int | None, node: ast.AST) -> None:
    if at is None:
        setattr(parent, name, node)
    else:
        getattr(parent, name)[at] = node


def _first_line(node: ast.AST) -> str:
    return ast.unparse(node).splitlines()[0]


def exchange(mutant: Mutant) -> None:
    """Give every living function of the module the code that the changed source has for it."""
    name = f"{PACKAGE}.{mutant.module.replace('/', '.')}"
    file = str(ROOT / PACKAGE / f"{mutant.module}.py")
    importlib.import_module(name)  # commands import late, and what comes later would be as it was
    codes: dict[tuple[str, int], CodeType] = {}
    waiting = [compile(mutant.tree, file, "exec", dont_inherit=True)]
    while waiting:
        code = waiting.pop()
        codes[code.co_qualname, code.co_firstlineno] = code
        waiting += [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    for function in [item for item in gc.get_objects() if isinstance(item, FunctionType) and item.__module__ == name]:
        code = codes.get((function.__code__.co_qualname, function.__code__.co_firstlineno))
        if code is not None and len(code.co_freevars) == len(function.__code__.co_freevars):
            function.__code__ = code


class Changed(importlib.abc.MetaPathFinder, importlib.machinery.SourceFileLoader):
    """Imports the changed module in place of the file's."""

    def __init__(self, mutant: Mutant) -> None:
        super().__init__(f"{PACKAGE}.{mutant.module.replace('/', '.')}", str(ROOT / PACKAGE / f"{mutant.module}.py"))
        self._tree = mutant.tree

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> object:  # type: ignore[override]
        return importlib.machinery.ModuleSpec(fullname, self, origin=self.path) if fullname == self.name else None

    def get_code(self, fullname: str) -> CodeType:
        return compile(self._tree, self.path, "exec", dont_inherit=True)


class Chosen:
    """A pytest plugin: all tests, noting what each calls of a file, or chosen ones in a given order."""

    def __init__(self, file: Path, notes: Path, order: list[str] | None) -> None:
        self._file, self._notes, self._order = str(file), notes, order
        self._tests: dict[str, tuple[float, list[str]]] = {}

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        if self._order is not None:
            place = {name: number for number, name in enumerate(self._order)}
            items[:] = sorted((item for item in items if item.nodeid in place), key=lambda item: place[item.nodeid])

    def pytest_pyfunc_call(self, pyfuncitem: Any) -> None:
        if self._order is None:
            called: set[str] = set()

            def note(frame: FrameType, event: str, _: object) -> None:
                if event == "call" and frame.f_code.co_filename == self._file:
                    called.update(frame.f_code.co_qualname.split("."))

            sys.setprofile(note)
            threading.setprofile(note)
            self._called, self._started = called, time.process_time()

    def pytest_runtest_teardown(self, item: Any) -> None:
        if self._order is None:
            sys.setprofile(None)
            threading.setprofile(None)  # type: ignore[arg-type]
            self._tests[item.nodeid] = time.process_time() - self._started, sorted(self._called)

    def pytest_sessionfinish(self) -> None:
        if self._order is None:
            self._notes.write_text(json.dumps(self._tests), encoding="utf-8")


def tests_of(module: str) -> tuple[dict[str, tuple[float, list[str]]], float]:
    """A module's tests as they are, each with its time and the functions it calls, and the time of all."""
    with tempfile.TemporaryDirectory() as folder:
        notes = Path(folder) / "notes.json"
        chosen = Chosen(ROOT / PACKAGE / f"{module}.py", notes, None)
        state, seconds = run_tests(TESTS[module], None, 600, chosen)
        if state != "passed":
            raise RuntimeError(f"{module}: its tests fail as it is")
        return json.loads(notes.read_text(encoding="utf-8")), seconds


def run_tests(files: tuple[str, ...], mutant: Mutant | None, limit: float, chosen: Chosen | None) -> tuple[str, float]:
    """Run tests in a forked process: passed, failed or slow, and the processor time it took."""
    started = time.perf_counter()
    child = os.fork()
    if child == 0:
        _in_child(files, mutant, chosen)
    while time.perf_counter() - started < limit:
        done, status, used = os.wait4(child, os.WNOHANG)
        if done:
            return "passed" if status == 0 else "failed", used.ru_utime + used.ru_stime
        time.sleep(0.02)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "slow", limit


def _in_child(files: tuple[str, ...], mutant: Mutant | None, chosen: Chosen | None) -> None:
    import pytest

    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    if mutant is not None and mutant.inside:
        exchange(mutant)
    elif mutant is not None:
        ours = [
            name for name, found in sys.modules.items() if str(getattr(found, "__file__", "")).startswith(str(ROOT))
        ]
        for name in ours:
            if name != "__main__":
                del sys.modules[name]
        sys.meta_path.insert(0, Changed(mutant))
    code = 1
    try:
        options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--assert=plain"]
        code = int(pytest.main([*options, *files], plugins=[chosen] if chosen else []))
    finally:
        os._exit(code)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("modules", nargs="*", default=list(TESTS), help="such as verdict/case")
    parser.add_argument("--each", type=int, default=20, help="mutants per module (default: 20)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    os.chdir(ROOT)
    sys.path.insert(0, str(ROOT))
    warm_up(sorted({file for module in options.modules for file in TESTS[module]}))
    killed = total = 0
    for module in options.modules:
        every = mutants(module)
        chosen = random.Random(options.seed).sample(every, min(options.each, len(every)))
        known, seconds = tests_of(module)
        noticed = tried = 0
        for mutant in sorted(chosen, key=lambda item: item.line):
            if (module, mutant.source, mutant.change) in EQUIVALENT:
                continue
            calling = [name for name, (_, called) in known.items() if mutant.inside in called or not mutant.inside]
            order = sorted(calling, key=lambda name: known[name][0])
            chosen_tests = Chosen(ROOT / PACKAGE / f"{module}.py", Path(), order)
            files = tuple(file for file in TESTS[module] if any(name.startswith(file) for name in order))
            state = "passed"
            if order:
                state, _ = run_tests(files, mutant, 60 + SLOW * seconds, chosen_tests)
            tried += 1
            noticed += state != "passed"
            if state == "passed":
                print(f"  survived {module}.py, line {mutant.line}: {mutant.change}", flush=True)
        print(f"{module}: {noticed} of {tried} noticed ({len(every)} possible)", flush=True)
        killed, total = killed + noticed, total + tried
    print(f"{killed} of {total} mutants killed, {killed / total:.1%} (goal: {GOAL:.0%})")
    return 0 if killed / total >= GOAL else 1


def warm_up(files: list[str]) -> None:
    """Import what the tests need, once; nothing is run, so that no cache is filled."""
    import pytest
    import scipy.stats  # noqa: F401

    if pytest.main(["--collect-only", "-qq", "-p", "no:cacheprovider", "-p", "no:xdist", "--assert=plain", *files]):
        raise RuntimeError("the tests cannot be collected")


if __name__ == "__main__":
    sys.exit(main())
