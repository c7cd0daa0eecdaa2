"""Without a model the plugin is not there, as far as anyone can tell."""

from __future__ import annotations

import pytest


def test_idle_run_is_an_ordinary_run(pytester: pytest.Pytester) -> None:
    """No header line, no cases, no extra files."""
    pytester.makepyfile("def test_one(): pass")
    result = pytester.runpytest()
    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("clinical-drift:*")
    assert not (pytester.path / "results").exists()
    assert not (pytester.path / ".clinical-drift").exists()


def test_options_have_their_own_help_group(pytester: pytest.Pytester) -> None:
    """--help shows the options together, the short name among them."""
    result = pytester.runpytest("--help")
    result.stdout.fnmatch_lines(["clinical drift*:", "*--drift-model*SPEC*", "*--drift-strict*", "*--model*SPEC*"])


CONFTEST = """
def pytest_addoption(parser):
    parser.addoption("--model", default="none")
"""


def test_project_with_its_own_model_option_keeps_it(pytester: pytest.Pytester) -> None:
    """A conftest that defines --model works as before; --drift-model is ours there."""
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile("def test_model(request): assert request.config.getoption('--model') == 'resnet'")
    result = pytester.runpytest("--model", "resnet")
    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("*--drift-model*")


def test_clash_is_explained_to_who_needs_it(pytester: pytest.Pytester) -> None:
    """Who means us but speaks to the project's option is told, in the header or in the error."""
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile("def test_one(): pass")
    result = pytester.runpytest("--model", "control:steady")
    result.stdout.fnmatch_lines(["*--model belongs to this project's conftest; use --drift-model*"])
    result = pytester.runpytest("--model", "control:steady", "--drift-strict")
    assert result.ret == 4
    result.stderr.fnmatch_lines(
        ["*--drift-strict needs --drift-model SPEC (this project's conftest defines --model itself)*"]
    )
