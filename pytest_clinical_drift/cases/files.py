"""Reads case files, YAML or JSON, and says in one sentence what is wrong with a bad one, and where.

Below: what commands write into them, a new case and a clinician's signature.
"""

import datetime
import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError

from pytest_clinical_drift.cases.faults import Location, describe_faults, placed
from pytest_clinical_drift.cases.model import Case, Turn, case_hash, signed
from pytest_clinical_drift.core.files import read_text
from pytest_clinical_drift.core.packaged import bundled, load_text
from pytest_clinical_drift.core.parsing import StrictLoader, parse_data
from pytest_clinical_drift.core.text import shortened
from pytest_clinical_drift.errors import InputError

_SUFFIXES = frozenset({".yaml", ".yml", ".json"})
_FORM = "cannot sign: write one case per file, each field on its own line"
LONG = "long"
"""Name of the bundled long cases, a set of its own."""


def bundled_cases(name: str = "study_c") -> Path:
    return bundled("cases", name)


def load_cases(path: str | Path) -> list[Case]:
    """Read every case below a folder, or of one file, in a stable order; InputError names the first fault."""
    cases, faults = readable_cases(Path(path))
    for _, fault in faults:
        raise fault
    return cases


def readable_cases(path: Path) -> tuple[list[Case], list[tuple[str, InputError]]]:
    """The cases below a path, read on past what breaks the schema; its faults, each with the name of case or file."""
    cases: list[Case] = []
    faults: list[tuple[str, InputError]] = []
    origin: dict[str, Path] = {}
    for file in case_files(path):
        try:
            read = read_cases(file)
        except InputError as fault:
            faults.append((file.stem, fault))
            continue
        for case in read:
            if case.id in origin:  # a copy would be called similar to itself as well
                used = f"the case id {case.id!r} is already used in {origin[case.id]}; rename one of the two"
                faults.append((case.id, InputError(f"{file}: {used}")))
            else:
                origin[case.id] = file
                cases.append(case)
    return cases, faults


def by_patient(cases: Sequence[Case]) -> tuple[list[Case], int]:
    """Cases that share an intake are about one patient, whatever persona they name; and how many joined another's."""
    first: dict[str, Case] = {}
    kept: list[Case] = []
    joined = 0
    for case in cases:
        leader = first.setdefault(" ".join(case.patient_summary.casefold().split()), case)
        alike = leader.independence_group == case.independence_group
        kept.append(case if alike else case.model_copy(update={"cluster": leader.independence_group}))
        joined += not alike
    return kept, joined


def hash_cases(cases: Sequence[Case]) -> str:
    """A fingerprint of the whole content of the cases, independent of file names, formatting and signatures."""
    digest = hashlib.sha256()
    for case in sorted(cases, key=lambda case: case.id):
        digest.update(case.model_dump_json(exclude={"reviewed"}).encode())
    return digest.hexdigest()


def case_files(path: Path) -> list[Path]:
    """The case files of a folder, in a stable order, or the file itself."""
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise InputError(f"{path}: no such file or folder of cases")
    root = path / "study_c" if (path / "study_c").is_dir() else path
    files = sorted(file for file in root.rglob("*") if file.suffix in _SUFFIXES and file.is_file())
    if not files:
        raise InputError(f"{path}: no case found; expected .yaml, .yml or .json case files")
    return files


def read_cases(file: Path) -> list[Case]:
    """The cases of one file: ours holds one, the original's a list of them."""
    text = read_text(file)
    cases = [_read_case(file, text, base, entry) for base, entry in _entries(file, parse_data(file, text))]
    if not cases:
        raise InputError(f"{file}: no case found in it")
    return cases


def _read_case(file: Path, text: str, base: Location, entry: Any) -> Case:
    if not isinstance(entry, dict):
        wanted = "a mapping with id, patient_summary, critical_entities and turns"
        raise InputError(f"{file}: expected {wanted}, found {shortened(entry)}")
    try:
        case = Case.model_validate(entry)
    except ValidationError as error:
        raise InputError(*describe_faults(file, text, error, Case, base)) from None
    for turn in case.turns:
        # a case file that carries the mark would hide its own turns from the figures
        if turn.interlude is not None:
            where = placed(file, text, (*base, "turns", turn.turn - 1, "interlude"))
            why = "interlude is set by stretched runs (--drift-turns); remove it"
            raise InputError(f"{where}: turn {turn.turn}: {why}")
    return case


