"""A signed decision on a run (`release.json`): what the signature covers, and which of those that are found counts."""

import datetime
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pytest_clinical_drift.core.files import file_hash
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.judging.opinions import person
from pytest_clinical_drift.results.files import RESULTS_FILE, read_record
from pytest_clinical_drift.results.folders import DRAFTS, LOCK, REVIEWED, RUNS, regular_files
from pytest_clinical_drift.results.manifest import Record
from pytest_clinical_drift.results.models import SCHEMA_VERSION
from pytest_clinical_drift.results.ssh_signatures import has_keygen, is_signed_by, read_signers, signing_key
from pytest_clinical_drift.verdict.reasons import Verdict

RELEASE_FILE = "release.json"
Decision = Literal["accept", "accept-until", "reject"]
_PLACES = ("*", "*/reviewed", "*/runs/*", "*/runs/*/reviewed")
_APART = frozenset(
    {RUNS, DRAFTS, LOCK, REVIEWED, RELEASE_FILE, f"{RELEASE_FILE}.sig", "ledger.jsonl", ".ledger.jsonl.lock"}
)
"""What lies in a folder of results and is not part of the run: other runs, the signature itself."""
_REVIEW_PAGE = re.compile(r"review(-[0-9]+)?(\.html|_texts)")
"""Pages that are still to be filled in: they can be written at any time."""


class SignedFile(Record):
    """A file of a run, as it was when the run was signed."""

    name: str
    """Within the folder, with forward slashes."""
    size: int
    sha256: str


class Release(Record):
    """What is signed: a decision on one run record."""

    schema_version: Literal[4] = SCHEMA_VERSION
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
    files: tuple[SignedFile, ...] | None = None
    """Every file of the run; None in releases of earlier versions, which cover the results file only."""

    def expired(self, today: datetime.date) -> bool:
        return self.expires is not None and today > self.expires


def record_hash(folder: Path) -> str:
    """SHA-256 of the results file of a folder."""
    return file_hash(folder / RESULTS_FILE)


def files_of(folder: Path) -> tuple[SignedFile, ...]:
    """Every file of a run; InputError on anything but regular files."""
    pages = frozenset(entry.name for entry in folder.iterdir() if _REVIEW_PAGE.fullmatch(entry.name))
    return tuple(
        SignedFile(name=file.relative_to(folder).as_posix(), size=file.stat().st_size, sha256=file_hash(file))
        for file in regular_files(folder, apart=_APART | pages)
    )


def file_changes(signed: Iterable[SignedFile], found: Iterable[SignedFile]) -> dict[str, str]:
    """What became of the files of a run since they were signed: replaced, missing or added, by name."""
    before = {file.name: file for file in signed}
    now = {file.name: file for file in found}
    changes = {}
    for name in sorted(before.keys() | now.keys()):
        if name not in now:
            changes[name] = "missing"
        elif name not in before:
            changes[name] = "added"
        elif now[name] != before[name]:
            changes[name] = "replaced"
    return changes


def write_release(folder: Path, release: Release) -> Path:
    file = folder / RELEASE_FILE
    file.write_text(json.dumps(release.model_dump(mode="json"), indent=1) + "\n", encoding="utf-8")
    return file


def read_release(file: Path) -> Release:
    return read_record(file, Release.model_validate, str(file), "signed release")


# -- which releases count


@dataclass(frozen=True, slots=True)
class SignedReleases:
    """Releases that were found."""

    valid: tuple[tuple[Path, Release], ...] = ()
    """Signed by somebody who may, each with its file."""
    ignored: frozenset[str] = frozenset()
    """Hashes of the other files: not signed, not readable, or nobody knows who may sign."""


def signing_fault(file: Path, release: Release, allowed: Path) -> str:
    """Why a signature does not count: `unsigned` or `developer`; empty where it does."""
    signers = read_signers(allowed)
    names = signers.names_of(signing_key(file))
    if person(release.signer) not in names or not is_signed_by(file, release.signer, allowed):
        return "unsigned"
    return "developer" if names & signers.developers else ""


def releases_below(home: Path, allowed: Path | None) -> SignedReleases:
    """Every release in a folder of results."""
    files = [file for place in _PLACES for file in sorted(home.glob(f"{place}/{RELEASE_FILE}"))]
    return signed_releases(files, allowed)


def signed_releases(files: Iterable[Path], allowed: Path | None) -> SignedReleases:
    """Which of these releases count; without allowed signers or ssh-keygen none can be verified."""
    valid: list[tuple[Path, Release]] = []
    ignored: set[str] = set()
    able = allowed is not None and has_keygen()
    for file in files:
        release = _readable(file)
        if release is not None and allowed is not None and able and not signing_fault(file, release, allowed):
            valid.append((file, release))
        else:
            ignored.add(file_hash(file))
    return SignedReleases(tuple(valid), frozenset(ignored))


def _readable(file: Path) -> Release | None:
    try:
        return read_release(file)
    except InputError:
        return None


def newest_release(signed: Iterable[tuple[Path, Release]], sha256: str) -> tuple[Path, Release] | None:
    """The newest accepted release, other than one of the record itself."""
    accepted = [pair for pair in signed if pair[1].record != sha256 and pair[1].decision != "reject"]
    return max(accepted, key=lambda pair: pair[1].signed_at, default=None)
