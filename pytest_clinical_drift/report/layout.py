"""Text that fits a window: prose and tables, broken to a width."""

import textwrap
from collections.abc import Sequence

NARROWEST = 40
"""Columns that prose gets at least."""
_LEAST_ROOM = 18
"""Columns below which text does not wrap beside its row."""
_BELOW = "      "
"""What the text of a row begins with that has no room beside it."""


def fill(text: str, width: int, indent: str = "") -> str:
    """Prose broken to a width, behind an indent besides its own; continued lines are indented further."""
    indent += " " * (len(text) - len(text.lstrip()))
    return textwrap.fill(text.strip(), max(NARROWEST, width), initial_indent=indent, subsequent_indent=indent + "    ")


def cut(line: str, width: int) -> str:
    """A line cut to the window; only a name can be too long."""
    return line if len(line) <= width else line[: width - 1] + "…"


def table_lines(rows: Sequence[Sequence[str]], headers: Sequence[str], width: int) -> list[str]:
    """A table whose last column wraps, below its row where there is no room; too narrow for a table: prose.

    Columns without a value are left out.
    """
    kept = [column for column in range(len(headers) - 1) if any(row[column] for row in rows)]
    sizes = {column: max(len(line[column]) for line in (headers, *rows)) for column in kept}
    left = sum(sizes.values()) + 2 * len(sizes)
    if left - 2 > width:
        return [fill(_in_prose(row, headers, kept[2:]), width) for row in rows]
    lines: list[str] = []
    for row in (headers, *rows):
        line = "  ".join(f"{row[column]:<{size}}" for column, size in sizes.items())
        if width - left >= _LEAST_ROOM:
            lines += _beside(line, row[-1], left, width)
        else:
            lines += _above(line, "" if row is headers else row[-1], width)
    return lines


def _above(line: str, text: str, width: int) -> list[str]:
    """The columns of a row with its text below them."""
    return [line.rstrip(), *(f"{_BELOW}{part}" for part in textwrap.wrap(text, width - len(_BELOW)))]


def _beside(line: str, text: str, left: int, width: int) -> list[str]:
    """The columns of a row with its text beside them, which goes on below itself."""
    wrapped = textwrap.wrap(text, width - left) or [""]
    return [f"{line}  {wrapped[0]}".rstrip(), *(" " * left + more for more in wrapped[1:])]


def _in_prose(row: Sequence[str], headers: Sequence[str], columns: Sequence[int]) -> str:
    cells = [f"{headers[c]} {row[c]}" for c in columns if row[c] and (headers[c], row[c]) != ("verdict", row[1])]
    return f"{row[0]} {'; '.join(filter(None, (row[1], *cells, row[-1])))}"
