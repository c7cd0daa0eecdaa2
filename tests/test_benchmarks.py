"""The runner of the benchmarks: which it takes, what it keeps, and that a broken one has no figure."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[1]
HELPERS = {
    "__init__", "__main__", "listed", "readers", "releases", "judged_runs", "calibration_set", "prompts", "fuzz_guided",
}  # fmt: skip
"""Modules of the folder without a goal of their own; the last needs a fuzzer that is not among our dependencies."""


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
    assert runner.chosen(["negation", "idle"], long=False, gold=tmp_path / "nowhere") == [
        next(b for b in runner.LISTED if b.name == "idle")
    ]
    assert "left out" in capsys.readouterr().out


def test_page_keeps_the_last_row_of_each(runner: ModuleType, tmp_path: Path) -> None:
    page = tmp_path / "benchmarks.md"
    runner.keep([["idle", "1.04", "at most 1.05", "yes", "9", "2026-01-01"]], page)
    runner.keep([["alarms", "8 | 9", "8", "no", "9", "2026-01-02"]], page)
    runner.keep([["idle", "1.20", "at most 1.05", "no", "8", "2026-01-03"]], page)
    assert page.read_text(encoding="utf-8").splitlines()[-2:] == [
        "| alarms | 8 / 9 | 8 | no | 9 | 2026-01-02 |",
        "| idle | 1.20 | at most 1.05 | no | 8 | 2026-01-03 |",
    ]


@pytest.mark.parametrize(
    ("script", "holds", "figure"),
    [
        ("print('ratio 1.01'); print()", "yes", "ratio 1.01"),
        ("print('ratio 1.30'); raise SystemExit(1)", "no", "ratio 1.30"),
        ("print('on the way'); raise ValueError('broken')", "no", "none: stopped with exit code 1"),
        ("print('on the way'); raise SystemExit(3)", "no", "none: stopped with exit code 3"),
    ],
)
def test_only_a_finished_benchmark_has_a_figure(
    runner: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, holds: str, figure: str
) -> None:
    (tmp_path / "benchmarks").mkdir()
    (tmp_path / "benchmarks" / "__init__.py").touch()
    (tmp_path / "benchmarks" / "made.py").write_text(script, encoding="utf-8")
    monkeypatch.setattr(runner, "ROOT", tmp_path)
    monkeypatch.setenv("PYTHONPATH", "")
    cells = runner.measure(type(runner.LISTED[0])("made", "at most 1.05"), tmp_path)
    assert cells[:4] == ["made", figure, "at most 1.05", holds]


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
