"""The command line beside pytest: `clinical-drift COMMAND`; one module per group of commands."""

import argparse
import sys
from collections.abc import Callable, Sequence

from pytest_clinical_drift.cli import cases, judges, releases, runs
from pytest_clinical_drift.cli.command import BAD_INPUT, Command, Commands
from pytest_clinical_drift.errors import InputError, sentence
from pytest_clinical_drift.versions import own_version


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
    parser.add_argument("--version", action="version", version=f"clinical-drift {own_version()}")
    commands = Commands(parser)
    for group in (runs, cases, judges, releases):
        group.add_commands(commands)
    return parser
