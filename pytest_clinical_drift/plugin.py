"""The pytest plugin: options, and the few hooks that cost something only when a model is given."""

from __future__ import annotations

import argparse
from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_clinical_drift.gate.options import MODEL, OPTIONS, SHORT, SLATES, destination

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from pytest_clinical_drift.cases.model import Case
    from pytest_clinical_drift.gate.items import DriftResult
    from pytest_clinical_drift.transcript import Transcript

GROUP = "clinical-drift"
_ACTIVE = "clinical_drift_active"
_SLATE = "clinical_drift_slate"
_NEEDS_MODEL = "needs --model"


class DriftHooks(ABC):
    """Hooks that a project's conftest may implement."""

    @pytest.hookspec
    @abstractmethod
    def pytest_clinical_drift_score(self, case: Case, transcript: Transcript) -> Mapping[str, float | None]:
        """Figures of your own on one conversation, by name (None: nothing to measure); gated as `own.NAME`."""


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    pluginmanager.add_hookspecs(DriftHooks)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup(GROUP, "clinical drift: gate a clinical language model")
    for name, arguments, has_ini in OPTIONS:
        group.addoption(name, dest=destination(name), **arguments)
        if has_ini:
            kind = {} if has_ini is True else {"type": has_ini}
            parser.addini(destination(name), f"default of {name}", **kind)
    parser.addini("drift_embedder", "sentence-transformers model or folder for session goal alignment")
    parser.addini("drift_summary_turns", "schedule (default): fewer summaries after turn 20; all: one after every turn")
    parser.addini("drift_junit_properties", "write per-test properties into junit files", type="bool", default=True)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_load_initial_conftests(
    early_config: pytest.Config, parser: pytest.Parser, args: list[str]
) -> Generator[None, Any, Any]:
    """With something to gate, our paths are not test paths; otherwise the project's test suite takes no part."""
    gated, paths = _gated_and_paths(args, early_config.known_args_namespace)
    if gated or _given_options(early_config.known_args_namespace) or early_config.getini("drift_model"):
        from pytest_clinical_drift.gate.inside_pytest import set_rootdir

        set_rootdir(early_config, args, paths)
        gated, paths = _gated_and_paths(args, early_config.known_args_namespace)
        gated = gated or bool(early_config.getini("drift_model"))
    namespace = early_config.known_args_namespace
    asked_for = list(namespace.file_or_dir)
    if gated:
        folders = (early_config.invocation_params.dir, early_config.rootpath)
        # a file, whose folder's conftest may be loaded; a folder would bring in its test folders as well
        anchors = [folder / "conftest.py" for folder in folders if (folder / "conftest.py").is_file()]
        namespace.file_or_dir = paths or [str((*anchors, Path(__file__))[0])]
    result = yield
    namespace.file_or_dir = asked_for
    _offer_short_names(early_config, parser)
    return result


def _gated_and_paths(args: list[str], namespace: argparse.Namespace) -> tuple[bool, list[str]]:
    """Whether there is something to gate, and the test paths, while the short names are not options yet."""
    gated = any(getattr(namespace, destination(name)) is not None for name in SHORT.values())
    paths = list(namespace.file_or_dir)
    for position, argument in enumerate(args):
        name, equals, _ = argument.partition("=")
        if name in SHORT and (equals or position + 1 < len(args)):
            gated = True
            if not equals and args[position + 1] in paths:
                paths.remove(args[position + 1])
    return gated, paths


def _offer_short_names(config: pytest.Config, parser: pytest.Parser) -> None:
    """Register `--model` and `--slate` only now that the project's own conftest has had the chance to use the names."""
    group = parser.getgroup(GROUP)
    for short, arguments in (("--model", MODEL), ("--slate", SLATES)):
        try:  # before pytest 9.2 registering it twice fails only later, at parsing
            free = f"{short}=x" in parser.parse_known_and_unknown_args([f"{short}=x"])[1]
        except pytest.UsageError:  # somebody's, with a type or choices that x does not fit
            free = False
        if free:
            group.addoption(short, dest=destination(SHORT[short]), **{**arguments, "help": f"same as {SHORT[short]}"})
        else:
            config.stash.setdefault(_NAMES_TAKEN, []).append(short)


_NAMES_TAKEN = pytest.StashKey[list[str]]()


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    if config.option.drift_slate is None and config.option.drift_model is None:
        config.option.drift_model = config.getini("drift_model") or None
    if config.option.drift_slate is not None:
        from pytest_clinical_drift.ranking.items import SlatePlugin

        config.pluginmanager.register(SlatePlugin.from_config(config), _SLATE)
    elif config.option.drift_model is not None:
        from pytest_clinical_drift.gate.hooks import ActivePlugin  # heavy parts only when there is something to gate

        config.pluginmanager.register(ActivePlugin(config), _ACTIVE)
    elif given := _given_options(config.option):  # they were meant for us
        taken = "--model" in config.stash.get(_NAMES_TAKEN, [])
        why = " (this project's conftest defines --model itself)" if taken else ""
        raise pytest.UsageError(f"{given[0]} needs --drift-model SPEC{why}")


def _given_options(namespace: argparse.Namespace) -> list[str]:
    """Our options on the command line, besides the model."""
    return [name for name, _, _ in OPTIONS[1:] if getattr(namespace, destination(name)) not in (None, [], False)]


def pytest_report_header(config: pytest.Config) -> str | None:
    spec = getattr(config.option, "model", None)
    prefixes = ("control:", "replay:", "server:", "hf:", "python:")
    if "--model" in config.stash.get(_NAMES_TAKEN, []) and isinstance(spec, str) and spec.startswith(prefixes):
        return "clinical-drift: --model belongs to this project's conftest; use --drift-model to gate a model"
    return None


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "drift_case" not in metafunc.fixturenames:
        return
    if (active := metafunc.config.pluginmanager.get_plugin(_ACTIVE)) is not None:
        metafunc.parametrize("drift_case", active.parameters(), scope="session")
    else:
        skipped = pytest.param(None, id="no-model", marks=pytest.mark.skip(reason=_NEEDS_MODEL))
        metafunc.parametrize("drift_case", [skipped], scope="session")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reasons = [getattr(report, "longrepr", None) for report in terminalreporter.stats.get("skipped", ())]
    if count := sum(isinstance(why, tuple) and why[-1] == f"Skipped: {_NEEDS_MODEL}" for why in reasons):
        which = "1 test was skipped: it needs" if count == 1 else f"{count} tests were skipped: they need"
        terminalreporter.write_line(f"clinical-drift: {which} --model SPEC", yellow=True)


@pytest.fixture(scope="session")
def drift_case() -> None:
    """A case of the set; tests that ask for it run once per case (pytest_generate_tests gives the value)."""


@pytest.fixture(scope="session")
def drift_result(request: pytest.FixtureRequest, drift_case: Case) -> DriftResult:
    """The conversation on `drift_case` with its assessment and verdict; an error where it could not be held."""
    active: Any = request.config.pluginmanager.get_plugin(_ACTIVE)  # there, or the test was skipped
    result: DriftResult = active.result(drift_case.id).finished()
    return result
