"""`python:module:factory`: a function of one's own, from a question or reading to an answer, both mappings."""

import ast
import hashlib
import importlib.util
import json
from collections.abc import Awaitable, Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pytest_clinical_drift.judging.entries import ReadingAnswer
from pytest_clinical_drift.judging.protocol import EVERYTHING, Ask, Feed, Given, OneByOne
from pytest_clinical_drift.judging.quotes import check_answer
from pytest_clinical_drift.judging.readings import Reading
from pytest_clinical_drift.subjects.base import Identity, typed_settings
from pytest_clinical_drift.subjects.python import OwnLoop, is_foreign, make

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


def imported_code(factory: str) -> str:
    """Hash of a module and of the project's modules that it imports, directly or not.

    The same whatever else is loaded, so that a calibration made by itself holds in a run beside a subject and tests.
    Data files and environment variables cannot be seen.
    """
    waiting, known = [factory], dict[str, str]()
    while waiting:
        name = waiting.pop()
        file = _file_of(name)
        if name in known or file is None or (is_foreign(file) and name != factory):
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
            above = ".".join(package.split(".")[: len(package.split(".")) - node.level + 1]) if node.level else ""
            base = ".".join(filter(None, (above, node.module)))
            names = [base, *(f"{base}.{alias.name}" for alias in node.names)]
        for name in names:
            parts = name.split(".")
            yield from (".".join(parts[:count]) for count in range(1, len(parts) + 1))


def plain(given: Mapping[str, Any]) -> dict[str, Any]:
    """An answer as JSON would carry it, so that it can be stored; what JSON cannot carry becomes text."""
    copied: dict[str, Any] = json.loads(json.dumps(given, default=str))
    return copied
