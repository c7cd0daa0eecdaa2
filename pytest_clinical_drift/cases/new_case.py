"""A first case to write one's own from: complete, commented, and valid as it stands."""

from __future__ import annotations

import re
from pathlib import Path

from pytest_clinical_drift.errors import InputError

_TEMPLATE = Path(__file__).parent.parent / "data" / "new_case.yaml"
_PLACEHOLDER = "CASE_ID"


def write_new_case(case_id: str, folder: Path) -> Path:
    """Write `<folder>/<case_id>.yaml`; a file that is there already is never overwritten."""
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", case_id):
        raise InputError(f"{case_id!r} is no case id; write lower-case words with hyphens, such as asthma-and-nuts")
    file = folder / f"{case_id}.yaml"
    if file.exists():
        raise InputError(f"{file}: is there already and stays as it is")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        text = _TEMPLATE.read_text(encoding="utf-8").replace(_PLACEHOLDER, case_id)
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{file}: cannot be written ({error.strerror})") from None
    return file
