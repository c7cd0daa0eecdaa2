"""Vocabulary files, parsed: reading 1 MB of YAML takes a third of a second, so the result is kept beside bytecode.

Kept where Python keeps what it compiles (`__pycache__`, or below PYTHONPYCACHEPREFIX), under a hash of the file's
content: another content is parsed anew. Nothing is kept with PYTHONDONTWRITEBYTECODE or where the folder is read-only.
"""

from __future__ import annotations

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
    kept = Path(cache_from_source(str(path.with_suffix(".py")))).with_suffix(".parsed")
    digest = hashlib.sha256(content).digest()
    with contextlib.suppress(OSError, ValueError, EOFError, TypeError):
        before = kept.read_bytes()
        if before[: len(digest)] == digest:
            return marshal.loads(before[len(digest) :])
    data = yaml.load(content, Loader=_LOADER)
    if not sys.dont_write_bytecode:
        with contextlib.suppress(OSError, ValueError):  # a date, which YAML knows and marshal does not
            kept.parent.mkdir(parents=True, exist_ok=True)
            written = kept.with_suffix(f".{os.getpid()}")
            written.write_bytes(digest + marshal.dumps(data))
            written.replace(kept)
    return data
