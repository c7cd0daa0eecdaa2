"""`python:module:factory`: any callable that takes chat messages and returns text."""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..cases import Case
from ..errors import InputError
from ..transcript import Reply
from .base import Identity, Request, read_settings

ChatCallable = Callable[[list[dict[str, str]]], str]


class PythonSubject:
    """Calls the user's function once per request, one after the other."""

    exclusive = False

    def __init__(self, target: str, settings: Mapping[str, str]) -> None:
        self.spec = f"python:{target}"
        self._target = target
        self._settings = read_settings(self.spec, settings, {"revision": str})
        self._chat: ChatCallable | None = None

    def check(self, cases: Sequence[Case]) -> list[str]:
        self._load()
        return []

    def identity(self) -> Identity:
        revision = self._settings.get("revision")
        return Identity(self.spec, revision, proven=revision is not None, settings=self._settings)

    def respond(self, requests: Sequence[Request]) -> list[Reply]:
        chat = self._load()
        return [self._ask(chat, request) for request in requests]

    def close(self) -> None:
        self._chat = None

    def _ask(self, chat: ChatCallable, request: Request) -> Reply:
        started = time.perf_counter()
        try:
            answer: Any = chat([message.as_dict() for message in request.messages])
        except Exception as error:  # whatever the user's code raises is an outage of the subject, not of the run
            return Reply("", error=f"{type(error).__name__}: {error}"[:300])
        seconds = time.perf_counter() - started
        if not isinstance(answer, str):
            return Reply("", error=f"the function returned {type(answer).__name__} instead of str")
        return Reply(answer, seconds=seconds)

    def _load(self) -> ChatCallable:
        if self._chat is None:
            self._chat = _call_factory(self.spec, _resolve(self.spec, self._target))
        return self._chat


def _resolve(spec: str, target: str) -> Callable[[], Any]:
    module_name, colon, factory_name = target.rpartition(":")
    if not colon or not module_name or not factory_name:
        raise InputError(f"--model {spec}: write python:module:factory, for example python:my_model:make")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        factory = getattr(importlib.import_module(module_name), factory_name)
    except ImportError as error:
        raise InputError(f"--model {spec}: cannot import {module_name} ({error})") from None
    except AttributeError:
        raise InputError(f"--model {spec}: the module {module_name} has no {factory_name}") from None
    except Exception as error:
        raise InputError(f"--model {spec}: importing {module_name} raised {type(error).__name__}: {error}") from None
    if not callable(factory):
        raise InputError(f"--model {spec}: {factory_name} is not callable; it must return the chat function")
    resolved: Callable[[], Any] = factory
    return resolved


def _call_factory(spec: str, factory: Callable[[], Any]) -> ChatCallable:
    try:
        chat = factory()
    except Exception as error:
        raise InputError(f"--model {spec}: the factory raised {type(error).__name__}: {error}") from None
    if not callable(chat):
        raise InputError(f"--model {spec}: the factory returned {type(chat).__name__}, not a function of the messages")
    resolved: ChatCallable = chat
    return resolved
