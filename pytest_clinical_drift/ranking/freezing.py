"""Freezing a slate, and proving later that nothing about it has changed."""

import datetime
import json
import re
import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from pytest_clinical_drift.cases.files import file_hash
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.ranking.manifest import FILE_NAME, SlateManifest, read_manifest, slug
from pytest_clinical_drift.ranking.slate import make_slate
from pytest_clinical_drift.ranking.tables import SUFFIXES, read_table


class Verification(NamedTuple):
    sha256: str
    """The hash of the slate as it is now."""
    problems: tuple[str, ...]
    """One sentence per difference from what was frozen; empty: unchanged."""

    @property
    def unchanged(self) -> bool:
        return not self.problems


def freeze(
    predictions: Path,
    out: Path,
    *,
    model_version: str,
    parameters: Mapping[str, str] | None = None,
    candidates: Path | None = None,
    labels: Path | None = None,
    slate_id: str | None = None,
    created_at: datetime.datetime | None = None,
) -> SlateManifest:
    """Copy the predictions, and what their baseline needs, into a new folder with a manifest whose hash covers it all.

    The manifest's `sha256` is what to keep somewhere else. A folder that holds anything is never written to.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InputError(f"{out}: is not an empty folder; a frozen slate is never overwritten")
    if not model_version.strip():
        raise InputError("a slate needs a model version; without it nobody knows what was frozen")
    moment = created_at or datetime.datetime.now(datetime.UTC).replace(microsecond=0)
    given = {"predictions": predictions, "candidates": candidates, "labels": labels}
    sources = {name: file for name, file in given.items() if file is not None}
    for file in sources.values():
        if file.suffix not in SUFFIXES:
            raise InputError(f"{file}: expected a file that ends in {', '.join(SUFFIXES)}")
    tables = {name: read_table(file) for name, file in sources.items()}
    digests = {f"{name}{file.suffix}": file_hash(file) for name, file in sources.items()}
    manifest = SlateManifest(
        slate_id=slate_id or f"{slug(model_version)[:60]}-{moment:%Y%m%d}-{next(iter(digests.values()))[:8]}",
        created_at=moment,
        model_version=model_version,
        parameters=dict(parameters or {}),
        files=digests,
        n_predictions=len(tables["predictions"]),
    )
    make_slate(manifest, tables)  # as the gate will read it
    manifest = manifest.model_copy(update={"sha256": manifest.content_hash()})
    _write(manifest, sources, out)
    return manifest


def _write(manifest: SlateManifest, sources: Mapping[str, Path], out: Path) -> None:
    """Put the slate together beside its place, then move it there."""
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=".freeze-") as draft:
        folder = Path(draft) / "slate"
        folder.mkdir()
        for name, file in sources.items():
            shutil.copyfile(file, folder / f"{name}{file.suffix}")
        text = json.dumps(manifest.as_json(), indent=1, ensure_ascii=True) + "\n"
        (folder / FILE_NAME).write_text(text, encoding="utf-8")
        if out.exists():
            out.rmdir()
        folder.replace(out)


def verify(folder: Path, sha256: str | None = None) -> Verification:
    """Compare a frozen slate with its manifest and, where given, with a hash that was kept elsewhere.

    Only the kept hash proves anything against someone who could also rewrite the manifest.
    """
    if sha256 is not None and not re.fullmatch(r"[0-9a-fA-F]{64}", sha256):
        raise InputError(f"--sha256 {sha256[:70]}: expected the 64 hexadecimal digits that freezing printed")
    manifest, problems, present = read_manifest(folder), [], {}
    for name, digest in manifest.files.items():
        if Path(name).name != name:
            problems.append(f"{FILE_NAME} names the file {name!r} outside the folder")
        elif not (folder / name).is_file():
            problems.append(f"{name} is missing")
        else:
            present[name] = file_hash(folder / name)
            if present[name] != digest:
                problems.append(f"{name} was changed after freezing")
    if not any(name.startswith("predictions.") for name in manifest.files):
        problems.append(f"{FILE_NAME} names no predictions")
    now = manifest.model_copy(update={"files": present}).content_hash()
    if manifest.content_hash() != manifest.sha256:
        problems.append(f"{FILE_NAME} was changed after freezing: its hash does not fit its content")
    if sha256 is not None and now != sha256.lower():
        problems.append(f"the slate's hash is {now}, not the one that was kept: {sha256.lower()}")
    return Verification(now, tuple(problems))


def verify_slate(folder: Path, sha256: str | None, say: Callable[[str], object]) -> int:
    """`clinical-drift verify` on a slate: what changed, and the exit code."""
    result = verify(folder, sha256)
    for problem in result.problems:
        say(problem)
    say(f"{'unchanged' if result.unchanged else 'CHANGED'}: {folder}\nsha256 {result.sha256}")
    if result.unchanged and sha256 is None:
        say("without --sha256 this shows only that folder and manifest agree, not that both are the old ones")
    return 0 if result.unchanged else 1
