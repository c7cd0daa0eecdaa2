"""Which cases a command line asks for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.gate.run import GateRun

STUDY = "study_c"
"""First part of every test id."""


def take_selection(config: Any, run: GateRun) -> list[str] | None:
    """Ids of the cases to collect, None for all.

    Our test ids among the arguments are taken out of pytest's paths: no file stands behind them.
    """
    named = list(getattr(config.option, "drift_selection", None) or [])
    paths = []
    explicit = config.args_source is config.ArgsSource.ARGS
    for argument in config.args if explicit else ():
        head, _, rest = argument.partition("/")
        if head == STUDY and not Path(argument).exists():
            named += _named_cases(argument, rest.partition("::")[0], run)
        else:
            paths.append(argument)
    config.args = paths
    config.option.drift_selection = named
    if named:
        return list(dict.fromkeys(named))
    return [] if paths else None


def _named_cases(argument: str, case_id: str, run: GateRun) -> list[str]:
    if not case_id:
        return list(run.cases)
    if case_id not in run.cases:
        raise InputError(f"{argument}: there is no case {case_id!r} in {run.cases_path}")
    return [case_id]


def names_case(nodeid: str, case_id: str) -> bool:
    """Whether a test id is that case's own, or one of a project's test that runs on it."""
    if nodeid.startswith(f"{STUDY}/{case_id}::"):
        return True
    parameters = nodeid.partition("[")[2].removesuffix("]")
    return f"-{case_id}-" in f"-{parameters}-"
