"""What every command of `clinical-drift` shares."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

BAD_INPUT = 4


class Commands:
    """The commands of a parser; each sets the function that runs it as `run`."""

    def __init__(self, parser: argparse.ArgumentParser) -> None:
        self._commands = parser.add_subparsers(required=True, metavar="COMMAND", dest="command")

    def add(self, name: str, run: Callable[[argparse.Namespace], int], purpose: str) -> argparse.ArgumentParser:
        command = self._commands.add_parser(name, help=purpose, description=purpose)
        command.set_defaults(run=run)
        return command


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()
