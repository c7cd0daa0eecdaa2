"""`python:module:factory`: any callable that takes chat messages and returns text, at once or when awaited."""

import ast
import asyncio
import hashlib
import importlib.util
import inspect
import sys
import sysconfig
import time
import traceback
import uuid
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.errors import Failure, FailureCode, InputError, failure
from pytest_clinical_drift.subjects.base import ConcurrentSubject, Identity, Request, declared_settings
from pytest_clinical_drift.subjects.limits import CaseClock
from pytest_clinical_drift.transcript import Reply

_KNOWN: dict[str, type] = {"revision": str, "timeout": float, "deadline": float, "concurrency": int}
_LIMITS = {"timeout": 180.0, "deadline": 1800.0, "concurrency": 8}
_LEAST = {"timeout": 0.01, "deadline": 0.01, "concurrency": 1}
_MOST_FRAMES = 8
"""Of the user's traceback, the innermost."""


class PythonSubject(ConcurrentSubject):
    """A function of the project; one that is async is asked several things at a time."""

    def __init__(self, target: str, settings: Mapping[str, str]) -> None:
        self.spec = f"python:{target}"
        self._target = target
        self._settings = declared_settings(self.spec, settings, _KNOWN, least=_LEAST)
        self._limits = {**_LIMITS, **self._settings}
        self._places = asyncio.Semaphore(self._limits["concurrency"])
        self._clocks: dict[tuple[str, int], CaseClock] = {}
        self._records: dict[str, str] = {}
        self._run = uuid.uuid4().hex[:12]
        """Part of every session's name: an application never takes two runs for one conversation."""
        self._loop = OwnLoop()

    @cached_property
    def _chat(self) -> Callable[..., Any]:
        made: Callable[..., Any] = make(self.spec, self._target)
        return made

    @cached_property
    def _code(self) -> str:
        _ = self._chat  # which puts the user's folder on the path
        return imported_code(self._target.rpartition(":")[0])

    @cached_property
    def _is_async(self) -> bool:
        return any(map(inspect.iscoroutinefunction, (self._chat, getattr(self._chat, "__call__", None))))  # noqa: B004

    @cached_property
    def stateful(self) -> bool:
        """A function that takes `context` may keep the conversation in mind by its session."""
        return "context" in inspect.signature(self._chat).parameters

    def check(self, cases: Sequence[Case]) -> list[str]:
        self._records = {case.id: case.patient_summary for case in cases}
        if not self._is_async and (given := sorted(self._settings.keys() & _LIMITS.keys())):
            raise InputError(
                f"--drift-set {given[0]}: only async functions have it, and {self.spec} returns a plain one"
            )
        return []

    def identity(self) -> Identity:
        """Other code in the project is another model: a run that was broken off is not resumed with it."""
        revision, code = self._settings.get("revision"), {"code": self._code}
        settings = {"revision": revision} if revision is not None else {}
        return Identity(self.spec, revision, proven=revision is not None, settings=settings, server=code)

    def close(self) -> None:
        vars(self).pop("_chat", None)  # which may hold a model
        self._loop.close()

    @property
    def slots(self) -> int | None:
        """A function with a state gets one request of a conversation at a time, in its order; a plain one any one."""
        if not self._is_async:
            return 0
        slots: int = self._limits["concurrency"]
        return slots if self.stateful else None

    def respond(self, request: Request) -> Reply:
        started = time.perf_counter()
        try:
            return answered(self._loop.result(self._call(request)), started)
        except Exception as error:  # whatever the user's code raises is an outage of the subject, not of the run
            return failed(error)

    async def ask(self, request: Request) -> Reply:
        """With the time limits that servers have."""
        clock = self._clocks.setdefault((request.case_id, request.repeat), CaseClock(self._limits["deadline"]))
        async with self._places:
            started, patience = time.perf_counter(), min(self._limits["timeout"], clock.left())
            if (refused := request.refusal()) is not None:
                return Reply("", error=refused)
            if patience <= 0:
                return Reply("", error=failure(FailureCode.DEADLINE, seconds=self._limits["deadline"]))
            limit = asyncio.timeout(patience)
            try:
                with clock:
                    async with limit:
                        answer = await self._call(request)
            except Exception as error:  # as above
                if limit.expired():
                    return Reply("", error=failure(FailureCode.TOO_SLOW, seconds=patience))
                return failed(error)
            return answered(answer, started)

    def _call(self, request: Request) -> Any:
        """What the function returns for a request: its answer, or what has to be awaited for it."""
        messages = [message.as_dict() for message in request.messages]
        if not self.stateful:
            return self._chat(messages)
        context = {
            "case_id": request.case_id,
            "repeat": request.repeat,
            "turn": request.turn,
            "session": f"{self._run}/{request.case_id}/{request.repeat}",
            "probe": request.purpose != "dialogue",
            "record": self._records.get(request.case_id, request.record),
        }
        return self._chat(messages, context=context)


