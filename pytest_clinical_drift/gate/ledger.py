"""The ledger: one line per run, never rewritten, so that rerunning until green is visible."""

import datetime
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from filelock import FileLock

from pytest_clinical_drift.report.page import text_lines
from pytest_clinical_drift.results.manifest import Manifest
from pytest_clinical_drift.results.releases import Attempts, InstrumentCheck
from pytest_clinical_drift.subjects.control import CONTROLS
from pytest_clinical_drift.verdict.states import Verdict
from pytest_clinical_drift.versions import PACKAGE

FILE_NAME = "ledger.jsonl"
_CANDIDATE = ("subject", "revision", "system_prompt")
_MERGED = ("merged", "verdict", "version")
_WATCHED = ("cases", "thresholds", "prompts", "settings", "judge")

_VERDICTS, _UNKNOWN = frozenset(map(str, Verdict)), "unknown"

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
        "version": manifest.versions.get(PACKAGE),
        "selected": selected,
        "total": total,
        "verdict": str(verdict),
        "merged": sorted(shard.run for shard in manifest.merged_from),
    }
    path = folder / FILE_NAME
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / f".{FILE_NAME}.lock"), path.open("a+", encoding="utf-8", errors="replace") as file:
            file.seek(0)
            lines = file.read().splitlines()
            known = [_parse(line) or {} for line in lines]
            again = [all(one.get(key) == entry[key] for key in _MERGED) for one in known]
            if entry["merged"] and any(again):  # these shards were merged before, with the same end: the same attempt
                lines = lines[: again.index(True)]
            else:
                file.write(json.dumps(entry) + "\n")
    except OSError as error:
        return f"attempt unknown: the ledger {path} cannot be written ({type(error).__name__})"
    return _sentence(entry, lines)


def _sentence(entry: Entry, lines: Sequence[str]) -> str:
    """Such as "attempt 4 of this candidate (before: FAIL, FAIL, CAUTION)"; runs of a subset do not count."""
    mine, earlier = _runs_of(entry, lines)
    (sentence,) = text_lines(
        "run_lines.txt.j2",
        "attempt",
        number=0 if entry["verdict"] == Verdict.PARTIAL else len(earlier) + 1,
        earlier=[_verdict(line) for line in earlier],
        subsets=len(mine) - len(earlier),
        changed=[f"the {key}" for key in _WATCHED if earlier and earlier[-1].get(key) != entry[key]],
    )
    return sentence


def _runs_of(candidate: Entry, lines: Sequence[str]) -> tuple[list[Entry], list[Entry]]:
    """All runs of a candidate, and those over the full set."""
    entries = filter(None, map(_parse, lines))
    mine: list[Entry] = [entry for entry in entries if all(entry.get(key) == candidate[key] for key in _CANDIDATE)]
    return mine, [entry for entry in mine if entry.get("verdict") != Verdict.PARTIAL]


def ledger_above(place: Path) -> Path | None:
    """The folder of results whose ledger tells of the run at a place below it."""
    return next((folder for folder in place.resolve().parents if (folder / FILE_NAME).is_file()), None)


def attempts_of(folder: Path, manifest: Manifest) -> Attempts:
    """All runs of this candidate."""
    lines = _lines(folder)
    candidate = dict(zip(_CANDIDATE, (manifest.model, manifest.revision, manifest.hashes.system_prompt), strict=True))
    mine, whole = _runs_of(candidate, lines)
    same_model = sum(entry.get("subject") == manifest.model for entry in filter(None, map(_parse, lines)))
    return Attempts(
        verdicts=tuple((_day(entry), _verdict(entry)) for entry in whole),
        subsets=len(mine) - len(whole),
        others=same_model - len(mine),
    )


def controls_of(folder: Path, manifest: Manifest) -> InstrumentCheck | None:
    """The newest run of each control with this version, these cases and these limits; None where none was run."""
    wanted = {
        "version": manifest.versions.get(PACKAGE),
        "cases": manifest.hashes.cases,
        "thresholds": manifest.hashes.thresholds,
    }
    got: dict[str, str] = {}
    for entry in filter(None, map(_parse, _lines(folder))):
        kind, _, name = str(entry.get("subject")).partition(":")
        same = all(entry.get(key) == value for key, value in wanted.items())
        if kind == "control" and same and entry.get("verdict") != Verdict.PARTIAL:
            got[name] = _verdict(entry)
    right = [name for name, verdict in got.items() if verdict == (Verdict.PASS if name == "steady" else Verdict.FAIL)]
    wrong = tuple(sorted(got.keys() - set(right)))
    return InstrumentCheck(len(right), wrong, len(CONTROLS)) if got else None


def _lines(folder: Path) -> list[str]:
    return (folder / FILE_NAME).read_text(encoding="utf-8", errors="replace").splitlines()


def _parse(line: str) -> dict[str, Any] | None:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return entry if isinstance(entry, dict) else None


def _verdict(entry: Entry) -> str:
    """A ledger that somebody edited may hold anything; what is no verdict of ours is not shown."""
    given = entry.get("verdict")
    return given if isinstance(given, str) and given in _VERDICTS else _UNKNOWN


def _day(entry: Entry) -> str:
    given = str(entry.get("time"))[:10]
    return given if re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", given) else _UNKNOWN


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
