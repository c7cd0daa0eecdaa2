"""Fixtures shared by the suite."""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

# pytester's runs in this process forget what was first imported inside them; loaded twice, these break, or their errors
# are no longer caught
import anyio._backends._asyncio  # noqa: F401
import httpcore2  # noqa: F401
import httpx2  # noqa: F401
import numpy.testing  # noqa: F401
import polars  # noqa: F401
import pytest
import scipy.special
import scipy.stats  # noqa: F401
from assertions import AssertionCounter, counted_helpers
from hypothesis import settings

import pytest_clinical_drift

PACKAGE = Path(pytest_clinical_drift.__file__).parent

pytest_plugins = ["pytester"]

# the first example pays for imports, and shared machines are slow at times: no deadline; the same examples every run
settings.register_profile("suite", deadline=None, derandomize=True)
settings.load_profile("suite")

# started in the background by a shell, the suite would ignore Ctrl-C, and so would every process that it starts
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# the key of stored replies is not made in the home of whoever runs the suite, nor taken from their environment
os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp(prefix="clinical-drift-state-")
atexit.register(shutil.rmtree, os.environ["XDG_STATE_HOME"], ignore_errors=True)
os.environ.pop("CLINICAL_DRIFT_STORE_KEY", None)

# a module that a test writes twice within a second would be taken from its old bytecode
os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
sys.dont_write_bytecode = True

pytest.register_assert_rewrite(*counted_helpers(Path(__file__).parent))

COMPILE = """
import importlib, pkgutil, pytest_clinical_drift
from pytest_clinical_drift.evidence.terms.lexicon import lexicon
from pytest_clinical_drift.report.page import environment

def test_everything():
    lexicon()
    for name in environment().list_templates(extensions=["j2"]):
        environment().get_template(name)
    for module in pkgutil.walk_packages(pytest_clinical_drift.__path__, "pytest_clinical_drift."):
        if module.name.rpartition(".")[2] not in ("generation", "kv_pool"):  # which load torch
            importlib.import_module(module.name)
"""


def pytest_configure(config: pytest.Config) -> None:
    """Where asserts stay as they are written (--assert=plain, as for mutants), nobody can count them."""
    if config.getoption("assertmode") == "rewrite":
        config.pluginmanager.register(AssertionCounter())


def pytest_sessionstart(session: pytest.Session) -> None:
    """Compile modules and templates and parse vocabularies once for all runs that tests start: two seconds of each.

    Again only after a change; what is compiled stays where Python keeps it.
    """
    if hasattr(session.config, "workerinput") or session.config.option.collectonly:
        return
    files = sorted(path for path in PACKAGE.rglob("*") if path.suffix in (".py", ".yaml", ".j2"))
    state = [sys.version, pytest.__version__, str(PACKAGE), [path.stat().st_mtime for path in files]]
    cache = getattr(session.config, "cache", None)  # not there with -p no:cacheprovider
    if cache is None or cache.get("suite/compiled", None) == state:
        return
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "test_compile.py").write_text(COMPILE, encoding="utf-8")
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", folder]
        around = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
        done = subprocess.run(command, cwd=folder, env=around, capture_output=True, check=False)
    if done.returncode == 0:
        cache.set("suite/compiled", state)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Who asks for a browser carries its marker, before any expression chooses among the tests."""
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker("browser")


def pytest_collection_finish(session: pytest.Session) -> None:
    """Load torch before any run within this process: pytester forgets what a run imports, and torch loads only once."""
    if any(item.get_closest_marker("torch") for item in session.items):
        with contextlib.suppress(ImportError):
            import torch  # noqa: F401
            import transformers  # noqa: F401
