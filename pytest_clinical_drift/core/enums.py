"""Enums whose members are words of files and records."""

from enum import StrEnum


class Word(StrEnum):
    """Prints as its value everywhere, inside tuples too: seeds and hashes are made of such text."""

    def __repr__(self) -> str:
        return repr(self.value)
