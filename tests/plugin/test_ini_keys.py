"""Options that a project sets once, in its ini file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from small_project import ARGUMENTS, Project, results_file

from pytest_clinical_drift.gate.options import OPTIONS, destination
from pytest_clinical_drift.gate.settings import read_pairs, read_settings

INI = """
[pytest]
drift_model = python:model:make
drift_cases = mycases
drift_judge = python:judge:make
drift_strict = true
drift_set =
    revision=7777777777777777777777777777777777777777
"""


def test_a_project_names_model_cases_and_settings_once(project: Project) -> None:
    """`pytest` alone gates the model of the ini file with its settings; strict makes CAUTION a failure."""
    pytester = project()
    pytester.path.joinpath("pytest.ini").write_text(INI, encoding="utf-8")
    result = pytester.runpytest()
    assert result.ret == 1
    written = json.loads(results_file(pytester.path).read_text(encoding="utf-8"))
    assert (written["verdict"], written["cases_complete"]) == ("CAUTION", 3)
    assert written["manifest"]["revision"] == "7" * 40


def test_the_command_line_wins(project: Project) -> None:
    """Another revision, and no strictness, for this run."""
    pytester = project()
    pytester.path.joinpath("pytest.ini").write_text(INI, encoding="utf-8")
    assert pytester.runpytest("--drift-set", f"revision={'8' * 40}", "-o", "drift_strict=false").ret == 0
    written = json.loads(results_file(pytester.path).read_text(encoding="utf-8"))
    assert written["manifest"]["revision"] == "8" * 40


def test_judge_settings_come_from_the_ini_file_too(project: Project) -> None:
    """An unknown one is refused as on the command line."""
    pytester = project()
    pytester.path.joinpath("pytest.ini").write_text("[pytest]\ndrift_judge_set = wording=9\n", encoding="utf-8")
    result = pytester.runpytest(*ARGUMENTS)
    assert result.ret == 4
    result.stderr.fnmatch_lines(["*--drift-judge-set wording: *"])


def test_without_the_key_the_plugin_stays_idle(pytester: pytest.Pytester) -> None:
    """An ini file with other keys of ours starts nothing."""
    pytester.makeini("[pytest]\ndrift_strict = true\ndrift_set = temperature=0\n")
    pytester.makepyfile("def test_one(): pass")
    pytester.runpytest().assert_outcomes(passed=1)


def test_every_option_of_a_run_has_its_key() -> None:
    """All but the slate and the shard, which are named for one run."""
    assert sorted(destination(name) for name, _, has_ini in OPTIONS if not has_ini) == ["drift_shard", "drift_slate"]


def test_headers_add_up_and_other_settings_are_replaced() -> None:
    """Of a setting that is given twice the last one counts, except for headers."""
    given = ["header=X-A:1", "seed=1", "header=X-B:2", "seed=2"]
    assert read_pairs(given, "--drift-set") == {"header": "X-A:1\nX-B:2", "seed": "2"}


@pytest.mark.parametrize(
    ("options", "store"),
    [((), "store.sqlite"), (("--drift-shard", "2/3"), "store-2-of-3.sqlite"), (("--drift-store", "x.db"), None)],
)
def test_shards_side_by_side_have_their_own_reply_cache(
    pytester: pytest.Pytester, options: tuple[str, ...], store: str | None
) -> None:
    """Unless the option names one."""
    config = pytester.parseconfig("--drift-model", "control:oracle", *options)
    assert read_settings(config).store == (Path(".clinical-drift", store) if store else Path("x.db"))
