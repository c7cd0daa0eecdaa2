"""`python:module:factory`: a function of one's own, from a question as a mapping to an answer as a mapping."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from pytest_clinical_drift.judging.answers import KINDS, UNSURE, Answer
from pytest_clinical_drift.judging.protocol import Asked, OneByOne
from pytest_clinical_drift.judging.reading import read_answer
from pytest_clinical_drift.subjects.base import read_settings
from pytest_clinical_drift.subjects.python import awaited, make

JudgeFunction = Callable[[dict[str, Any]], Mapping[str, Any] | Awaitable[Mapping[str, Any]]]


class PythonJudge(OneByOne):
    """Calls the user's function once per question and wording."""

    kinds = frozenset(KINDS)

    def __init__(self, target: str, settings: Mapping[str, str]) -> None:
        self.name = f"python:{target}"
        self._target = target
        self._settings = read_settings(self.name, settings, {"revision": str}, option="--drift-judge-set")
        self._function: JudgeFunction | None = None

    def check(self) -> list[str]:
        self._load()
        return []

    def answer(self, asked: Asked) -> Answer:
        given: Any = self._load()(asked.question.as_mapping(asked.wording))
        if inspect.isawaitable(given):
            given = asyncio.run(awaited(given))
        if not isinstance(given, Mapping):
            return Answer(UNSURE, failed=f"the function returned {type(given).__name__} instead of a mapping")
        return read_answer(asked.question, given)

    def _load(self) -> JudgeFunction:
        if self._function is None:
            self._function = make(self.name, self._target, option="--drift-judge")
        return self._function
