"""A signed decision on a run (`release.json`), and what a person who signs has to know beyond the run itself."""

import datetime
import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.metrics.intervals import proportion_interval
from pytest_clinical_drift.results.dossier_file import Sheet
from pytest_clinical_drift.results.files import RESULTS_FILE, read_record
from pytest_clinical_drift.results.manifest import Manifest, Record
from pytest_clinical_drift.results.models import SCHEMA_VERSION, RunResult
from pytest_clinical_drift.results.ssh_signatures import has_keygen, is_signed_by
from pytest_clinical_drift.verdict.states import WORST_FIRST, Verdict

RELEASE_FILE = "release.json"
Decision = Literal["accept", "accept-until", "reject"]
SignatureState = Literal["valid", "invalid", "not checked"]
LimitsState = Literal["approved", "not approved", "not named"]
_PLACES = ("*", "*/reviewed", "*/runs/*", "*/runs/*/reviewed")


class Release(Record):
    """What is signed: a decision on one run record."""

    schema_version: Literal[3] = SCHEMA_VERSION
    record: str
    """SHA-256 of the results file."""
    decision: Decision
    conditions: str = ""
    expires: datetime.date | None = None
    signer: str
    """As the allowed-signers file names the person."""
    signed_at: datetime.datetime
    verdict: Verdict
    hazards: tuple[str, ...] = ()
    rereads: tuple[int, int] = (0, 0)
    """Answers that the judge cleared and people read again, and those of them held against the model."""
    tested: Mapping[str, str] = {}
    """What the run was made of; the next release is compared with it."""

    def expired(self, today: datetime.date) -> bool:
        return self.expires is not None and today > self.expires


@dataclass(frozen=True, slots=True)
class HazardRow:
    """A hazard, the cases that name it, and what became of them."""

    hazard: str
    title: str
    cases: tuple[str, ...]
    verdict: Verdict | None
    """The worst of its cases; None where no case names it, or one of them was not run and none failed."""
    at_worst: tuple[str, ...] = ()
    """The cases that have this verdict. It is theirs: a case may name several hazards, and a finding names none."""


@dataclass(frozen=True, slots=True)
class Change:
    what: str
    before: str
    now: str


@dataclass(frozen=True, slots=True)
class LastRelease:
    """The last accepted release before this run."""

    release: Release
    signature: SignatureState
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class Attempts:
    """Runs of this candidate that the ledger holds, this one included."""

    verdicts: tuple[tuple[str, str], ...]
    """Day and verdict of each run over the full set, the newest last."""
    subsets: int
    others: int
    """Runs of the same model in another revision or with another system prompt."""


@dataclass(frozen=True, slots=True)
class InstrumentCheck:
    """Controls that were run with this version, these cases and these limits."""

    expected: int
    """Controls with the verdict that they must get."""
    wrong: tuple[str, ...]
    total: int


@dataclass(frozen=True, slots=True)
class Rereads:
    """Cleared answers that people read again, over this run and all signed ones with the same judge and prompts."""

    read: int
    upheld: int
    runs: int
    upper: float
    """Upper 95 % limit of the share that is held against the model."""


@dataclass(frozen=True, slots=True)
class Standing:
    """All that the page to sign needs beside the run record."""

    sha256: str
    sheet: Sheet
    hazards: tuple[HazardRow, ...]
    limits: LimitsState
    last: LastRelease | None
    attempts: Attempts | None
    controls: InstrumentCheck | None
    rereads: Rereads | None


def record_hash(folder: Path) -> str:
    """SHA-256 of the results file of a folder."""
    file = folder / RESULTS_FILE
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({error.strerror})") from None


def made_of(manifest: Manifest) -> dict[str, str]:
    """What a run was made of, in the order in which a reader asks; what a replay does not know is "not recorded"."""
    hashes, judge = manifest.hashes, manifest.judged
    unknown = "not recorded" if manifest.model.startswith("replay:") else "none"
    decoding = ", ".join(f"{key} {value}" for key, value in sorted(manifest.decoding.items()))
    calibration = judge.calibration if judge else None
    return {
        "model": manifest.model,
        "revision": manifest.revision or "not known",
        "system prompt": hashes.system_prompt or unknown,
        "decoding": decoding or unknown,
        "cases": hashes.cases,
        "limits": hashes.thresholds or "not known",
        "summary prompt": hashes.prompts,
        "judge": manifest.judge,
        "judge prompts": manifest.judge_prompts or "none",
        "calibration": f"{calibration.identity[:12]} of {calibration.made}" if calibration else "none",
    }