def answered(answer: Any, started: float) -> Reply:
    """A text as a reply; anything else is an outage."""
    if not isinstance(answer, str):
        return Reply("", error=failure(FailureCode.WRONG_TYPE, type=type(answer).__name__))
    return Reply(answer, seconds=time.perf_counter() - started)


def failed(error: Exception) -> Reply:
    """What the user's code raised, with the way through that code to it, a line per frame."""
    first, *more = f"{type(error).__name__}: {error}"[:300].split("\n")
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if f.filename != __file__ and "asyncio" not in Path(f.filename).parts]
    way = "".join(traceback.format_list(own[-_MOST_FRAMES:])).rstrip().split("\n") if own else []
    trace = "".join(f"\n{line}" for line in (*more, *way))
    return Reply("", error=Failure(FailureCode.RAISED, {"error": first}, trace=trace))


def is_foreign(file: Path) -> bool:
    """Whether a source file is Python's, an installed package's or ours, and not of the user's project."""
    installed = not {"site-packages", "dist-packages"}.isdisjoint(file.parts)
    folders = (sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"), str(Path(__file__).parents[1]))
    return installed or any(file.is_relative_to(Path(folder).resolve()) for folder in folders)


def imported_code(factory: str) -> str:
    """Hash of a module and of the project's modules that it imports, directly or not.

    The same whatever else is loaded, so that a judge's calibration made by itself holds in a run beside a subject and
    tests. Modules that are named in a string, data files and environment variables cannot be seen.
    """
    waiting, known, foreign = deque([factory]), dict[str, str](), set[str]()
    while waiting:
        name = waiting.popleft()
        top = name.partition(".")[0]
        if name in known or top in foreign or (file := _file_of(name)) is None:
            continue
        if is_foreign(file) and top != factory.partition(".")[0]:
            foreign.add(name)  # what lies in it is not looked up, which would import it
            continue
        source = file.read_bytes()
        known[name] = hashlib.sha256(source).hexdigest()
        waiting += _imported(source, name if file.name == "__init__.py" else name.rpartition(".")[0])
    return hashlib.sha256("\n".join(f"{name} {known[name]}" for name in sorted(known)).encode()).hexdigest()


def _file_of(name: str) -> Path | None:
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, AttributeError, ValueError):  # a name of the module, not a module; one made by hand
        return None
    file = Path(spec.origin).resolve() if spec is not None and spec.has_location and spec.origin else None
    return file if file is not None and file.suffix == ".py" and file.is_file() else None


def _imported(source: bytes, package: str) -> Iterator[str]:
    """Names that may be modules, of every import statement, with the packages that they lie in."""
    for node in ast.walk(ast.parse(source)):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            above = package.rsplit(".", node.level - 1)[0] if node.level else ""
            base = ".".join(filter(None, (above, node.module)))
            names = [base, *(f"{base}.{alias.name}" for alias in node.names)]
        for name in names:
            parts = name.split(".")
            yield from (".".join(parts[:count]) for count in range(1, len(parts) + 1))


class OwnLoop:
    """One event loop for a whole run, because clients of servers belong to theirs."""

    def __init__(self) -> None:
        self._runner = asyncio.Runner()  # makes its loop when it is needed

    def result(self, answer: Any) -> Any:
        """What a function returned, awaited where it has to be."""
        if not inspect.isawaitable(answer):
            return answer

        async def awaited() -> Any:
            return await answer  # in the runner's context, which keeps what earlier calls have set

        return self._runner.run(awaited())

    def close(self) -> None:
        self._runner.close()
        self._runner = asyncio.Runner()


def make(spec: str, target: str, *, option: str = "--model", wanted: Sequence[str] = ("__call__",)) -> Any:
    """What the factory makes that `module:factory` names: an object with these methods, a function unless told."""
    module_name, colon, factory_name = target.rpartition(":")
    if not colon or not module_name or not factory_name:
        raise InputError(f"{option} {spec}: write python:module:factory, for example python:my_model:make")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        factory = getattr(importlib.import_module(module_name), factory_name, None)
    except (Exception, SystemExit) as error:  # the user's module may raise anything
        raise InputError(f"{option} {spec}: cannot import {module_name} ({type(error).__name__}: {error})") from None
    if factory is None:
        raise InputError(f"{option} {spec}: the module {module_name} has no {factory_name}")
    if not callable(factory):
        raise InputError(f"{option} {spec}: {factory_name} is not callable; it must return the chat function")
    try:
        made = factory()
    except (Exception, SystemExit) as error:
        raise InputError(f"{option} {spec}: the factory raised {type(error).__name__}: {error}") from None
    if not all(callable(getattr(made, name, None)) for name in wanted):
        lack = "which lacks " + " and ".join(wanted) if "__call__" not in wanted else "not a function of the messages"
        raise InputError(f"{option} {spec}: the factory returned {type(made).__name__}, {lack}")
    return made
