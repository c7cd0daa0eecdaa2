"""What this pytest must be like for the module that reaches into it; the first to fail with a new version."""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from _pytest.config.findpaths import determine_setup

import pytest_clinical_drift

PLUGIN = """
import pytest
from pytest_clinical_drift.gate.inside_pytest import complete_junit, junit_of, name_suite, set_rootdir

@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_load_initial_conftests(early_config, parser, args):
    set_rootdir(early_config, args, [])
    return (yield)

@pytest.hookimpl(trylast=True)
def pytest_configure(config):
    name_suite(config, "a suite")

@pytest.hookimpl(trylast=True)
def pytest_runtest_logreport(report):
    if report.when == "call":
        complete_junit(junit_of(CONFIG[0]), report, "told")

CONFIG = []

def pytest_sessionstart(session):
    CONFIG.append(session.config)

def pytest_report_header(config):
    return f"home {config.rootpath.name} {config.inipath.name} {config.getini('junit_family')} {config.option.verbose}"
"""

IN_HOME = """
import os, sys, pytest
os.chdir(sys.argv[1])
sys.path.insert(0, "")
sys.exit(pytest.main(["-p", "reaching", "--collect-only", sys.argv[2]]))
"""


def test_root_and_ini_are_looked_for_again(pytester: pytest.Pytester) -> None:
    """A path of another project moves neither the root folder nor ini values nor `addopts`."""
    other = pytester.path / "other" / "tests"
    other.mkdir(parents=True)
    (other.parent / "pytest.ini").write_text("[pytest]\naddopts = -vv\njunit_family = xunit1\n", encoding="utf-8")
    home = pytester.path / "home"
    home.mkdir()
    (home / "pytest.ini").write_text("[pytest]\naddopts = -v\n", encoding="utf-8")
    (home / "reaching.py").write_text(PLUGIN, encoding="utf-8")
    result = pytester.run(sys.executable, "-c", IN_HOME, home, "../other/tests")
    result.stdout.fnmatch_lines(["home home pytest.ini xunit2 1"])


def test_a_junit_file_gets_its_name_and_text(pytester: pytest.Pytester) -> None:
    """The suite's name, and `system-out` of a test."""
    (pytester.path / "reaching.py").write_text(PLUGIN, encoding="utf-8")
    pytester.makepyfile("def test_one(): pass")
    pytester.makeini("[pytest]")
    pytester.run(sys.executable, "-m", "pytest", "-p", "reaching", "--junitxml=j.xml")
    suite = ElementTree.parse(pytester.path / "j.xml").getroot()[0]
    assert suite.get("name") == "a suite"
    assert [element.text for element in suite.iter("system-out")] == ["told"]


def test_pytest_looks_for_its_root_as_it_did() -> None:
    """The arguments that are passed on by name."""
    wanted = {"inifile", "args", "rootdir_cmd_arg", "invocation_dir"}
    assert wanted <= set(inspect.signature(determine_setup).parameters), pytest.__version__


def test_nothing_else_reaches_into_pytest() -> None:
    """No other module of the package imports a private one."""
    package = Path(pytest_clinical_drift.__file__).parent
    private = re.compile(r"^\s*(from|import) _pytest", re.MULTILINE)
    reaching = [file.name for file in package.rglob("*.py") if private.search(file.read_text(encoding="utf-8"))]
    assert reaching == ["inside_pytest.py"]
