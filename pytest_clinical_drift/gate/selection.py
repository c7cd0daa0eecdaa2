"""Which cases a run needs: named on the command line, or asked for by the collected tests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.gate.items import STUDY, CaseItem
from pytest_clinical_drift.gate.run import GateRun


def cases_of(items: Iterable[pytest.Item], cases: Mapping[str, Case]) -> list[Case]:
    """The cases that these tests need: ours, and those of the project that ask for one."""
    wanted = set()
    for item in items:
        if isinstance(item, CaseItem):
            wanted.add(item.case_id)
        elif isinstance(case := getattr(getattr(item, "callspec", None), "params", {}).get("drift_case"), Case):
            wanted.add(case.id)
    return [case for case in cases.values() if case.id in wanted]


def take_selection(config: pytest.Config, run: GateRun) -> list[str] | None:
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
        return [case_id for case_id in dict.fromkeys(named) if case_id in run.chosen]
    return [] if paths else None


def _named_cases(argument: str, case_id: str, run: GateRun) -> list[str]:
    if not case_id:
        return list(run.cases)
    if case_id not in run.cases:
        raise InputError(f"{argument}: no case {case_id!r} in {run.cases_path}")
    return [case_id]
