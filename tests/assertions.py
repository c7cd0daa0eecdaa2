"""A plugin: a test in which no assertion was executed cannot fail, and is reported as failed.

What counts is what runs while the test function runs: an assert statement of a test module or of a helper in this
folder, an exception or warning that came as demanded, and what pytester looks for in the output of a run.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest
from _pytest.assertion import rewrite

NONE = "no assertion was executed: as it stands, this test cannot fail"
_LINES = ("fnmatch_lines", "fnmatch_lines_random", "re_match_lines", "re_match_lines_random")
_GROUP = getattr(pytest, "RaisesGroup", type(pytest.raises(AssertionError)))  # not in pytest 8.2
_CHECKS: tuple[tuple[type, tuple[str, ...]], ...] = (
    (pytest.LineMatcher, (*_LINES, "no_fnmatch_line", "no_re_match_line")),
    (pytest.RunResult, ("assert_outcomes",)),
    (type(pytest.raises(AssertionError)), ("__exit__",)),
    (_GROUP, ("__exit__",)),
    (type(pytest.warns(UserWarning, match=".")), ("__exit__",)),
)
"""Methods that fail a test by themselves: those of pytester, and the end of `with pytest.raises(…)`."""


def counted_helpers(tests: Path) -> list[str]:
    """Modules beside the tests, whose assert statements count too where pytest rewrites them."""
    names = (path.stem for path in tests.rglob("*.py"))
    return [name for name in names if not name.startswith(("test_", "conftest")) and name != __name__]


class AssertionCounter:
    """Counts the assertions of the test that runs, and fails a test that has none."""

    def __init__(self) -> None:
        self.count = 0
        self._patch = pytest.MonkeyPatch()

    def pytest_configure(self) -> None:
        for owner, names in _CHECKS:
            for name in names:
                self._patch.setattr(owner, name, self._counted(getattr(owner, name)))
        # What pytest asks after every assertion that held. An implementation of pytest_assertion_pass would count as
        # well, but for each of them pytest would first put every value into words.
        asked = rewrite._check_if_assertion_pass_impl
        self._patch.setattr(rewrite, asked.__name__, self._counted(asked))

    def pytest_unconfigure(self) -> None:
        self._patch.undo()

    def _counted(self, check: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(check)
        def counted(*args: Any, **kwargs: Any) -> Any:
            __tracebackhide__ = True
            found = check(*args, **kwargs)
            self.count += 1  # it held
            return found

        return counted

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self) -> Generator[None, None, None]:
        self.count = 0
        return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if call.when == "call" and report.passed and isinstance(item, pytest.Function) and not self.count:
            report.outcome = "failed"
            report.longrepr = f"{item.nodeid}: {NONE}"
        return report
