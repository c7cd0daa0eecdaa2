"""Reads cases for the linter: every fault of every file, not only the first one."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from pytest_clinical_drift.cases.faults import describe_faults
from pytest_clinical_drift.cases.files import load_cases, parse_data, read_text
from pytest_clinical_drift.cases.model import Case
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.lint.remark import Remark

SCHEMA = "schema"
"""Place of remarks on files that are no case at all."""
_SUFFIXES = frozenset({".yaml", ".yml", ".json"})


def read_cases(path: Path) -> tuple[list[Case], list[Remark]]:
    """The cases that can be read, and remarks on the files that cannot; a path without any file is an InputError."""
    cases: list[Case] = []
    remarks: list[Remark] = []
    origin: dict[str, Path] = {}
    for file in _files(path) or [path]:
        try:
            found = load_cases(file)
        except InputError as fault:
            if not file.is_file():
                raise
            remarks += [Remark(file.stem, "error", SCHEMA, text) for text in _faults(file) or [str(fault)]]
            continue
        for case in found:
            if case.id in origin:
                text = f"the case id is already used in {origin[case.id]}; rename one of the two"
                remarks.append(Remark(case.id, "error", SCHEMA, f"{file}: {text}"))
                continue  # a copy would be called similar to itself as well
            origin[case.id] = file
            cases.append(case)
    return cases, remarks


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    root = path / "study_c" if (path / "study_c").is_dir() else path
    return sorted(file for file in root.rglob("*") if file.suffix in _SUFFIXES and file.is_file())


def _faults(file: Path) -> list[str]:
    """One sentence for each field of a case file that breaks the schema; empty when the file is no single case."""
    try:
        text = read_text(file)
        data = parse_data(file, text)
        Case.model_validate(data)
    except InputError:
        return []
    except ValidationError as error:
        if not isinstance(data, dict):
            return []
        return describe_faults(file, text, error, Case)
    return []
