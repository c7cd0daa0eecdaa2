"""`python:module:factory`: a function of one's own, from a question or reading to an answer, both mappings."""

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from pytest_clinical_drift.judging.entries import ReadingAnswer
from pytest_clinical_drift.judging.protocol import EVERYTHING, Ask, Feed, Given, OneByOne
from pytest_clinical_drift.judging.questions import check_answer
from pytest_clinical_drift.judging.readings import Reading
from pytest_clinical_drift.subjects.base import Identity, typed_settings
from pytest_clinical_drift.subjects.python import OwnLoop, imported_code, make

JudgeFunction = Callable[[dict[str, Any]], Mapping[str, Any] | Awaitable[Mapping[str, Any]]]


class PythonJudge(OneByOne):
    """Calls the user's function once per question or reading and wording."""

    kinds = EVERYTHING

    def __init__(self, target: str, settings: Mapping[str, str]) -> None:
        self.name = f"python:{target}"
        self._target = target
        self._settings = typed_settings(self.name, settings, {"revision": str}, option="--drift-judge-set")
        self._function: JudgeFunction | None = None
        self._code = ""
        self._loop = OwnLoop()

    def check(self) -> list[str]:
        self._load()
        return []

    def identity(self) -> Identity:
        """Other code is another judge: neither its stored answers nor its calibration count."""
        self._load()
        revision = self._settings.get("revision")
        settings = {**self._settings, "code": self._code}
        return Identity(self.name, revision, proven=revision is not None, settings=settings)

    def work(self, feed: Feed) -> None:
        try:
            super().work(feed)
        finally:
            self._loop.close()

    def answer(self, asked: Ask) -> Given:
        given = self._loop.result(self._load()(asked.item.as_mapping(asked.wording)))
        if not isinstance(given, Mapping):
            return asked.fail(f"the function returned {type(given).__name__} instead of a mapping", outage=False)
        if isinstance(asked.item, Reading):
            return ReadingAnswer(plain(given))
        return check_answer(asked.item, given)

    def _load(self) -> JudgeFunction:
        if self._function is None:
            self._function = make(self.name, self._target, option="--drift-judge")
            self._code = imported_code(self._target.rpartition(":")[0])
        return self._function


def plain(given: Mapping[str, Any]) -> dict[str, Any]:
    """An answer as JSON would carry it, so that it can be stored; what JSON cannot carry becomes text."""
    copied: dict[str, Any] = json.loads(json.dumps(given, default=str))
    return copied
