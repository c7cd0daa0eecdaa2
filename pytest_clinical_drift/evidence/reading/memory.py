"""What a function says of a string, remembered up to a bound: few different words and gaps occur in all texts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

ENTRIES = 50_000  # entries a table may remember; beyond it, it begins anew
LONGEST = 80  # characters of a key that is worth remembering


class Memory(dict[str, T]):
    """A dictionary that fills itself, so that `map` over its `__getitem__` stays out of the interpreter's loop."""

    def __init__(self, function: Callable[[str], T]) -> None:
        super().__init__()
        self._function = function

    def __missing__(self, key: str) -> T:
        value = self._function(key)
        if len(key) <= LONGEST:
            if len(self) >= ENTRIES:
                self.clear()
            self[key] = value
        return value
