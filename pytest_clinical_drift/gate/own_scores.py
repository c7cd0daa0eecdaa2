"""A project's own figures: what its `pytest_clinical_drift_score` hooks say of a conversation."""

import math
import re
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.subjects.python import is_foreign
from pytest_clinical_drift.transcript import Transcript

HOOK = "pytest_clinical_drift_score"
PREFIX = "own."
"""Before the name of every such figure, so that it can never be taken for one of ours."""
Scores = tuple[tuple[str, float | None], ...]


class ScorerError(InputError):
    """A scorer of the project raised, or gave no figures; the run stops, and its replies stay for the next."""


def own_scores(config: pytest.Config, case: Case, transcript: Transcript) -> Scores:
    """Put a conversation to every scorer of the project; what it raises and bad figures are told in a sentence."""
    try:
        return _figures(config.hook.pytest_clinical_drift_score(case=case, transcript=transcript))
    except InputError as error:
        message = str(error)
    except Exception as error:  # the project's own code may raise anything
        frames = [f for f in traceback.extract_tb(error.__traceback__) if not is_foreign(Path(f.filename))]
        place = f" ({frames[-1].filename}:{frames[-1].lineno})" if frames else ""
        message = f"{type(error).__name__}: {error}{place}"
    raise ScorerError(f"{HOOK} on {case.id}: {message}")


def stop_after_scorer(config: pytest.Config, error: InputError) -> BaseException:
    """What fails the test in that sentence; the run stops, as every other case would say the same. Workers go on."""
    session: Any = config.pluginmanager.get_plugin("session")
    if not hasattr(config, "workerinput"):
        session.shouldfail = "a scorer of the project cannot be used"
    return pytest.fail.Exception(str(error), pytrace=False)


def _figures(returned: list[Any]) -> Scores:
    figures: dict[str, float | None] = {}
    for given in returned:
        if not isinstance(given, Mapping):
            raise InputError(f"expected a mapping of names to figures, found {type(given).__name__}")
        for name, value in given.items():
            if not isinstance(name, str) or not re.fullmatch(r"\w+", name):
                raise InputError(f"{name!r} is not a valid name; write letters, digits and underscores")
            if PREFIX + name in figures:
                raise InputError(f"two scorers give the figure {name!r}")
            figures[PREFIX + name] = None if value is None else _number(name, value)
    return tuple(figures.items())


def _number(name: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise InputError(f"{name} is {value!r}; expected a finite number, or None for nothing to measure")
    return number
