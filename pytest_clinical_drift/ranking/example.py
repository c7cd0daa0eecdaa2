"""`clinical-drift example slate`: the slate that ships with the package, in a folder of one's own."""

import shutil
from pathlib import Path

from pytest_clinical_drift.cases.model import bundled
from pytest_clinical_drift.errors import InputError


def write_example(out: Path) -> Path:
    """Copy the bundled slate, its outcomes included, into a new folder; a folder that holds anything is left alone."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InputError(f"{out}: is not an empty folder; not overwritten")
    out.mkdir(parents=True, exist_ok=True)
    for file in sorted(bundled("cases", "slates", "example").iterdir()):
        shutil.copyfile(file, out / file.name)
    return out
