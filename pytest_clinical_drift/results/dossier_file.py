"""`dossier.yaml`: what a project says about its release, beside the figures of a run."""

from pathlib import Path
from typing import Any

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError, field_validator

from pytest_clinical_drift.cases.faults import first_fault
from pytest_clinical_drift.cases.files import parse_data, read_text
from pytest_clinical_drift.errors import InputError

FILE_NAME = "dossier.yaml"


class Sheet(BaseModel):
    """The project's sheet; keys that are not named here are shown in the annex."""

    model_config = ConfigDict(frozen=True, extra="allow", populate_by_name=True)

    intended_use: str | None = None
    clinical_safety_officer: str | None = None
    hazards: dict[str, str] = Field(default_factory=dict, validation_alias=AliasChoices("hazards", "hazard_ids"))
    """Every hazard of the log, by id with its title; those that no case covers are named on the page to sign."""
    approved_limits: str | None = Field(default=None, pattern="^[0-9a-f]{8,64}$")
    """Hash of the approved thresholds, or how it begins."""
    last_release: Path | None = None
    """The `release.json` of the last signed release; without it the newest one in the results folder."""
    allowed_signers: Path | None = None
    """Who may sign, in the format of ssh-keygen; relative to this file."""

    @field_validator("hazards", mode="before")
    @classmethod
    def _by_id(cls, given: Any) -> Any:
        if isinstance(given, list):
            return {str(name): "" for name in given}
        return {} if given is None else given

    @property
    def others(self) -> dict[str, Any]:
        """What else the sheet says."""
        return dict(self.model_extra or {})


def read_sheet(root: Path) -> Sheet:
    """The sheet of a project, empty where there is none; InputError in one sentence where it cannot be used."""
    file = root / FILE_NAME
    data = (parse_data(file, read_text(file)) or {}) if file.is_file() else {}
    if not isinstance(data, dict):
        raise InputError(f"{file}: expected fields such as intended_use and hazards, found {type(data).__name__}")
    try:
        sheet = Sheet.model_validate({str(key): value for key, value in data.items()})
    except ValidationError as error:
        raise InputError(f"{file}: {first_fault(error)}") from None
    places = {name: root / place for name in ("last_release", "allowed_signers") if (place := getattr(sheet, name))}
    for name, place in places.items():
        if not place.is_file():
            raise InputError(f"{file}: {name}: {place} is not a file")
    return sheet.model_copy(update=places)
