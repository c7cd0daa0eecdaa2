"""Fixtures shared by the suite."""

from __future__ import annotations

import os
import signal
import sys

import pytest
from hypothesis import settings

pytest_plugins = ["pytester"]

# the first example pays for imports, and shared machines are slow at times: no deadline; the same examples every run
settings.register_profile("suite", deadline=None, derandomize=True)
settings.load_profile("suite")

# started in the background by a shell, the suite would ignore Ctrl-C, and so would every process that it starts
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# runs that tests start compile our modules and read our vocabularies once, not each anew: two seconds of every run
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Who asks for a browser carries its marker, before any expression chooses among the tests."""
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker("browser")
