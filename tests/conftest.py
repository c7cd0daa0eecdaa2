"""Fixtures shared by the suite."""

from __future__ import annotations

import signal

from hypothesis import settings

pytest_plugins = ["pytester"]

# the first example pays for imports, and shared machines are slow at times: no deadline; the same examples every run
settings.register_profile("suite", deadline=None, derandomize=True)
settings.load_profile("suite")

# started in the background by a shell, the suite would ignore Ctrl-C, and so would every process that it starts
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
