"""`python:module:factory`: a function of one's own, from a question as a mapping to an answer as a mapping."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.judging.answers import KINDS, UNSURE, Answer
from pytest_clinical_drift.judging.protocol import Asked, Feed
from pytest_clinical_drift.judging.reading import read_answer
from pytest_clinical_drift.subjects.base import Identity, read_settings
from pytest_clinical_drift.subjects.python import call_factory, resolve

JudgeFunction = Callable[[dict[str, Any]], Mapping[str, Any] | Awaitable[Mapping[str, Any]]]
_OPTION = "--drift-judge"


class PythonJudge:
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

    def identity(self) -> Identity:
        revision = self._settings.get("revision")
        return Identity(self.name, revision, proven=revision is not None, settings=self._settings)

    def work(self, feed: Feed) -> None:
        function = self._load()
        while not feed.stopped:
            for asked in feed.take(1, wait=0.2):
                feed.deliver(asked, self._ask(function, asked))

    def close(self) -> None:
        self._function = None

    def _ask(self, function: JudgeFunction, asked: Asked) -> Answer:
        try:
            given: Any = function(asked.question.as_mapping(asked.wording))
            if inspect.isawaitable(given):
                given = asyncio.run(_result(given))
        except Exception as error:  # whatever the user's code raises is an outage of the judge, not of the run
            return Answer(UNSURE, failed=f"{type(error).__name__}: {error}"[:300])
        if not isinstance(given, Mapping):
            return Answer(UNSURE, failed=f"the function returned {type(given).__name__} instead of a mapping")
        return read_answer(asked.question, given)

    def _load(self) -> JudgeFunction:
        if self._function is None:
            made = call_factory(self.name, resolve(self.name, self._target, option=_OPTION), option=_OPTION)
            if not callable(made):
                raise InputError(f"{_OPTION} {self.name}: the factory returned no function")
            self._function = made
        return self._function


async def _result(answer: Awaitable[Any]) -> Any:
    return await answer
