"""Files that users name: read with one sentence for each fault, written in one step."""

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from pytest_clinical_drift.errors import InputError


def read_text(file: Path) -> str:
    """The file's text; unreadable files are the user's error, not a traceback."""
    try:
        return file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{file}: not readable as UTF-8 text (byte {error.start})") from None
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({error.strerror or error})") from None


def numbered_lines(file: Path) -> Iterator[tuple[int, str]]:
    """The lines of a file that are not blank, with their numbers."""
    lines = enumerate(read_text(file).split("\n"), start=1)
    return ((number, line) for number, line in lines if line.strip())


def file_hash(file: Path) -> str:
    """SHA-256 of a file's content."""
    try:
        with file.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({error.strerror or error})") from None


def write_atomically(path: Path, text: str) -> Path:
    """Write a file in one step: a reader sees the old content or the whole new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        draft.write_text(text, encoding="utf-8")
        draft.replace(path)
    except (OSError, UnicodeError):
        draft.unlink(missing_ok=True)
        raise
    return path
