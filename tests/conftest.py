"""Fixtures shared by the suite."""

from __future__ import annotations

from hypothesis import settings

pytest_plugins = ["pytester"]

# the first example pays for imports, and shared machines are slow at times: no deadline; the same examples every run
settings.register_profile("suite", deadline=None, derandomize=True)
settings.load_profile("suite")
