"""A project's own figures: what its `pytest_clinical_drift_score` hooks say of a conversation."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.transcript import Transcript

PREFIX = "own."
"""Before the name of every such figure, so that it can never be taken for one of ours."""

Scores = tuple[tuple[str, float | None], ...]


def ask_scorers(config: pytest.Config) -> Callable[[Case, Transcript], Scores]:
    """Put each conversation to every scorer of the project; bad figures are told in a sentence."""

    def ask(case: Case, transcript: Transcript) -> Scores:
        found: dict[str, float | None] = {}
        for given in config.hook.pytest_clinical_drift_score(case=case, transcript=transcript):
            for name, value in _read(given).items():
                if name in found:
                    raise InputError(f"pytest_clinical_drift_score: two scorers give the figure {name!r}")
                found[name] = value
        return tuple((f"{PREFIX}{name}", value) for name, value in found.items())

    return ask


def _read(given: Any) -> dict[str, float | None]:
    if not isinstance(given, Mapping):
        raise InputError(
            f"pytest_clinical_drift_score: expected a mapping of names to figures, found {type(given).__name__}"
        )
    figures: dict[str, float | None] = {}
    for name, value in given.items():
        if not isinstance(name, str) or not re.fullmatch(r"\w+", name):
            raise InputError(f"pytest_clinical_drift_score: {name!r} is no name; write letters, digits and underscores")
        figures[name] = None if value is None else _number(name, value)
    return figures


def _number(name: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = float("nan")
    if number != number or number in (float("inf"), float("-inf")):
        wanted = "a finite number, or None for nothing to measure"
        raise InputError(f"pytest_clinical_drift_score: {name} is {value!r}; expected {wanted}")
    return number
