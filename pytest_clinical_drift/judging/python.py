"""`python:module:factory`: a function of one's own, from a question or reading to an answer, both mappings."""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

from pytest_clinical_drift.core.log import Answer
from pytest_clinical_drift.judging.protocol import EVERYTHING, Feed, JudgeRequest, OneByOne
from pytest_clinical_drift.subjects.base import Identity, declared_settings
from pytest_clinical_drift.subjects.python import OwnLoop, imported_code, make

JudgeFunction = Callable[[dict[str, Any]], Mapping[str, Any] | Awaitable[Mapping[str, Any]]]


class PythonJudge(OneByOne):
    """Calls the user's function once per question or reading and wording."""

    kinds = EVERYTHING

    def __init__(self, target: str, settings: Mapping[str, str]) -> None:
        self.name = f"python:{target}"
        self._target = target
        self._settings = declared_settings(self.name, settings, {"revision": str}, option="--drift-judge-set")
        self._loop = OwnLoop()

    @cached_property
    def _loaded(self) -> tuple[JudgeFunction, str]:
        """The function, and the hash of its code."""
        function = make(self.name, self._target, option="--drift-judge")
        return function, imported_code(self._target.rpartition(":")[0])

    def check(self) -> list[str]:
        self.identity()  # loads the function
        return []

    def identity(self) -> Identity:
        """Other code is another judge: neither its stored answers nor its calibration count."""
        return replace(super().identity(), settings={**self._settings, "code": self._loaded[1]})

    def work(self, feed: Feed) -> None:
        try:
            super().work(feed)
        finally:
            self._loop.close()

    def answer(self, asked: JudgeRequest) -> Answer:
        given = self._loop.result(self._loaded[0](asked.item.as_mapping(asked.wording)))
        if not isinstance(given, Mapping):
            return asked.fail(f"the function returned {type(given).__name__} instead of a mapping", outage=False)
        # as JSON carries it, so that it can be stored; anything else becomes text
        return asked.answer(json.loads(json.dumps(dict(given), default=str)))