def _entries(file: Path, data: Any) -> Iterator[tuple[Location, Any]]:
    """The records of a file with their places: one of ours, or the original's list of them."""
    base: Location
    if isinstance(data, list):
        base = ()
        entries = data
    elif isinstance(data, dict) and "cases" in data:
        base = ("cases",)
        entries = data["cases"]
    else:
        yield (), data
        return
    if not isinstance(entries, list):
        raise InputError(f"{file}: 'cases' must be a list of cases, found {shortened(entries)}")
    for at, entry in enumerate(entries):
        kept = _known(entry, Case)
        if isinstance(kept, dict) and isinstance(kept.get("turns"), list):
            kept["turns"] = [_known(turn, Turn) for turn in kept["turns"]]
        yield (*base, at), kept


def _known(entry: Any, model: type[BaseModel]) -> Any:
    """The original's lists carry bookkeeping fields that mean nothing here."""
    return {key: entry[key] for key in entry if key in model.model_fields} if isinstance(entry, dict) else entry


def place_of(path: Path, case_id: str, location: Location) -> str:
    """File and line of a part of a case, for what is found only after reading."""
    for file in case_files(path):
        text = read_text(file)
        for base, entry in _entries(file, parse_data(file, text)):
            if entry.get("id") == case_id:
                return placed(file, text, (*base, *location))
    return str(path)


# ---- what commands write


def write_new_case(case_id: str, folder: Path) -> Path:
    """Write a commented case, valid as it stands, to start from; a file that is there is never overwritten."""
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", case_id):
        raise InputError(f"{case_id!r} is not a case id; write lower-case words with hyphens, such as asthma-and-nuts")
    file = folder / f"{case_id}.yaml"
    if file.exists():
        raise InputError(f"{file}: already exists; not overwritten")
    folder.mkdir(parents=True, exist_ok=True)
    file.write_text(load_text("new_case.yaml").replace("CASE_ID", case_id), encoding="utf-8")
    return file


def sign_case(file: Path, *, by: str, role: str, when: datetime.date) -> Case:
    """Write a signature into a YAML file that holds one case, in place of an earlier one; the signed case."""
    for option, value in (("--by", by), ("--role", role)):
        if not value.strip():
            raise InputError(f"{option} is empty; write who signs")
    fields = {"by": by.strip(), "role": role.strip(), "when": when.isoformat(), "hash": case_hash(_only_case(file))}
    lines = [f"  {name}: {json.dumps(value, ensure_ascii=False)}" for name, value in fields.items()]
    text = "\n".join((_without_signature(file).rstrip(), "reviewed:", *lines, ""))
    data = parse_data(file, text)
    if "cases" in data:
        raise InputError(f"{file}: {_FORM}")
    case = Case.model_validate(data)
    if not signed(case):
        raise InputError(f"{file}: {_FORM}")
    file.write_text(text, encoding="utf-8")
    return case


def _only_case(file: Path) -> Case:
    """The case of a YAML file that holds one."""
    if file.is_dir():
        raise InputError(f"{file}: is a folder; sign one case file at a time")
    if file.suffix == ".json":
        raise InputError(f"{file}: only YAML case files can be signed")
    cases = read_cases(file)
    if len(cases) != 1:
        raise InputError(f"{file}: holds {len(cases)} cases; only a file with one case can be signed")
    return cases[0]


def _without_signature(file: Path) -> str:
    """The text of a case file without an earlier signature."""
    text = read_text(file)
    root = yaml.compose(text, Loader=StrictLoader)
    if not isinstance(root, yaml.MappingNode) or root.flow_style:
        raise InputError(f"{file}: {_FORM}")
    for key, value in root.value:
        if key.value == "reviewed":
            return text[: key.start_mark.index] + text[value.end_mark.index :].lstrip("\n")
    return text
