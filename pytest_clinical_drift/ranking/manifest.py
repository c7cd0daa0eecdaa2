"""What a slate says about itself: when it was frozen, from which model, and the hash that proves it unchanged."""

from __future__ import annotations

import datetime
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_clinical_drift.cases.files import parse_data, read_text
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.ranking.columns import read_moment

FILE_NAME = "manifest.json"
PUBLIC_NAME = "slates.json"
FORMAT = 1


@dataclass(frozen=True, slots=True)
class Manifest:
    """One slate's record."""

    file: Path
    slate_id: str
    created_at: datetime.datetime
    model_version: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    """Name to SHA-256 of every file that was frozen; empty for registries of others, which carry no such hash."""
    sha256: str | None = None
    """Hash of all of the above."""
    predictions: int | None = None
    """How many predictions there were, where it is told."""

    def content_hash(self) -> str:
        """SHA-256 over id, time, model, parameters and the hashes of the files."""
        content = {
            "format": FORMAT,
            "slate_id": self.slate_id,
            "created_at": self.created_at.isoformat(),
            "model_version": self.model_version,
            "parameters": dict(self.parameters),
            "n_predictions": self.predictions,
            "files": dict(self.files),
        }
        canonical = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        return hashlib.sha256(canonical.encode()).hexdigest()

    def as_json(self) -> dict[str, Any]:
        """The content of the manifest file."""
        return {
            "format": FORMAT,
            "slate_id": self.slate_id,
            "created_at": self.created_at.isoformat(),
            "model_version": self.model_version,
            "parameters": dict(self.parameters),
            "n_predictions": self.predictions,
            "files": dict(self.files),
            "sha256": self.sha256,
        }


def read_manifests(folder: Path) -> dict[str, Manifest]:
    """Slate id to its record: our manifest, or the public registry's list; empty when the folder has neither."""
    for name in (FILE_NAME, PUBLIC_NAME):
        file = folder / name
        if file.is_file():
            data = parse_data(file, read_text(file))
            entries = data if isinstance(data, list) else [data]
            found = [_read(file, entry) for entry in entries]
            return {manifest.slate_id: manifest for manifest in found}
    return {}


def file_hash(file: Path) -> str:
    """SHA-256 of a file's bytes."""
    try:
        with file.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({error.strerror or error})") from None


def _read(file: Path, entry: Any) -> Manifest:
    if not isinstance(entry, dict):
        raise InputError(f"{file}: expected a record with slate_id and created_at, found {type(entry).__name__}")
    for name in ("slate_id", "created_at"):
        if not isinstance(entry.get(name), str) or not entry[name]:
            raise InputError(f"{file}: {name} is missing")
    try:
        created_at = read_moment(entry["created_at"])
    except ValueError:
        raise InputError(f"{file}: created_at is {entry['created_at']!r}, not a date such as 2026-02-09") from None
    files, parameters, count = entry.get("files", {}), entry.get("parameters", {}), entry.get("n_predictions")
    if not isinstance(files, dict) or not isinstance(parameters, dict) or not (count is None or isinstance(count, int)):
        raise InputError(f"{file}: files and parameters must be mappings, n_predictions a whole number")
    return Manifest(
        file=file,
        slate_id=entry["slate_id"],
        created_at=created_at,
        model_version=str(entry.get("model_version", "")),
        parameters=parameters,
        files={str(name): str(digest) for name, digest in files.items()},
        sha256=entry.get("sha256") if isinstance(entry.get("sha256"), str) else None,
        predictions=count,
    )
