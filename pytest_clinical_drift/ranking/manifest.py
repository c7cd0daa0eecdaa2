"""What a slate says about itself: when it was frozen, from which model, and the hash that proves it unchanged."""

import datetime
import hashlib
import json
import re
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, Field, ValidationError

from pytest_clinical_drift.cases.faults import describe_faults
from pytest_clinical_drift.cases.files import parse_data, read_text
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.ranking.tables import as_utc

FILE_NAME = "manifest.json"
FORMAT = 1


class SlateManifest(BaseModel, frozen=True, coerce_numbers_to_str=True):
    """One slate's record; what others have added to it is left aside."""

    slate_id: Annotated[str, Field(min_length=1)]
    created_at: Annotated[datetime.datetime, AfterValidator(as_utc)]
    model_version: str
    parameters: dict[str, Any] = Field(default_factory=dict)
    n_predictions: int
    files: dict[str, str]
    """Name to SHA-256 of every file that was frozen."""
    sha256: str = ""
    """Hash of all of the above."""

    @property
    def slug(self) -> str:
        return slug(self.slate_id)

    def as_json(self) -> dict[str, Any]:
        return {"format": FORMAT, **self.model_dump(), "created_at": self.created_at.isoformat()}

    def content_hash(self) -> str:
        """SHA-256 over id, time, model, parameters and the hashes of the files."""
        content = {name: value for name, value in self.as_json().items() if name != "sha256"}
        canonical = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        return hashlib.sha256(canonical.encode()).hexdigest()


def slug(text: str) -> str:
    """A name that is fit for a folder."""
    return re.sub(r"[^A-Za-z0-9._]+", "-", text).strip("-.")[:100] or "slate"


def read_manifest(folder: Path) -> SlateManifest:
    """The manifest of a frozen slate; InputError in one sentence where there is none."""
    if not folder.is_dir():
        raise InputError(f"{folder}: no such slate folder")
    file = folder / FILE_NAME
    if not file.is_file():
        raise InputError(f"{folder}: has no {FILE_NAME}; freeze the slate with `clinical-drift freeze` first")
    text = read_text(file)
    data = parse_data(file, text)
    if not isinstance(data, dict):
        raise InputError(f"{file}: expected a record with slate_id and created_at, found {type(data).__name__}")
    try:
        return SlateManifest.model_validate(data)
    except ValidationError as error:
        raise InputError(describe_faults(file, text, error, SlateManifest)[0]) from None
