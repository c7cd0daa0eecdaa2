"""Rows of words as patterns: "face|mouth & droop*", "leave it (for) ~ days", matched on the words of a sentence."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence, Set

_GAP = r"(?:\S+ ){0,4}?"
_ANYWHERE = " & "


class Pattern:
    """One row of words; every part joined by "&" has to stand in the sentence, in any order."""

    __slots__ = ("keys", "parts")

    def __init__(self, text: str) -> None:
        self.keys = _keys(text)
        """One of these words stands wherever the pattern does; empty where that cannot be said."""
        self.parts = tuple(re.compile(_expression(part)) for part in text.split(_ANYWHERE))

    def possible(self, words: Set[str]) -> bool:
        """Whether a sentence with these words may have it: a cheap look before the expressions are tried."""
        return not self.keys or not self.keys.isdisjoint(words)

    def places(self, joined: str) -> list[tuple[int, int]]:
        """Where the first part stands, as offsets in `joined`, if the others stand there too."""
        if not all(part.search(joined) for part in self.parts[1:]):
            return []
        return [match.span() for match in self.parts[0].finditer(joined)]

    def found(self, joined: str) -> bool:
        """Whether the sentence has all parts."""
        return all(part.search(joined) for part in self.parts)


def _keys(text: str) -> frozenset[str]:
    """The rarest word that a row cannot do without, with its alternatives."""
    tokens = [token for token in text.split() if token not in ("~", "&") and token[0] != "("]
    plain = [frozenset(token.split("|")) for token in tokens if "*" not in token]
    return min(plain, key=lambda words: (len(words), -max(map(len, words))), default=frozenset())


def _expression(row: str) -> str:
    """A regular expression over words that are each followed by a space."""
    made = ["(?<!\\S)"]
    for token in row.split():
        if token == "~":
            made.append(_GAP)
        elif token[0] == "(" and token[-1] == ")":
            made.append(f"(?:{_alternatives(token[1:-1])} )?")
        else:
            made.append(f"{_alternatives(token)} ")
    return "".join(made)


def _alternatives(token: str) -> str:
    ready = (re.escape(word[:-1]) + r"\S*" if word.endswith("*") else re.escape(word) for word in token.split("|"))
    return f"(?:{'|'.join(ready)})"


def spaced(words: Iterable[str]) -> str:
    """The words as patterns read them, each followed by a space."""
    return "".join(f"{word} " for word in words)


def patterns(rows: Sequence[object]) -> tuple[Pattern, ...]:
    """The patterns of a list in a data file."""
    return tuple(Pattern(str(row)) for row in rows)
