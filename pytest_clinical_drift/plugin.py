"""The pytest plugin: options, and the few hooks that cost something only when a model is given."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator

    from .items import DriftResult

GROUP = "clinical-drift"
_ACTIVE = "clinical_drift_active"
_SLATE = "clinical_drift_slate"
_MODEL_HELP = "the model to gate: control:NAME, replay:PATH, server:MODEL@URL, hf:REPO_OR_PATH, python:module:factory"

# option, arguments of addoption, help of the ini key of the same name (None: not a thing a project sets once)
_OPTIONS: tuple[tuple[str, dict[str, Any], bool], ...] = (
    ("--drift-model", {"metavar": "SPEC", "help": _MODEL_HELP}, False),
    (
        "--drift-set",
        {"metavar": "KEY=VALUE", "action": "append", "default": [], "help": "a setting of the model"},
        False,
    ),
    ("--drift-system", {"metavar": "FILE", "help": "the deployed system prompt, part of the tested item"}, True),
    ("--drift-cases", {"metavar": "PATH", "help": "folder or file of cases (default: the bundled ones)"}, True),
    (
        "--drift-thresholds",
        {"metavar": "FILE", "help": "the gate (default: the root's thresholds.yaml, else ours)"},
        True,
    ),
    ("--drift-judge", {"metavar": "JUDGE", "help": "contradiction judge: rules (default) or nli[:MODEL]"}, True),
    ("--drift-ner", {"metavar": "NER", "help": "entity extractor: lexicon (default) or scispacy[:MODEL]"}, True),
    (
        "--drift-tier",
        {"metavar": "TIER", "help": "second look at long facts: none (default), nli[:MODEL], embedding[:MODEL]"},
        True,
    ),
    ("--drift-nli-stride", {"metavar": "N", "help": "judge every Nth adjacent pair of advice (1; 2 with nli)"}, True),
    ("--drift-results", {"metavar": "DIR", "help": "where results go, from rootdir (default: results/)"}, True),
    ("--drift-store", {"metavar": "FILE", "help": "replies already had (default: .clinical-drift/store.sqlite)"}, True),
    ("--drift-baseline", {"metavar": "FILE", "help": "earlier study_c_results.json to be no worse than"}, True),
    ("--drift-repeats", {"metavar": "N", "help": "conversations per case, for sampled decoding (default: 1)"}, True),
    ("--drift-strict", {"action": "store_true", "default": False, "help": "CAUTION fails too"}, False),
    ("--slate", {"metavar": "PATH", "help": "a frozen slate folder of a ranking model to gate"}, False),
)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup(GROUP, "clinical drift: gate a clinical language model")
    for name, arguments, has_ini in _OPTIONS:
        group.addoption(name, dest=_dest(name), **arguments)
        if has_ini:
            parser.addini(_dest(name), f"default of {name}")
    parser.addini("drift_embedder", "sentence-transformers model or folder for session goal alignment")
    parser.addini("drift_junit_properties", "write per-test properties into junit files", type="bool", default=True)


def _dest(option: str) -> str:
    return option.removeprefix("--").replace("-", "_")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_load_initial_conftests(
    early_config: pytest.Config, parser: pytest.Parser, args: list[str]
) -> Generator[None, Any, Any]:
    """With a model and no paths only the root's conftest is loaded: the project's test suite does not take part."""
    namespace = early_config.known_args_namespace
    spec, paths = _model_and_paths(args, namespace)
    asked_for = list(namespace.file_or_dir)
    if (spec is not None or namespace.slate is not None) and not paths:
        namespace.file_or_dir = [str(_conftest_anchor(early_config))]
    result = yield
    namespace.file_or_dir = asked_for
    _offer_short_name(early_config, parser)
    return result


def _model_and_paths(args: list[str], namespace: argparse.Namespace) -> tuple[str | None, list[str]]:
    """The model and the paths of the command line, while `--model` is not an option yet."""
    spec: str | None = namespace.drift_model
    value: str | None = None
    for position, argument in enumerate(args):
        if argument == "--model" and position + 1 < len(args):
            spec = value = args[position + 1]
        elif argument.startswith("--model="):
            spec = argument.partition("=")[2]
    paths = list(namespace.file_or_dir)
    if value in paths:
        paths.remove(value)
    return spec, paths


def _conftest_anchor(config: pytest.Config) -> Path:
    """A file whose folder's conftest may be loaded; a folder would bring in its test folders as well."""
    for folder in (config.invocation_params.dir, config.rootpath):
        if (folder / "conftest.py").is_file():
            return folder / "conftest.py"
    return Path(__file__)


def _offer_short_name(config: pytest.Config, parser: pytest.Parser) -> None:
    """Register `--model` only now that the project's own conftest has had the chance to use the name."""
    try:
        parser.getgroup(GROUP).addoption("--model", dest="drift_model", metavar="SPEC", help="same as --drift-model")
    except (ValueError, argparse.ArgumentError):
        config.stash[_NAME_TAKEN] = True


_NAME_TAKEN = pytest.StashKey[bool]()


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    if config.option.slate is not None:
        from .slate_items import SlatePlugin

        config.addinivalue_line("markers", "clinical_drift: a metric of the slate gate")
        config.pluginmanager.register(SlatePlugin.from_config(config), _SLATE)
        return
    if config.option.drift_model is None:
        _refuse_idle_options(config)
        return
    from .hooks import ActivePlugin  # heavy parts are imported only when there is something to gate

    config.addinivalue_line("markers", "clinical_drift: a case of the clinical drift gate")
    config.pluginmanager.register(ActivePlugin.from_config(config), _ACTIVE)


def _refuse_idle_options(config: pytest.Config) -> None:
    """Our options without a model were meant for us: say what is missing, and why `--model` did not reach us."""
    given = [name for name, _, _ in _OPTIONS[1:] if getattr(config.option, _dest(name)) not in (None, [], False)]
    if given:
        taken = " (this project's conftest defines --model itself)" if config.stash.get(_NAME_TAKEN, False) else ""
        raise pytest.UsageError(f"{given[0]} needs --drift-model SPEC{taken}")


def pytest_report_header(config: pytest.Config) -> str | None:
    spec = getattr(config.option, "model", None)
    prefixes = ("control:", "replay:", "server:", "hf:", "python:")
    if config.stash.get(_NAME_TAKEN, False) and isinstance(spec, str) and spec.startswith(prefixes):
        return "clinical-drift: --model belongs to this project's conftest; use --drift-model to gate a model"
    return None


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "drift_case" not in metafunc.fixturenames:
        return
    active = metafunc.config.pluginmanager.get_plugin(_ACTIVE)
    cases = list(active.run.cases.values()) if active else []
    metafunc.parametrize("drift_case", cases, ids=[case.id for case in cases], scope="session")


@pytest.fixture(scope="session")
def drift_case() -> None:
    """A case of the set; tests that ask for it run once per case (pytest_generate_tests gives the value)."""


@pytest.fixture(scope="session")
def drift_result(request: pytest.FixtureRequest, drift_case: Any) -> DriftResult:
    """The conversation on `drift_case` with its assessment and verdict."""
    active = request.config.pluginmanager.get_plugin(_ACTIVE)
    if active is None:
        pytest.skip("needs --model")
    result: DriftResult = active.result(drift_case.id)
    return result
