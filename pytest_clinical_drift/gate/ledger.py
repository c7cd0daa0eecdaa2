"""The ledger: one line per run, never rewritten, so that rerunning until green is visible."""

import datetime
import hashlib
import json
import re
from pathlib import Path
from typing import Any

from filelock import FileLock

from pytest_clinical_drift.report.run_lines import attempt_line
from pytest_clinical_drift.results.manifest import Manifest
from pytest_clinical_drift.results.models import RunResult
from pytest_clinical_drift.results.releases import Attempts, InstrumentCheck
from pytest_clinical_drift.subjects.control import CONTROLS
from pytest_clinical_drift.subjects.spec import plain_spec, same_model
from pytest_clinical_drift.verdict.reasons import Verdict
from pytest_clinical_drift.versions import PACKAGE

FILE_NAME = "ledger.jsonl"
_MERGED = ("merged", "verdict", "version")
_WATCHED = ("cases", "thresholds", "prompts", "settings", "judge")
_UNKNOWN = "unknown"

Entry = dict[str, Any]


def record_run(folder: Path, result: RunResult) -> str:
    """Append the run and say which attempt it is; what cannot be written is said, never raised."""
    manifest, verdict = result.manifest, result.verdict
    hashes, decoding = manifest.hashes, json.dumps(dict(manifest.decoding), sort_keys=True, default=str)
    entry = {
        "time": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "subject": manifest.model,
        "revision": manifest.revision,
        "system_prompt": hashes.system_prompt,
        "settings": hashlib.sha256(decoding.encode()).hexdigest(),
        "cases": hashes.cases,
        "thresholds": hashes.thresholds,
        "prompts": hashes.prompts,
        "judge": manifest.judge,
        "version": manifest.versions.get(PACKAGE),
        "selected": result.cases_selected,
        "total": result.cases_total,
        "verdict": str(verdict),
        "merged": sorted(shard.run for shard in manifest.merged_from),
    }
    path = folder / FILE_NAME
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / f".{FILE_NAME}.lock"), path.open("a+", encoding="utf-8", errors="replace") as file:
            file.seek(0)
            before = _entries(file.read())
            again = [all(one.get(key) == entry[key] for key in _MERGED) for one in before]
            if entry["merged"] and any(again):  # these shards were merged before, with the same end: the same attempt
                before = before[: again.index(True)]
            else:
                file.write(json.dumps(entry) + "\n")
    except OSError as error:
        return f"attempt unknown: the ledger {path} cannot be written ({type(error).__name__})"
    mine, earlier = _runs_of(manifest, before)
    return attempt_line(
        number=None if verdict == Verdict.PARTIAL else len(earlier) + 1,  # runs of a subset do not count
        earlier=[one["verdict"] for one in earlier],
        subsets=len(mine) - len(earlier),
        changed=[f"the {key}" for key in _WATCHED if earlier and earlier[-1].get(key) != entry[key]],
    )


def ledger_above(place: Path) -> Path | None:
    """The folder of results whose ledger tells of the run at a place below it."""
    return next((folder for folder in place.resolve().parents if (folder / FILE_NAME).is_file()), None)


def attempts_and_controls(folder: Path, manifest: Manifest) -> tuple[Attempts, InstrumentCheck | None]:
    """All runs of this candidate; of controls, the newest run of each with this version, these cases and these limits
    (None where none was run)."""
    entries, hashes = _entries((folder / FILE_NAME).read_text(encoding="utf-8", errors="replace")), manifest.hashes
    mine, whole = _runs_of(manifest, entries)
    attempts = Attempts(
        verdicts=tuple((entry["day"], entry["verdict"]) for entry in whole),
        subsets=len(mine) - len(whole),
        others=sum(same_model(str(entry.get("subject")), manifest.model) for entry in entries) - len(mine),
    )
    wanted = {"version": manifest.versions.get(PACKAGE), "cases": hashes.cases, "thresholds": hashes.thresholds}
    got: dict[str, str] = {}
    for entry in entries:
        kind, _, name = str(entry.get("subject")).partition(":")
        same = all(entry.get(key) == value for key, value in wanted.items())
        if kind == "control" and same and entry["verdict"] != Verdict.PARTIAL:
            got[name] = entry["verdict"]
    wrong = [name for name, verdict in got.items() if verdict != (Verdict.PASS if name == "steady" else Verdict.FAIL)]
    return attempts, InstrumentCheck(len(got) - len(wrong), tuple(sorted(wrong)), len(CONTROLS)) if got else None


def _runs_of(manifest: Manifest, entries: list[Entry]) -> tuple[list[Entry], list[Entry]]:
    """All runs of a candidate, and those over the full set."""
    candidate = (plain_spec(manifest.model), manifest.revision, manifest.hashes.system_prompt)
    mine = [entry for entry in entries if _candidate_of(entry) == candidate]
    return mine, [entry for entry in mine if entry["verdict"] != Verdict.PARTIAL]


def _candidate_of(entry: Entry) -> tuple[object, ...]:
    """Who was tested: one server under two spellings of its address is one candidate."""
    return plain_spec(str(entry.get("subject"))), entry.get("revision"), entry.get("system_prompt")


def _entries(text: str) -> list[Entry]:
    """The runs of a ledger. Somebody may have edited it: anything but a verdict or day of ours is not shown."""
    entries = []
    for line in text.splitlines():
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(entry, dict):
            verdict, day = entry.get("verdict"), str(entry.get("time"))[:10]
            known = isinstance(verdict, str) and verdict in set(Verdict)
            dated = re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", day)
            entries.append({**entry, "verdict": verdict if known else _UNKNOWN, "day": day if dated else _UNKNOWN})
    return entries
