"""`control:NAME`: deterministic models of a failure, by which the tool itself is calibrated."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from importlib import metadata

from ..cases import Case
from ..errors import InputError
from ..transcript import Reply
from .base import Identity, Request, read_settings
from .controls.behaviours import BEHAVIOURS
from .controls.hearing import listen


class ControlSubject:
    """Answers from the messages alone, as a model would; knows no case, fact or expectation."""

    exclusive = False

    def __init__(self, target: str, settings: Mapping[str, str]) -> None:
        self.spec = f"control:{target}"
        if target not in BEHAVIOURS:
            raise InputError(f"--model {self.spec}: no such control; valid ones: {', '.join(BEHAVIOURS)}")
        self._behaviour = BEHAVIOURS[target]
        self._settings = read_settings(self.spec, settings, {})

    def check(self, cases: Sequence[Case]) -> list[str]:
        return []

    def identity(self) -> Identity:
        return Identity(self.spec, _version(), proven=True, settings=self._settings)

    def respond(self, requests: Sequence[Request]) -> list[Reply]:
        return [self._ask(request) for request in requests]

    def close(self) -> None:
        """Nothing is held between requests."""

    def _ask(self, request: Request) -> Reply:
        started = time.perf_counter()
        heard = listen(request.messages)
        speak = self._behaviour.summary if heard.summary_wanted else self._behaviour.reply
        return Reply(speak(heard), seconds=time.perf_counter() - started)


def _version() -> str:
    try:
        return metadata.version("pytest-clinical-drift")
    except metadata.PackageNotFoundError:  # a checkout on the path that was never installed
        return "unreleased"
