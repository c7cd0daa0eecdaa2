"""A project's own figures: what its `pytest_clinical_drift_score` hooks say of a conversation."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

import pytest

from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.transcript import Transcript

HOOK = "pytest_clinical_drift_score"
PREFIX = "own."
"""Before the name of every such figure, so that it can never be taken for one of ours."""


Scores = tuple[tuple[str, float | None], ...]


def own_scores(config: pytest.Config, case: Case, transcript: Transcript) -> Scores:
    """Put a conversation to every scorer of the project; bad figures are told in a sentence."""
    found: dict[str, float | None] = {}
    for given in config.hook.pytest_clinical_drift_score(case=case, transcript=transcript):
        if not isinstance(given, Mapping):
            raise InputError(f"{HOOK}: expected a mapping of names to figures, found {type(given).__name__}")
        for name, value in given.items():
            if not isinstance(name, str) or not re.fullmatch(r"\w+", name):
                raise InputError(f"{HOOK}: {name!r} is no name; write letters, digits and underscores")
            if PREFIX + name in found:
                raise InputError(f"{HOOK}: two scorers give the figure {name!r}")
            found[PREFIX + name] = None if value is None else _number(name, value)
    return tuple(found.items())


def _number(name: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise InputError(f"{HOOK}: {name} is {value!r}; expected a finite number, or None for nothing to measure")
    return number
