"""The ledger: one line per run, never rewritten, so that rerunning until green is visible.

Each line carries the hash of the one before; a line taken out or changed breaks the chain, and the report says so.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FILE_NAME = "ledger.jsonl"
_CANDIDATE = ("subject", "revision", "system_prompt")
_WATCHED = {"cases": "the cases", "thresholds": "the thresholds", "prompts": "the prompts", "settings": "the settings"}


@dataclass(frozen=True, slots=True)
class Attempt:
    """Where this run stands among the runs of the same candidate."""

    number: int
    """1 for the first; runs of a subset do not count."""
    earlier: tuple[str, ...]
    """Verdicts of the attempts before, the oldest first."""
    partial: int
    """Runs of a subset before this one."""
    changed: tuple[str, ...]
    """What differs from the attempt before."""
    altered: bool
    """A line of the ledger was changed or taken out."""
    problem: str = ""
    """Why this run could not be written down; empty when it was."""


def ledger_entry(manifest: Mapping[str, Any], *, verdict: str, selected: int, total: int) -> dict[str, Any]:
    """The line of a run, from the manifest of its results file."""
    hashes = manifest["hashes"]
    return {
        "subject": manifest["model"],
        "revision": manifest["revision"],
        "system_prompt": hashes.get("system_prompt"),
        "settings": _digest(json.dumps(manifest.get("decoding", {}), sort_keys=True, default=str)),
        "cases": hashes["cases"],
        "thresholds": hashes["thresholds"],
        "prompts": hashes["prompts"],
        "judge": manifest["judge"],
        "version": manifest.get("versions", {}).get("pytest-clinical-drift"),
        "selected": selected,
        "total": total,
        "verdict": verdict,
    }


def record_run(folder: Path, entry: Mapping[str, Any], *, now: datetime.datetime | None = None) -> Attempt:
    """Append the run and tell which attempt it is; a folder that cannot be written is told, never raised."""
    time = (now or datetime.datetime.now(datetime.UTC)).isoformat(timespec="seconds")
    path = folder / FILE_NAME
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _locked(path) as handle:
            lines = os.read(handle, os.fstat(handle).st_size).decode("utf-8", "replace").splitlines()
            line = json.dumps({"time": time, **entry, "previous": _digest(lines[-1]) if lines else None})
            os.write(handle, f"{line}\n".encode())
    except OSError as error:
        return _attempt([], entry, problem=f"the ledger {path} cannot be written ({type(error).__name__})")
    return _attempt(lines, entry)


@contextmanager
def _locked(path: Path) -> Iterator[int]:
    """The file, opened for reading and appending, held against another run that ends at the same moment."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        try:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX)
        except ImportError:  # Windows: appending one short line is atomic enough
            pass
        yield handle
    finally:
        os.close(handle)


def _attempt(lines: list[str], entry: Mapping[str, Any], problem: str = "") -> Attempt:
    earlier: list[dict[str, Any]] = []
    partial, altered, previous = 0, False, None
    for line in lines:
        found = _parse(line)
        altered = altered or found is None or found.get("previous") != previous
        previous = _digest(line)
        if found is None or any(found.get(key) != entry.get(key) for key in _CANDIDATE):
            continue
        if found.get("verdict") == "PARTIAL":
            partial += 1
        else:
            earlier.append(found)
    changed = [name for key, name in _WATCHED.items() if earlier and earlier[-1].get(key) != entry.get(key)]
    return Attempt(
        number=len(earlier) + 1,
        earlier=tuple(str(found.get("verdict")) for found in earlier),
        partial=partial,
        changed=tuple(changed),
        altered=altered,
        problem=problem,
    )


def _parse(line: str) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def attempt_text(attempt: Attempt, verdict: str) -> str:
    """One sentence, such as "attempt 4 of this candidate (before: FAIL, FAIL, CAUTION)"."""
    if attempt.problem:
        return f"attempt unknown: {attempt.problem}"
    name = "subset run, no attempt" if verdict == "PARTIAL" else f"attempt {attempt.number}"
    text = f"{name} of this candidate"
    if attempt.earlier:
        shown = attempt.earlier[-6:]
        more = "…, " if len(attempt.earlier) > len(shown) else ""
        text += f" (before: {more}{', '.join(shown)})"
    if attempt.partial:
        text += f"; {attempt.partial} subset {'run' if attempt.partial == 1 else 'runs'} before"
    if attempt.changed:
        text += f"; {' and '.join(attempt.changed)} changed since the last attempt"
    if attempt.altered:
        text += "; the ledger was altered: a line was changed or taken out"
    return text
