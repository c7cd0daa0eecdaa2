"""The ledger: one line per run, never rewritten, so that rerunning until green is visible.

Each line carries the hash of the one before; a line taken out or changed breaks the chain, and the report says so.
"""

from __future__ import annotations

import datetime
import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from filelock import FileLock

from pytest_clinical_drift.report.page import text_lines
from pytest_clinical_drift.results.models import Manifest
from pytest_clinical_drift.verdict.states import Verdict

FILE_NAME = "ledger.jsonl"
_CANDIDATE = ("subject", "revision", "system_prompt")
_WATCHED = ("cases", "thresholds", "prompts", "settings")

Entry = Mapping[str, Any]


def record_run(folder: Path, manifest: Manifest, *, verdict: Verdict, selected: int, total: int) -> str:
    """Append the run and say which attempt it is; what cannot be written is said, never raised."""
    hashes = manifest.hashes
    entry = {
        "time": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "subject": manifest.model,
        "revision": manifest.revision,
        "system_prompt": hashes.system_prompt,
        "settings": _digest(json.dumps(dict(manifest.decoding), sort_keys=True, default=str)),
        "cases": hashes.cases,
        "thresholds": hashes.thresholds,
        "prompts": hashes.prompts,
        "judge": manifest.judge,
        "version": manifest.versions.get("pytest-clinical-drift"),
        "selected": selected,
        "total": total,
        "verdict": str(verdict),
    }
    path = folder / FILE_NAME
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / f".{FILE_NAME}.lock"), path.open("a+", encoding="utf-8", errors="replace") as file:
            file.seek(0)
            lines = file.read().splitlines()
            file.write(json.dumps({**entry, "previous": _digest(lines[-1]) if lines else None}) + "\n")
    except OSError as error:
        return f"attempt unknown: the ledger {path} cannot be written ({type(error).__name__})"
    return _sentence(entry, lines)


def _sentence(entry: Entry, lines: Sequence[str]) -> str:
    """Such as "attempt 4 of this candidate (before: FAIL, FAIL, CAUTION)"; runs of a subset do not count."""
    entries = [_parse(line) for line in lines]
    mine = [line for line in entries if line and all(line.get(key) == entry[key] for key in _CANDIDATE)]
    earlier = [line for line in mine if line.get("verdict") != Verdict.PARTIAL]
    chain = [None, *map(_digest, lines)]
    (sentence,) = text_lines(
        "gate.txt.j2",
        "attempt",
        number=0 if entry["verdict"] == Verdict.PARTIAL else len(earlier) + 1,
        earlier=[str(line.get("verdict")) for line in earlier],
        subsets=len(mine) - len(earlier),
        changed=[f"the {key}" for key in _WATCHED if earlier and earlier[-1].get(key) != entry[key]],
        altered=any(line is None or line.get("previous") != last for line, last in zip(entries, chain, strict=False)),
    )
    return sentence


def _parse(line: str) -> dict[str, Any] | None:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return entry if isinstance(entry, dict) else None


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
