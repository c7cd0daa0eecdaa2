"""What every command of `clinical-drift` shares."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

BAD_INPUT = 4


class Command(argparse.ArgumentParser):
    """The parser of a command, with the kinds of argument that commands take."""

    def text(self, name: str, metavar: str, help: str, **more: Any) -> None:
        self.add_argument(name, metavar=metavar, help=help, **more)

    def path(self, name: str, metavar: str, help: str, **more: Any) -> None:
        self.add_argument(name, metavar=metavar, help=help, type=Path, **more)

    def number(self, name: str, metavar: str, help: str, **more: Any) -> None:
        self.add_argument(name, metavar=metavar, help=help, **{"type": int, **more})

    def repeated(self, name: str, metavar: str, help: str, **more: Any) -> None:
        self.add_argument(name, metavar=metavar, help=help, **{"action": "append", "default": [], **more})

    def choice(self, name: str, help: str, *choices: str, **more: Any) -> None:
        self.add_argument(name, choices=choices, help=help, **more)


class Commands:
    """The commands of a parser; each sets the function that runs it as `run`."""

    def __init__(self, parser: Command) -> None:
        self._commands = parser.add_subparsers(required=True, metavar="COMMAND", dest="command")

    def add(self, name: str, run: Callable[[argparse.Namespace], int], purpose: str) -> Command:
        command = self._commands.add_parser(name, help=purpose, description=purpose)
        command.set_defaults(run=run)
        return command


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()
