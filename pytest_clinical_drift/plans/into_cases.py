"""Puts plans into the case files that lack one, without touching a line that is there."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from pathlib import Path

from pytest_clinical_drift.cases.files import load_cases, read_text
from pytest_clinical_drift.errors import InputError
from pytest_clinical_drift.plans.plan import Plan

_WIDTH = 110


def add_to_cases(path: Path, plans: Mapping[str, Plan]) -> list[Path]:
    """Append `target_plan` to each YAML case file below a path that has none; the files that were changed."""
    changed = []
    files = [path] if path.is_file() else sorted(file for file in path.rglob("*") if file.suffix in (".yaml", ".yml"))
    for file in files:
        if file.suffix not in (".yaml", ".yml"):
            raise InputError(f"{file}: plans can be put into YAML case files only; write them to a file with --output")
        cases = load_cases(file)
        if len(cases) != 1 or cases[0].target_plan or cases[0].id not in plans:
            continue
        text = read_text(file)
        lines = textwrap.wrap(plans[cases[0].id].text, _WIDTH, initial_indent="  ", subsequent_indent="  ")
        block = "\n".join(("target_plan: >-", *lines))
        file.write_text(f"{text.rstrip()}\n{block}\n", encoding="utf-8")
        changed.append(file)
    return changed
