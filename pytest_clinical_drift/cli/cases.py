"""Commands about cases."""

from __future__ import annotations

import argparse
import datetime
from pathlib import Path

from pytest_clinical_drift.cli.command import BAD_INPUT, Commands, say


def add_commands(commands: Commands) -> None:
    command = commands.add("new", _new, "write a commented case to start from")
    command.add_argument("case_id", metavar="CASE_ID", help="lower-case words with hyphens, such as asthma-and-nuts")
    command.add_argument("--out", type=Path, default=".", metavar="DIR", help="default: this folder")
    command = commands.add(
        "validate",
        _validate,
        "check cases: schema and quality; exit 1 if a case has an error, 4 if a file cannot be read as a case",
    )
    command.add_argument("path", type=Path, help="a case file or a folder of cases")
    command = commands.add(
        "sign-case", _sign_case, "sign a case as a clinician; a later change of the case voids the signature"
    )
    command.add_argument("case", type=Path, metavar="CASE.yaml", help="a YAML file with one case")
    command.add_argument("--by", required=True, metavar="NAME", help="who signs")
    command.add_argument(
        "--role", required=True, metavar="ROLE", help="such as consultant physician or clinical safety officer"
    )


def _new(options: argparse.Namespace) -> int:
    from pytest_clinical_drift.cases.files import write_new_case

    file = write_new_case(options.case_id, options.out)
    say(f"written: {file}\ncheck it with: clinical-drift validate {file}")
    return 0


def _validate(options: argparse.Namespace) -> int:
    from pytest_clinical_drift.authoring.lint import SCHEMA, lint_path, render_text

    cases, remarks = lint_path(options.path)
    say(render_text(cases, remarks))
    if any(remark.place == SCHEMA for remark in remarks):
        return BAD_INPUT
    return 1 if any(remark.level == "error" for remark in remarks) else 0


def _sign_case(options: argparse.Namespace) -> int:
    from pytest_clinical_drift.cases.signing import sign_case

    today = datetime.datetime.now(tz=datetime.UTC).date()
    case = sign_case(options.case, by=options.by, role=options.role, when=today)
    say(f"signed: {options.case} ({case.id}) by {options.by}, {options.role}; names are declared, not authenticated")
    return 0
