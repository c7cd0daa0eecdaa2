"""The folders of runs: each run has its own, and the newest one over the full set of cases is what lies on top.

    <results>/<model>/runs/<run id>/    study_c_results.json, report.html, run.json, log.jsonl, transcripts/
    <results>/<model>/                  the same of the newest run over the full set

A run is written into a draft (`.drafts/<run id>/`) and published in one step when it ends. Nothing of another run is
ever replaced or deleted, except the copies on top.
"""

import contextlib
import datetime
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from filelock import FileLock

from pytest_clinical_drift.errors import InputError

RUNS = "runs"
DRAFTS = ".drafts"
"""Apart from the runs, so that nobody who looks for results finds half of one."""
TRANSCRIPTS = "transcripts"
CASE_PAGES = "cases"
"""Pages of single cases, beside the report of a large set."""
REVIEWED = "reviewed"
"""A run judged with reviews, beside the untouched one: a record of its own, with a signature of its own."""
LOCK = ".lock"


def regular_files(folder: Path, apart: frozenset[str] = frozenset()) -> Iterator[Path]:
    """Every file below a folder, sorted; InputError on a symbolic link or device, which may lead anywhere.

    `apart`: names directly in the folder that are passed over.
    """
    for entry in sorted(os.scandir(folder), key=lambda found: found.name):
        path = folder / entry.name
        if entry.name in apart:
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from regular_files(path)
        elif entry.is_file(follow_symlinks=False):
            yield path
        else:
            what = "a symbolic link" if entry.is_symlink() else "not a regular file"
            raise InputError(f"{path}: {what}; a run consists of regular files only")


def new_run_id(now: datetime.datetime | None = None) -> str:
    """Sortable by time (UTC), and different for two runs that start in the same second."""
    return f"{now or datetime.datetime.now(datetime.UTC):%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}"


def check_results_place(folder: Path, option: str = "--drift-results") -> None:
    """Refuse a results folder that is a file, or lies below one."""
    existing = next(part for part in (folder, *folder.parents) if part.exists())
    if not existing.is_dir():
        raise InputError(f"{option}: {existing} is a file, not a directory")


class RunFolder:
    """The folder of one run, from draft to publication."""

    def __init__(self, model_folder: Path, run_id: str | None = None) -> None:
        self.top = model_folder
        """Where the newest run over the full set lies."""
        self.id = run_id or new_run_id()
        self.draft = self.top / DRAFTS / self.id
        """Where the run writes while it lasts."""
        self.place = self.top / RUNS / self.id
        """Where it lies once it is published."""
        self.transcripts = self.draft / TRANSCRIPTS

    def create(self) -> None:
        """Make the draft and write into it once: a disk that takes no results is reported before the first case."""
        for _ in range(3):
            with contextlib.suppress(FileNotFoundError):  # another run may have just removed the empty folder above
                self.draft.mkdir(parents=True)
                break
        with tempfile.TemporaryFile(dir=self.draft) as probe:
            probe.write(b"\n")

    def publish(self, files: Sequence[Path], *, on_top: bool) -> list[Path]:
        """Move the draft to its place, and copy it on top where it is a run over the full set.

        `files` of the draft are returned as they can be opened from now on. An empty draft is removed.
        """
        if not self.draft.is_dir():
            return []
        if not any(self.draft.iterdir()):
            self.discard()
            return []
        self.place.parent.mkdir(exist_ok=True)
        self.draft.rename(self.place)
        _remove_empty(self.draft.parent)
        if on_top:
            with FileLock(self.top / LOCK):
                for entry in sorted(self.place.iterdir()):
                    _replace(entry, self.top / entry.name, self.id)
                if not (self.place / CASE_PAGES).exists():
                    shutil.rmtree(self.top / CASE_PAGES, ignore_errors=True)  # of an earlier, larger set
                for signed in self.top.glob("release.json*"):
                    signed.unlink()  # of the run before, which keeps its own
        shown = self.top if on_top else self.place
        return [shown / file.relative_to(self.draft) for file in files]

    def discard(self) -> None:
        """Remove the draft, and the folders around it that hold nothing else."""
        shutil.rmtree(self.draft, ignore_errors=True)
        _remove_empty(self.draft.parent)
        _remove_empty(self.top)


def _remove_empty(folder: Path) -> None:
    with contextlib.suppress(OSError):
        folder.rmdir()


def _replace(source: Path, target: Path, run_id: str) -> None:
    """Copy a file or folder over another in one step: a reader sees the old one or the new one."""
    draft, old = (target.with_name(f".{target.name}.{run_id}{end}") for end in ("", ".old"))
    if source.is_file():
        shutil.copyfile(source, draft)
        draft.replace(target)
        return
    shutil.copytree(source, draft)
    if target.exists():
        target.rename(old)
    draft.rename(target)
    shutil.rmtree(old, ignore_errors=True)
