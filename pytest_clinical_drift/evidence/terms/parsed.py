"""Vocabulary files, parsed: reading 1 MB of YAML takes a third of a second, so the result is kept beside bytecode.

Kept where Python keeps what it compiles (`__pycache__`, or below PYTHONPYCACHEPREFIX), under a hash of the file's
content: another content is parsed anew. Nothing is kept with PYTHONDONTWRITEBYTECODE or where the folder is read-only.
"""

import contextlib
import hashlib
import marshal
import os
import sys
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any

import yaml

_LOADER: type[yaml.SafeLoader] | type[yaml.CSafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def parse(path: Path) -> Any:
    """The content of a YAML file."""
    content = path.read_bytes()
    kept = kept_beside(path, ".parsed")
    digest = hashlib.sha256(content).digest()
    with contextlib.suppress(OSError, ValueError, EOFError, TypeError):
        before = kept.read_bytes()
        if before[: len(digest)] == digest:
            return marshal.loads(before[len(digest) :])
    data = yaml.load(content, Loader=_LOADER)
    with contextlib.suppress(ValueError):  # a date, which YAML knows and marshal does not
        keep(kept, digest + marshal.dumps(data))
    return data


def kept_beside(path: Path, suffix: str) -> Path:
    """Where Python would keep what it makes of a file."""
    return Path(cache_from_source(str(path.with_suffix(".py")))).with_suffix(suffix)


def keep(kept: Path, content: bytes) -> None:
    """Write in one step, where Python may keep what it compiles; nothing is lost where it may not."""
    if sys.dont_write_bytecode:
        return
    with contextlib.suppress(OSError):
        kept.parent.mkdir(parents=True, exist_ok=True)
        written = kept.with_suffix(f".{os.getpid()}")
        written.write_bytes(content)
        written.replace(kept)
