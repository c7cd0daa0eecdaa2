"""Freezing a slate, proving later that nothing about it has changed, and the example to try."""

import datetime
import json
import re
import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from pytest_clinical_drift.core.files import file_hash
from pytest_clinical_drift.core.packaged import bundled
from pytest_clinical_drift.core.text import counted
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.ranking.files import MANIFEST, SUFFIXES, SlateManifest, read_manifests, read_table
from pytest_clinical_drift.ranking.slate import read_slates, slug


class Verification(NamedTuple):
    sha256: str
    """The hash of the slate as it is now."""
    problems: tuple[str, ...]
    """One sentence per difference from what was frozen; empty: unchanged."""


class SlateSources(NamedTuple):
    """The user's files that a slate is made of."""

    predictions: Path
    candidates: Path | None = None
    """All scored candidates, for the popularity baseline."""
    labels: Path | None = None
    """Pairs known at freeze."""

    def by_name(self) -> dict[str, Path]:
        """The files that were given, by their names in the slate."""
        return {f"{name}{file.suffix}": file for name, file in self._asdict().items() if file is not None}


def freeze(
    sources: SlateSources,
    out: Path,
    *,
    model_version: str,
    parameters: Mapping[str, str] | None = None,
    slate_id: str | None = None,
    created_at: datetime.datetime | None = None,
) -> SlateManifest:
    """Copy the predictions, and what their baseline needs, into a new folder with a manifest whose hash covers it all.

    The manifest's `sha256` is what to keep somewhere else. A folder that holds anything is never written to.
    """
    _refuse_used(out, "a frozen slate is never overwritten")
    if not model_version.strip():
        raise InputError("--model-version is empty; give the ranking model's version")
    files = sources.by_name()
    for file in files.values():
        if file.suffix not in SUFFIXES:
            raise InputError(f"{file}: expected a file that ends in {', '.join(SUFFIXES)}")
    table = read_table(sources.predictions)
    column = table.first_of("slate_id", "created_at")
    if column is not None:
        raise InputError(f"{sources.predictions}: has a column {column}; freezing sets it, so take it out first")
    digests = {name: file_hash(file) for name, file in files.items()}
    moment = created_at or datetime.datetime.now(datetime.UTC).replace(microsecond=0)
    manifest = SlateManifest(
        file=out / MANIFEST,
        slate_id=slate_id or f"{slug(model_version)[:60]}-{moment:%Y%m%d}-{next(iter(digests.values()))[:8]}",
        created_at=moment.astimezone(datetime.UTC),
        model_version=model_version,
        parameters=dict(parameters or {}),
        files=digests,
        n_predictions=len(table),
    )
    manifest = manifest.model_copy(update={"sha256": manifest.content_hash()})
    _write_slate(out, manifest, files, sources.predictions)
    return manifest


def _write_slate(out: Path, manifest: SlateManifest, files: Mapping[str, Path], predictions: Path) -> None:
    """Put the slate together beside its place, read it as the gate will, and move it there."""
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=".freeze-") as draft:
        folder = Path(draft) / "slate"
        folder.mkdir()
        for name, file in files.items():
            shutil.copyfile(file, folder / name)
        text = json.dumps(manifest.as_json(), indent=1, ensure_ascii=True) + "\n"
        (folder / MANIFEST).write_text(text, encoding="utf-8")
        try:
            _check(folder, predictions)
        except InputError as error:
            message = str(error)
            for name, file in files.items():
                message = message.replace(str(folder / name), str(file))
            raise InputError(message) from None
        if out.exists():
            out.rmdir()
        folder.replace(out)


def _refuse_used(out: Path, why: str) -> None:
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InputError(f"{out}: is not an empty folder; {why}")


def _check(folder: Path, file: Path) -> None:
    """Read a slate as the gate will. A pair predicted twice, perhaps with two scores, is not a frozen prediction."""
    for slate in read_slates(folder):
        rows = slate.predictions["repeated"].arg_true()
        if len(rows):
            first = rows[0]
            disease = slate.diseases[slate.predictions["disease"].to_physical()[first]]
            drug = slate.drugs[slate.predictions["drug"].to_physical()[first]]
            place = f"{file}, row {first + 1}: duplicate pair ({disease}, {drug})"
            raise InputError(f"{place}; {counted(len(rows), 'duplicate row')}; keep one per pair")


def verify(folder: Path, sha256: str | None = None) -> Verification:
    """Compare a frozen slate with its manifest and, where given, with a hash that was kept elsewhere.

    Only the kept hash proves anything against someone who could also rewrite the manifest.
    """
    if sha256 is not None and not re.fullmatch(r"[0-9a-fA-F]{64}", sha256):
        raise InputError(f"--sha256 {sha256[:70]}: expected the 64 hexadecimal digits that freezing printed")
    if not (folder / MANIFEST).is_file():
        only = "only a slate frozen with `clinical-drift freeze` can be verified"
        raise InputError(f"{folder}: has no {MANIFEST}; {only}")
    manifests = list(read_manifests(folder).values())
    if len(manifests) != 1:
        raise InputError(f"{folder / MANIFEST}: expected the record of one slate, found {len(manifests)}")
    manifest = manifests[0]
    present, problems = _compare_files(folder, manifest)
    if not any(name.startswith("predictions.") for name in manifest.files):
        problems.append(f"{MANIFEST} names no predictions")
    now = manifest.model_copy(update={"files": present}).content_hash()
    if manifest.content_hash() != manifest.sha256:
        problems.append(f"{MANIFEST} was changed after freezing: its hash does not fit its content")
    if sha256 is not None and now != sha256.lower():
        problems.append(f"the slate's hash is {now}, not the one that was kept: {sha256.lower()}")
    return Verification(now, tuple(problems))


def _compare_files(folder: Path, manifest: SlateManifest) -> tuple[dict[str, str], list[str]]:
    """The hashes of the frozen files that are there, and what differs from the manifest."""
    present: dict[str, str] = {}
    problems: list[str] = []
    for name, digest in manifest.files.items():
        if Path(name).name != name:
            problems.append(f"{MANIFEST} names the file {name!r} outside the folder")
        elif not (folder / name).is_file():
            problems.append(f"{name} is missing")
        else:
            present[name] = file_hash(folder / name)
            if present[name] != digest:
                problems.append(f"{name} was changed after freezing")
    return present, problems


def verify_slate(folder: Path, sha256: str | None, say: Callable[[str], object]) -> int:
    """`clinical-drift verify` on a slate: what changed, and the exit code."""
    result = verify(folder, sha256)
    for problem in result.problems:
        say(problem)
    say(f"{'CHANGED' if result.problems else 'unchanged'}: {folder}\nsha256 {result.sha256}")
    if not result.problems and sha256 is None:
        say("without --sha256 this shows only that folder and manifest agree, not that both are the old ones")
    return 1 if result.problems else 0


def write_example(out: Path) -> Path:
    """Copy the bundled slate, its outcomes included, into a new folder; a folder that holds anything is left alone."""
    _refuse_used(out, "not overwritten")
    out.mkdir(parents=True, exist_ok=True)
    for file in bundled("cases", "slates", "example").iterdir():
        shutil.copyfile(file, out / file.name)
    return out
