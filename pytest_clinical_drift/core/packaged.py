"""Files that ship with the package: tables of words, prompts, templates, bundled cases and limits.

Reading 1 MB of YAML takes a third of a second, so parsed YAML is cached beside bytecode (`__pycache__`, or below
PYTHONPYCACHEPREFIX), under a hash of the file's content: another content is parsed anew. Nothing is cached with
PYTHONDONTWRITEBYTECODE or where the folder is read-only.
"""

import contextlib
import hashlib
import marshal
import os
import sys
from functools import cache
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any

import yaml

_LOADER: type[yaml.SafeLoader] | type[yaml.CSafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_PACKAGE = Path(__file__).resolve().parents[1]
_DATA = _PACKAGE / "data"


def data_file(name: str) -> Path:
    """A file of `data/`, by its path there."""
    return _DATA / name


def load_text(name: str) -> str:
    """The text of a file of `data/`, by its path there."""
    return data_file(name).read_text(encoding="utf-8")


@cache
def load_data(name: str) -> Any:
    """The content of a YAML file of `data/`, by its path there without the ending; callers do not change it."""
    return parse(data_file(f"{name}.yaml"))


def bundled(*parts: str) -> Path:
    """A file or folder that lies beside the package in a checkout, and inside it in a wheel."""
    inside = _PACKAGE.joinpath("bundled", *parts)
    if inside.exists():
        return inside
    return _PACKAGE.parent.joinpath(*parts)


def parse(path: Path) -> Any:
    """The content of a YAML file, from the cache if it has not changed."""
    content = path.read_bytes()
    cached = beside_bytecode(path, ".parsed")
    digest = hashlib.sha256(content).digest()
    with contextlib.suppress(OSError, ValueError, EOFError, TypeError):
        before = cached.read_bytes()
        if before[: len(digest)] == digest:
            return marshal.loads(before[len(digest) :])
    data = yaml.load(content, Loader=_LOADER)
    with contextlib.suppress(ValueError):  # a date, which YAML knows and marshal does not
        write_beside_bytecode(cached, digest + marshal.dumps(data))
    return data


def beside_bytecode(path: Path, suffix: str) -> Path:
    """Where Python would cache what it compiles of a file."""
    return Path(cache_from_source(str(path.with_suffix(".py")))).with_suffix(suffix)


def write_beside_bytecode(file: Path, content: bytes) -> None:
    """Write a cached file in one step, if Python may write bytecode there; otherwise do nothing."""
    if sys.dont_write_bytecode:
        return
    with contextlib.suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        draft = file.with_suffix(f".{os.getpid()}")
        draft.write_bytes(content)
        draft.replace(file)
