"""Tests that cannot fail are found: planted ones are reported, and nothing else is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from assertions import NONE, AssertionCounter

CONFTEST = """
from pathlib import Path
import pytest
from assertions import AssertionCounter, counted_helpers

pytest_plugins = ["pytester"]
pytest.register_assert_rewrite(*counted_helpers(Path(__file__).parent))

def pytest_configure(config):
    if config.getoption("assertmode") == "rewrite":
        config.pluginmanager.register(AssertionCounter())
"""
HELPER = """
def check(value):
    assert value == 1

def look(value):
    return value
"""
CANNOT_FAIL = """
import pytest
from helper import look

@pytest.fixture
def checked():
    assert True

def test_empty(): pass
def test_empty_loop():
    for value in []:
        assert value
def test_condition_that_never_holds():
    if look(0):
        pytest.fail("no")
def test_assertion_in_a_fixture(checked): look(1)
def test_helper_that_only_looks(): look(1)
def test_raises_that_is_never_entered(): pytest.raises(ValueError)
def test_caught():
    with pytest.MonkeyPatch.context():
        look(1)
@pytest.mark.parametrize("values", [[1], []])
def test_one_set_of_two_is_empty(values):
    for value in values:
        assert value
"""
CAN_FAIL = """
import warnings
import pytest
from helper import check, look
from hypothesis import given, strategies

def test_assert(): assert look(1)
def test_helper(): check(1)
def test_raises():
    with pytest.raises(ValueError):
        raise ValueError
def test_raises_call(): pytest.raises(ZeroDivisionError, lambda: 1 / 0)
def test_raises_group():
    with pytest.RaisesGroup(ValueError):
        raise ExceptionGroup("two", [ValueError()])
def test_warns():
    with pytest.warns(UserWarning):
        warnings.warn("so")
@given(strategies.integers())
def test_hypothesis(number): assert number == number
def test_outcomes(pytester): pytester.runpytest("--collect-only").assert_outcomes()
def test_lines(pytester): pytester.runpytest("--version").stdout.no_fnmatch_line("nothing like it")
@pytest.mark.skip
def test_skipped(): pass
@pytest.mark.xfail
def test_expected_to_fail(): raise OSError
def test_thread():
    from threading import Thread
    thread = Thread(target=check, args=(1,))
    thread.start()
    thread.join()
"""
INI = """
[pytest]
enable_assertion_pass_hook = true
empty_parameter_set_mark = fail_at_collect
"""


@pytest.fixture
def planted(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A project with this plugin and its settings, and a helper that asserts."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent), prepend=os.pathsep)
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(helper=HELPER)
    pytester.makeini(INI)
    return pytester


WORKERS = pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "workers"])


@WORKERS
def test_tests_that_cannot_fail_fail(planted: pytest.Pytester, workers: tuple[str, ...]) -> None:
    planted.makepyfile(CANNOT_FAIL)
    done = planted.runpytest_subprocess("-q", "-rf", *workers)
    done.assert_outcomes(failed=8, passed=1)  # the set of two that has a value
    done.stdout.fnmatch_lines([f"*::test_empty_loop: {NONE}"])
    done.stdout.fnmatch_lines(["FAILED *::test_one_set_of_two_is_empty[[]values1[]]*"])


@WORKERS
def test_others_are_left_alone(planted: pytest.Pytester, workers: tuple[str, ...]) -> None:
    planted.makepyfile(CAN_FAIL)
    done = planted.runpytest_subprocess("-q", *workers)
    done.assert_outcomes(passed=10, skipped=1, xfailed=1)
    assert done.ret == 0


def test_an_empty_set_of_parameters_is_an_error(planted: pytest.Pytester) -> None:
    planted.makepyfile("import pytest\n@pytest.mark.parametrize('value', [])\ndef test_it(value): assert value\n")
    done = planted.runpytest_subprocess("-q")
    assert done.ret == pytest.ExitCode.INTERRUPTED
    done.stdout.fnmatch_lines(["*Empty parameter set in 'test_it' at line 2*"])


def test_asserts_that_are_not_rewritten_are_not_counted(planted: pytest.Pytester) -> None:
    """With --assert=plain, as mutants are run, nobody sees them: nothing is said."""
    planted.makepyfile(CANNOT_FAIL)
    planted.runpytest_subprocess("-q", "--assert=plain").assert_outcomes(passed=9)


def test_this_suite_is_run_that_way(pytestconfig: pytest.Config) -> None:
    assert any(isinstance(plugin, AssertionCounter) for plugin in pytestconfig.pluginmanager.get_plugins())
    assert pytestconfig.getini("enable_assertion_pass_hook") is True
    assert pytestconfig.getini("empty_parameter_set_mark") == "fail_at_collect"
