"""The command line beside pytest: `clinical-drift COMMAND`; one module per group of commands."""

import argparse
import sys
from collections.abc import Callable, Sequence
from importlib import metadata

from pytest_clinical_drift.cli import cases, judges, releases, runs
from pytest_clinical_drift.cli.command import BAD_INPUT, Command, Commands
from pytest_clinical_drift.errors import InputError, sentence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; bad input is one sentence on stderr and exit code 4."""
    options = make_parser().parse_args(arguments)
    command: Callable[[argparse.Namespace], int] = options.run
    try:
        return command(options)
    except (InputError, OSError) as error:
        sys.stderr.write(f"clinical-drift: {sentence(error)}\n")
        return BAD_INPUT


def make_parser() -> Command:
    parser = Command(prog="clinical-drift", description="Tools around the clinical drift gate.")
    parser.add_argument("--version", action="version", version=f"clinical-drift {_version()}")
    commands = Commands(parser)
    for group in (runs, cases, judges, releases):
        group.add_commands(commands)
    return parser


def _version() -> str:
    try:
        return metadata.version("pytest-clinical-drift")
    except metadata.PackageNotFoundError:  # a checkout on the path that was never installed
        return "unreleased"
