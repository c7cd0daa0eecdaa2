"""Reads case files, YAML or JSON, and says in one sentence what is wrong with a bad one, and where."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from pytest_clinical_drift.cases.faults import Location, describe_faults, placed
from pytest_clinical_drift.cases.model import Case, bundled
from pytest_clinical_drift.errors import InputError

_SUFFIXES = frozenset({".yaml", ".yml", ".json"})
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def bundled_cases() -> Path:
    """The folder of the cases that ship with the package."""
    return bundled("cases", "study_c")


def load_cases(path: str | Path) -> list[Case]:
    """Read every case below a folder, or of one file, in a stable order; InputError names the first fault."""
    path = Path(path)
    cases: list[Case] = []
    origin: dict[str, Path] = {}
    for file in _case_files(path):
        for case in _read_file(file):
            if case.id in origin:
                raise InputError(
                    f"{file}: the case id {case.id!r} is already used in {origin[case.id]}; rename one of the two"
                )
            origin[case.id] = file
            cases.append(case)
    if not cases:
        raise InputError(f"{path}: no case found; expected .yaml, .yml or .json case files")
    return cases


def hash_cases(cases: Sequence[Case]) -> str:
    """A fingerprint of the cases' whole content, independent of file names and formatting."""
    digest = hashlib.sha256()
    for case in sorted(cases, key=lambda case: case.id):
        digest.update(case.model_dump_json().encode())
    return digest.hexdigest()


def _case_files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise InputError(f"{path}: there is no such file or folder of cases")
    root = path / "study_c" if (path / "study_c").is_dir() else path
    return sorted(file for file in root.rglob("*") if file.suffix in _SUFFIXES and file.is_file())


def _read_file(file: Path) -> Iterator[Case]:
    text = read_text(file)
    data = parse_data(file, text)
    original = isinstance(data, list) or (isinstance(data, dict) and "cases" in data)
    if not original:
        yield _validate(file, text, data, ())
        return
    entries = data if isinstance(data, list) else data["cases"]
    if not isinstance(entries, list):
        raise InputError(f"{file}: 'cases' must be a list of cases, found {type(entries).__name__}")
    base: Location = () if isinstance(data, list) else ("cases",)
    for index, entry in enumerate(entries):
        yield _validate(file, text, _without_foreign_fields(entry), (*base, index))


def read_text(file: Path) -> str:
    """The file's text; unreadable files are the user's error, not a traceback."""
    try:
        return file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{file}: not readable as UTF-8 text (byte {error.start})") from None
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({error.strerror or error})") from None


def parse_data(file: Path, text: str) -> Any:
    """Parse YAML or JSON by the file's ending."""
    try:
        if file.suffix == ".json":
            return json.loads(text)
        return yaml.load(text, Loader=_LOADER)
    except json.JSONDecodeError as error:
        raise InputError(f"{file}, line {error.lineno}: not valid JSON ({error.msg})") from None
    except RecursionError:
        raise InputError(f"{file}: nested too deeply to be read") from None
    except (yaml.YAMLError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        place = f", line {mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or str(error).splitlines()[0]
        raise InputError(f"{file}{place}: not valid YAML ({problem})") from None


def _without_foreign_fields(entry: Any) -> Any:
    """The original's list files carry bookkeeping fields that mean nothing here."""
    if not isinstance(entry, dict):
        return entry
    kept = {key: value for key, value in entry.items() if key in Case.model_fields}
    turns = kept.get("turns")
    if isinstance(turns, list):
        fields = Case.model_fields["turns"].annotation.__args__[0].model_fields  # type: ignore[union-attr]
        kept["turns"] = [
            {key: value for key, value in turn.items() if key in fields} if isinstance(turn, dict) else turn
            for turn in turns
        ]
    return kept


def _validate(file: Path, text: str, data: Any, base: Location) -> Case:
    if not isinstance(data, dict):
        found = "nothing" if data is None else f"a {type(data).__name__}"
        raise InputError(
            f"{file}: expected a mapping with id, patient_summary, critical_entities and turns, found {found}"
        )
    try:
        return Case.model_validate(data)
    except ValidationError as error:
        first, *others = describe_faults(file, text, error, Case, base)
        raise InputError(f"{first} (and {len(others)} more)" if others else first) from None


def place_of(path: Path, case_id: str, location: Location) -> str:
    """File and line of a part of a case, for what is found only after reading."""
    for file in _case_files(path):
        text = read_text(file)
        data = parse_data(file, text)
        base: Location = () if isinstance(data, list) else ("cases",)
        entries = data if isinstance(data, list) else data.get("cases")
        places = [((*base, at), entry) for at, entry in enumerate(entries)] if entries else [((), data)]
        for start, entry in places:
            if entry.get("id") == case_id:
                return placed(file, text, (*start, *location))
    return str(path)
