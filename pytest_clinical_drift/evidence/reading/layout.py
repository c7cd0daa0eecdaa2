"""Layout of a text: lines become segments (sentence-bearing stretches) that know the labels above them.

A heading, a bold or "Label:" prefix, a table's header row and row label: each carries meaning for
what stands under it ("Allergies: none"). This module finds the stretches; `text.read` places the tokens in them
and finds the labels that stand inside a line.
"""

import re
from collections.abc import Iterator
from itertools import accumulate
from typing import NamedTuple

# What a segment is.
PROSE, HEADING, LABEL, CELL = range(4)
# Levels of headings, behind those of "#" to "######".
_BOLD_LINE = 7
_SECTION = 8

_SPACES = " \t\r\f\v\u00a0\u2009\u202f"
_MARKER = re.compile(
    r"(?:[>\s]*+)(?:(#{1,6})\s++|((?:[-*+•‣◦▪▫■□●○·–—→➢➤✓✔✅❌⚠►▶]\s++|\(?\d{1,2}[.)]\s++|\(?[a-zA-Z][)]\s++"
    r"|\[[ xX]\]\s++){1,3}))?"
)
_BOLD = re.compile(r"\*{2,3}([^*]{1,120})\*{2,3}|__([^_]{1,120})__")
_RULE_ROW = re.compile(r"[\s|:+\-—–=]*+")
_WORDS = re.compile(r"[^\W_]+")
_SET_OFF = (":", "-", "–", "—")
"""What sets bold words off as the label of a line, where others are only emphasised in its sentence."""


class Segment(NamedTuple):
    """A stretch of text that is read as a unit."""

    start: int
    end: int
    kind: int
    labels: tuple[str, ...]
    """Labels that apply to it, innermost first, lower case."""
    line: int
    """Index of the line it stands in."""
    continues: bool = False
    """Whether it goes on with the sentence of the segment before it (the value after its label)."""


def plain(text: str) -> str:
    """A label as it is looked up: its words in lower case, single-spaced."""
    return " ".join(_WORDS.findall(text.lower()))


class LayoutReader:
    """Goes through the lines of a text, with the headings and the table that are in force."""

    def __init__(self, text: str) -> None:
        self._lines = text.splitlines(keepends=True)
        self._headings: list[tuple[int, str]] = []
        """Level and words, outermost first."""
        self._indent = -1
        """Of the section's bullet, -1 where its label stands on a plain line."""
        self._blank = False
        """Whether a blank line followed the section's label."""
        self._header: list[str] = []
        self._last_row: list[str] = []
        """Of the table being read."""

    def segments(self) -> Iterator[Segment]:
        start = 0
        for number, raw_line in enumerate(self._lines):
            line = raw_line.rstrip()
            if line:
                yield from self._line(start, line, number)
            else:
                self._header = self._last_row = []
                self._blank = True
            start += len(raw_line)

    def _outer(self) -> tuple[str, ...]:
        """The headings in force, innermost first."""
        return tuple(title for level, title in reversed(self._headings) if title or level != _SECTION)

    def _open(self, level: int, title: str, indent: int = -1) -> None:
        """A heading, or a "Label:" alone on its line, ends those of its level and below."""
        self._headings = [*(above for above in self._headings if above[0] < level), (level, title)]
        self._indent = indent
        self._blank = False

    def _close_section(self, indent: int) -> None:
        """A "Label:" line holds for deeper bullets, and for plain lines until a blank one."""
        if indent <= self._indent if self._indent >= 0 else indent < 0 and self._blank:
            self._headings = [above for above in self._headings if above[0] != _SECTION]

    def _line(self, start: int, line: str, number: int) -> Iterator[Segment]:
        _, hashes, bullet, content = _MARKER.split(line, maxsplit=1)
        stripped = content.lstrip(_SPACES)
        # Tabs make a row of a table; a bar does at the start, between spaces, or under another row.
        barred = line.lstrip(_SPACES).startswith("|") or " | " in line or self._last_row
        if ("|" in content and barred) or ("|" not in line and "\t" in content.strip()):
            yield from self._row(start, line, number)
            return
        self._header = self._last_row = []
        if stripped.startswith(("```", "~~~")) or not stripped:
            return
        begin = start + len(line) - len(content)
        end = start + len(line)
        if hashes:
            self._open(len(hashes), plain(stripped))
            yield Segment(begin, end, HEADING, self._outer()[1:], number)
            return
        indent = len(line) - len(content) if bullet else -1
        self._close_section(indent)
        bold = _BOLD.match(content)
        if bold is not None:
            yield from self._bold(begin, end, content, bold, number, indent)
        elif content.endswith(":") and len(content) <= 80:
            yield Segment(begin, end, HEADING, self._outer(), number)
            self._open(_SECTION, plain(content), indent)
        else:
            yield Segment(begin, end, PROSE, self._outer(), number)

    def _bold(
        self, begin: int, end: int, content: str, bold: re.Match[str], number: int, indent: int
    ) -> Iterator[Segment]:
        """A line that opens with bold words: a heading when nothing follows, a label when they are few."""
        inside = (bold[1] or bold[2]).rstrip()
        after = content[bold.end() :].lstrip(_SPACES)
        title = plain(inside)
        set_off = inside.endswith((*_SET_OFF, ".")) or after.startswith((*_SET_OFF, "|", "="))
        if indent < 0:
            self._headings = [above for above in self._headings if above[0] != _BOLD_LINE]
        outer = self._outer()
        if not after.strip(_SPACES + ":.-–—") and title.count(" ") < 12:
            yield Segment(begin, end, HEADING, outer, number)
            self._open(_SECTION if indent >= 0 else _BOLD_LINE, title, indent)
        elif title.count(" ") < 6 and (set_off or after[:1].isupper() or after[:1].isdigit()):
            cut = begin + bold.end()
            yield Segment(begin, cut, LABEL, outer, number)
            yield Segment(cut, end, PROSE, (title, *outer), number, continues=True)
        else:
            yield Segment(begin, end, PROSE, outer, number)

    def _row(self, start: int, line: str, number: int) -> Iterator[Segment]:
        """The cells of a table row; none for the rule under its header."""
        if _is_rule(line):
            self._header = self._last_row
            self._last_row = self._last_row or [""]
            return
        pieces = line.split("|" if "|" in line else "\t")
        begins = list(accumulate((len(piece) + 1 for piece in pieces), initial=start))
        if not pieces[0].strip():
            pieces = pieces[1:]
            begins = begins[1:]
        texts = [plain(piece) for piece in pieces]
        outer = self._outer()
        is_header = not self._last_row and _is_rule("".join(self._lines[number + 1 : number + 2]))
        for column, (begin, piece) in enumerate(zip(begins, pieces, strict=False)):
            head = self._header[column] if column < len(self._header) else ""
            own = (head,) if column == 0 else (texts[0], head)
            labels = outer if is_header else (*filter(None, own), *outer)
            if piece.strip():
                yield Segment(begin, begin + len(piece), HEADING if is_header else CELL, labels, number)
        self._last_row = texts


def _is_rule(line: str) -> bool:
    """Whether a line is the rule under a table's header."""
    return "-" in line and "|" in line and _RULE_ROW.fullmatch(line) is not None