def write_release(folder: Path, release: Release) -> Path:
    file = folder / RELEASE_FILE
    file.write_text(json.dumps(release.model_dump(mode="json"), indent=1) + "\n", encoding="utf-8")
    return file


def read_release(file: Path) -> Release:
    return read_record(file, Release.model_validate, str(file), "signed release")


def standing_of(
    result: RunResult,
    sha256: str,
    sheet: Sheet,
    *,
    home: Path | None = None,
    attempts: Attempts | None = None,
    controls: InstrumentCheck | None = None,
) -> Standing:
    """Everything for the page to sign; `home` is the folder of all results, where earlier releases are looked for."""
    return Standing(
        sha256=sha256,
        sheet=sheet,
        hazards=tuple(_hazard_rows(result, sheet)),
        limits=_limits_are(result.manifest.hashes.thresholds or "", sheet.approved_limits),
        last=_last_release(result, sha256, sheet, home),
        attempts=attempts,
        controls=controls,
        rereads=_rereads(result, sha256, home),
    )


def _limits_are(limits: str, approved: str | None) -> LimitsState:
    if approved is None:
        return "not named"
    return "approved" if limits.startswith(approved) else "not approved"


def _hazard_rows(result: RunResult, sheet: Sheet) -> Iterable[HazardRow]:
    verdicts = {case.case_id: case.verdict for case in result.cases}
    for hazard in dict.fromkeys((*sheet.hazards, *result.hazards)):
        cases = result.hazards.get(hazard, ())
        found = [verdicts.get(case) for case in cases]
        known = [verdict for verdict in found if verdict is not None]
        worst = min(known, key=WORST_FIRST.index) if known and len(known) == len(found) else None
        verdict = Verdict.FAIL if Verdict.FAIL in known else worst
        at_worst = tuple(case for case in cases if verdict is not None and verdicts.get(case) == verdict)
        yield HazardRow(hazard, sheet.hazards.get(hazard, ""), cases, verdict, at_worst)


def rereads_in(result: RunResult) -> tuple[int, int]:
    return (result.reviewed.cleared_read, result.reviewed.cleared_upheld) if result.reviewed else (0, 0)


def _rereads(result: RunResult, sha256: str, home: Path | None) -> Rereads | None:
    now = made_of(result.manifest)
    pooled = {sha256: rereads_in(result)}
    for file in releases_below(home) if home else ():
        release = _readable(file)
        if release and all(release.tested.get(what) == now[what] for what in ("judge", "judge prompts")):
            pooled.setdefault(release.record, release.rereads)
    counts = [count for count in pooled.values() if count[0]]
    read, upheld = (sum(count[place] for count in counts) for place in (0, 1))
    limits = proportion_interval(upheld, read, confidence=0.95)
    return Rereads(read, upheld, len(counts), limits.high) if limits else None


def _last_release(result: RunResult, sha256: str, sheet: Sheet, home: Path | None) -> LastRelease | None:
    files = [sheet.last_release] if sheet.last_release else releases_below(home) if home else []
    if (newest := newest_release(files, sha256)) is None:
        return None
    file, release = newest
    signature: SignatureState = "not checked"
    if sheet.allowed_signers and has_keygen():
        signature = "valid" if is_signed_by(file, release.signer, sheet.allowed_signers) else "invalid"
    now = made_of(result.manifest)
    changes = [Change(what, release.tested.get(what, "not recorded"), value) for what, value in now.items()]
    return LastRelease(release, signature, tuple(change for change in changes if change.before != change.now))


def newest_release(files: Iterable[Path], sha256: str) -> tuple[Path, Release] | None:
    """The newest accepted release, other than one of the record itself."""
    known = [(file, release) for file in files if (release := _readable(file)) and release.record != sha256]
    accepted = [(file, release) for file, release in known if release.decision != "reject"]
    return max(accepted, key=lambda pair: pair[1].signed_at, default=None)


def releases_below(home: Path) -> list[Path]:
    """Every signed release in a folder of results."""
    return [file for place in _PLACES for file in sorted(home.glob(f"{place}/{RELEASE_FILE}"))]


def _readable(file: Path) -> Release | None:
    try:
        return read_release(file)
    except InputError:
        return None
