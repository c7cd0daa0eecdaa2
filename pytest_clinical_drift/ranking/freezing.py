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
from pytest_clinical_drift.ranking.manifest import FILE_NAME, SlateManifest, read_manifests
from pytest_clinical_drift.ranking.slate import Slate, read_slates, slug
from pytest_clinical_drift.ranking.tables import SUFFIXES, read_table


class Verification(NamedTuple):
    sha256: str
    """The hash of the slate as it is now."""
    problems: tuple[str, ...]
    """One sentence per difference from what was frozen; empty: unchanged."""


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
        raise InputError("--model-version is empty; give the ranking model's version")
    moment = created_at or datetime.datetime.now(datetime.UTC).replace(microsecond=0)
    sources = {"predictions": predictions, "candidates": candidates, "labels": labels}
    named = {f"{name}{file.suffix}": file for name, file in sources.items() if file is not None}
    for file in named.values():
        if file.suffix not in SUFFIXES:
            raise InputError(f"{file}: expected a file that ends in {', '.join(SUFFIXES)}")
    table = read_table(predictions)
    if (column := table.first_of("slate_id", "created_at")) is not None:
        raise InputError(f"{predictions}: has a column {column}; freezing sets it, so take it out first")
    digests = {name: file_hash(file) for name, file in named.items()}
    first = next(iter(digests.values()))
    manifest = SlateManifest(
        file=out / FILE_NAME,
        slate_id=slate_id or f"{slug(model_version)[:60]}-{moment:%Y%m%d}-{first[:8]}",
        created_at=moment.astimezone(datetime.UTC),
        model_version=model_version,
        parameters=dict(parameters or {}),
        files=digests,
        n_predictions=len(table),
    )
    manifest = manifest.model_copy(update={"sha256": manifest.content_hash()})
    _write_checked(manifest, named, out)
    return manifest


def verify(folder: Path, sha256: str | None = None) -> Verification:
    """Compare a frozen slate with its manifest and, where given, with a hash that was kept elsewhere.

    Only the kept hash proves anything against someone who could also rewrite the manifest.
    """
    if sha256 is not None and not re.fullmatch(r"[0-9a-fA-F]{64}", sha256):
        raise InputError(f"--sha256 {sha256[:70]}: expected the 64 hexadecimal digits that freezing printed")
    if not (folder / FILE_NAME).is_file():
        raise InputError(
            f"{folder}: has no {FILE_NAME}; only a slate frozen with `clinical-drift freeze` can be verified"
        )
    manifests = list(read_manifests(folder).values())
    if len(manifests) != 1:
        raise InputError(f"{folder / FILE_NAME}: expected the record of one slate, found {len(manifests)}")
    manifest, problems, present = manifests[0], [], {}
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


def _write_checked(manifest: SlateManifest, files: Mapping[str, Path], out: Path) -> None:
    """Put the slate together beside its place, read it as the gate will, and only then move it there."""
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=".freeze-") as draft:
        folder = Path(draft) / "slate"
        folder.mkdir()
        for name, file in files.items():
            shutil.copyfile(file, folder / name)
        text = json.dumps(manifest.as_json(), indent=1, ensure_ascii=True) + "\n"
        (folder / FILE_NAME).write_text(text, encoding="utf-8")
        try:
            for slate in read_slates(folder):
                _refuse_repeats(folder / next(iter(files)), slate)
        except InputError as error:
            message = str(error)
            for name, file in files.items():
                message = message.replace(str(folder / name), str(file))
            raise InputError(message) from None
        if out.exists():
            out.rmdir()
        folder.replace(out)


def _refuse_repeats(file: Path, slate: Slate) -> None:
    """A pair predicted twice, perhaps with two scores, is no frozen prediction."""
    rows = slate.predictions["repeated"].arg_true()
    if len(rows):
        disease, drug = (slate.predictions[name].to_physical()[rows[0]] for name in ("disease", "drug"))
        place = f"{file}, row {rows[0] + 1}: duplicate pair ({slate.diseases[disease]}, {slate.drugs[drug]})"
        raise InputError(f"{place}; {len(rows):,} duplicate row{'s' if len(rows) > 1 else ''}; keep one per pair")


def verify_slate(folder: Path, sha256: str | None, say: Callable[[str], object]) -> int:
    """`clinical-drift verify` on a slate: what changed, and the exit code."""
    result = verify(folder, sha256)
    for problem in result.problems:
        say(problem)
    say(f"{'CHANGED' if result.problems else 'unchanged'}: {folder}\nsha256 {result.sha256}")
    if not result.problems and sha256 is None:
        say("without --sha256 this shows only that folder and manifest agree, not that both are the old ones")
    return 1 if result.problems else 0
