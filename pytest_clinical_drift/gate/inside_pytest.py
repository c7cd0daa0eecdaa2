"""The places where pytest has no public way, alone in one module: tests/gate/test_inside_pytest.py watches them.

- pytest looks for its root folder and ini file before it knows the options of plugins, and takes the value of
  `--drift-cases ../private` for a test path that may move both. A gated run belongs to the project that pytest was
  called in; nothing makes pytest look again, so what follows from the two is set here.
- Keys of the ini file that nobody has registered cannot be listed.
- A junit file's `system-out`, its suite's name and the line of an error cannot be written through hooks or fixtures.
"""

import copy
import inspect
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from _pytest.config.findpaths import determine_setup
from _pytest.junitxml import LogXML, xml_key


def set_rootdir(config: pytest.Config, args: list[str], paths: Sequence[str]) -> None:
    """Let root folder and ini file follow from the test paths alone; `args` gets the right file's `addopts`.

    To be called while the initial conftests are not loaded yet.
    """
    given = config.known_args_namespace
    known = {
        "inifile": given.inifilename,
        "override_ini": given.override_ini,
        "args": list(paths),
        "rootdir_cmd_arg": given.rootdir or None,
        "invocation_dir": config.invocation_params.dir,
    }
    wanted = inspect.signature(determine_setup).parameters  # pytest 8 knows no `override_ini` here
    setup: Any = determine_setup(**{name: value for name, value in known.items() if name in wanted})
    root, inifile, values = setup[:3]
    if (root, inifile) == (config.rootpath, config.inipath):
        return
    wrong = config.getini("addopts")
    if args[: len(wrong)] == wrong:
        del args[: len(wrong)]
    private: Any = config
    private._rootpath, private._inipath = root, inifile
    setattr(private, _ini_name(private), values)
    private._inicache.clear()
    args[:0] = config.getini("addopts")
    given = private._parser.parse_known_args(args, namespace=copy.copy(config.option))
    given.confcutdir = given.confcutdir or str(inifile.parent if inifile else root)
    config.known_args_namespace = given
    for folder in reversed(config.getini("pythonpath")):
        if str(folder) not in sys.path:
            sys.path.insert(0, str(folder))


def ini_keys(config: pytest.Config) -> list[str]:
    """Every key of the ini file and of `-o`, known or not."""
    return list(getattr(config, _ini_name(config)))


def _ini_name(config: Any) -> str:
    return "_inicfg" if hasattr(config, "_inicfg") else "inicfg"  # pytest 8 has no underscore


def junit_of(config: pytest.Config) -> LogXML | None:
    """The junit file of this run; None where none is written."""
    return config.stash.get(xml_key, None)


def name_suite(config: pytest.Config, name: str) -> None:
    """Name the junit suite after the model, unless the project has named it."""
    xml = junit_of(config)
    if xml is not None and xml.suite_name == "pytest":
        xml.suite_name = name


def complete_junit(xml: LogXML | None, report: pytest.TestReport, system_out: str) -> None:
    """Add `system-out` to a test that pytest has written, and give its error its own line without words around it."""
    if xml is None:
        return
    written, crash = xml.node_reporter(report), getattr(report.longrepr, "reprcrash", None)
    for element in written.nodes:
        if element.tag == "error" and crash is not None:
            element.set("message", crash.message)
    text = ElementTree.Element("system-out")
    text.text = system_out
    written.append(text)


def write_junit(file: Path, suite: str, tests: Sequence[tuple[Sequence[pytest.TestReport], str]]) -> None:
    """The junit file that pytest would write of these tests, each with its `system-out`; for runs without pytest."""
    xml = LogXML(str(file), None, suite, family="xunit2")
    xml.pytest_sessionstart()
    for (decisive, *rest), text in tests:
        xml.pytest_runtest_logreport(decisive)
        complete_junit(xml, decisive, text)
        for report in rest:
            xml.pytest_runtest_logreport(report)
    xml.pytest_sessionfinish()
