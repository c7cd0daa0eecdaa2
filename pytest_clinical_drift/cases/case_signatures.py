"""A clinician's signature under a case: tied to its content, void once the content changes."""

import datetime
import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

import yaml

from pytest_clinical_drift.cases.faults import LOADER
from pytest_clinical_drift.cases.files import parse_data, read_cases, read_text
from pytest_clinical_drift.cases.model import Case, facts_of
from pytest_clinical_drift.errors import InputError

_ABOUT_THE_FILE = {"reviewed", "provenance"}
"""Fields that say who wrote and who signed; they are not part of what is signed."""

_FORM = "cannot sign: write one case per file, each field on its own line"


def case_hash(case: Case) -> str:
    """Of what a clinician signs. Fields at their defaults do not count, so that new fields leave signatures valid."""
    content = case.model_dump(mode="json", exclude=_ABOUT_THE_FILE, exclude_defaults=True)
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def signed(case: Case) -> bool:
    """Whether somebody signed the case as it stands."""
    return case.reviewed is not None and case.reviewed.hash == case_hash(case)


def signed_cases(cases: Iterable[Case]) -> int:
    """How many cases are signed as they stand."""
    return sum(map(signed, cases))


def unsigned_hard_stops(cases: Iterable[Case]) -> list[str]:
    """Ids of the cases with a hard stop that nobody signed as they stand."""
    return [case.id for case in cases if not signed(case) and any(fact.hard_stop for fact, _ in facts_of(case))]


def sign_case(file: Path, *, by: str, role: str, when: datetime.date) -> Case:
    """Write a signature into a YAML file that holds one case, in place of an earlier one; the signed case."""
    for option, value in (("--by", by), ("--role", role)):
        if not value.strip():
            raise InputError(f"{option} is empty; write who signs")
    if file.is_dir():
        raise InputError(f"{file}: is a folder; sign one case file at a time")
    if file.suffix == ".json":
        raise InputError(f"{file}: only YAML case files can be signed")
    cases = read_cases(file)
    if len(cases) != 1:
        raise InputError(f"{file}: holds {len(cases)} cases; only a file with one case can be signed")
    fields = {"by": by.strip(), "role": role.strip(), "when": when.isoformat(), "hash": case_hash(cases[0])}
    lines = (f"  {name}: {json.dumps(value, ensure_ascii=False)}" for name, value in fields.items())
    block = "\n".join(("reviewed:", *lines))
    text = f"{_without_signature(file, read_text(file)).rstrip()}\n{block}\n"
    data = parse_data(file, text)
    if "cases" in data or not signed(case := Case.model_validate(data)):
        raise InputError(f"{file}: {_FORM}")
    file.write_text(text, encoding="utf-8")
    return case


def _without_signature(file: Path, text: str) -> str:
    root = yaml.compose(text, Loader=LOADER)
    if not isinstance(root, yaml.MappingNode) or root.flow_style:
        raise InputError(f"{file}: {_FORM}")
    for key, value in root.value:
        if key.value == "reviewed":
            return text[: key.start_mark.index] + text[value.end_mark.index :].lstrip("\n")
    return text
