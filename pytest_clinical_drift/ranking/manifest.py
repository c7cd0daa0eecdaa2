"""What a slate says about itself: when it was frozen, from which model, and the hash that proves it unchanged."""

import datetime
import hashlib
import json
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, Field, ValidationError

from pytest_clinical_drift.cases.faults import describe_faults
from pytest_clinical_drift.cases.files import parse_data, read_text
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.ranking.tables import as_utc

FILE_NAME = "manifest.json"
PUBLIC_NAME = "slates.json"
FORMAT = 1


class SlateManifest(BaseModel, frozen=True, coerce_numbers_to_str=True):
    """One slate's record; what others have added to it is left aside."""

    file: Annotated[Path, Field(exclude=True)]
    slate_id: Annotated[str, Field(min_length=1)]
    created_at: Annotated[datetime.datetime, AfterValidator(as_utc)]
    model_version: str = ""
    parameters: dict[str, Any] = Field(default_factory=dict)
    n_predictions: int | None = None
    """How many predictions there were, where it is told."""
    files: dict[str, str] = Field(default_factory=dict)
    """Name to SHA-256 of every file that was frozen; empty for registries of others, which carry no such hash."""
    sha256: str | None = None
    """Hash of all of the above."""

    def as_json(self) -> dict[str, Any]:
        return {"format": FORMAT, **self.model_dump(), "created_at": self.created_at.isoformat()}

    def content_hash(self) -> str:
        """SHA-256 over id, time, model, parameters and the hashes of the files."""
        content = {name: value for name, value in self.as_json().items() if name != "sha256"}
        canonical = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        return hashlib.sha256(canonical.encode()).hexdigest()


def read_manifests(folder: Path) -> dict[str, SlateManifest]:
    """Slate id to its record: our manifest, or the public registry's list; empty when the folder has neither."""
    file = next((file for name in (FILE_NAME, PUBLIC_NAME) if (file := folder / name).is_file()), None)
    if file is None:
        return {}
    text = read_text(file)
    data = parse_data(file, text)
    manifests = [_read(file, text, entry) for entry in (data if isinstance(data, list) else [data])]
    return {manifest.slate_id: manifest for manifest in manifests}


def _read(file: Path, text: str, entry: Any) -> SlateManifest:
    if not isinstance(entry, dict):
        raise InputError(f"{file}: expected a record with slate_id and created_at, found {type(entry).__name__}")
    try:
        return SlateManifest.model_validate({**entry, "file": file})
    except ValidationError as error:
        raise InputError(describe_faults(file, text, error, SlateManifest)[0]) from None
