"""Layout of a text: lines become segments (sentence-bearing stretches) that know the labels above them.

A heading, a bold or "Label:" prefix, a table's header row and row label: each carries meaning for
what stands under it ("Allergies: none"). This module finds the stretches; `text.read` places the tokens in them
and finds the labels that stand inside a line.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

# What a segment is.
PROSE, HEADING, LABEL, CELL = range(4)

_SPACES = " \t\r\f\v\u00a0\u2009\u202f"
_MARKER = re.compile(
    r"(?:[>\s]*+)(?:(#{1,6})\s++|((?:[-*+•‣◦▪▫■□●○·–—→➢➤✓✔✅❌⚠►▶]\s++|\(?\d{1,2}[.)]\s++|\(?[a-zA-Z][)]\s++"
    r"|\[[ xX]\]\s++){1,3}))?"
)
_BOLD = re.compile(r"\*{2,3}([^*]{1,120})\*{2,3}|__([^_]{1,120})__")
_RULE_ROW = re.compile(r"[\s|:+\-—–=]*+")
_WORDS = re.compile(r"[^\W_]+")


class Segment(NamedTuple):
    """A stretch of text that is read as a unit."""

    start: int
    end: int
    kind: int
    #: Labels that apply to it, innermost first, lower case.
    labels: tuple[str, ...]
    #: Index of the line it stands in.
    line: int
    #: Whether it goes on with the sentence of the segment before it (the value after its label or key).
    continues: bool = False


def plain(text: str) -> str:
    """A label as it is looked up: its words in lower case, single-spaced."""
    return " ".join(_WORDS.findall(text.lower()))


def segments_of(text: str) -> Iterable[Segment]:
    if "\n" not in text and "\r" not in text and text[:1].isalpha() and _is_prose(text):
        return (Segment(0, len(text), PROSE, (), 0),)
    return LayoutReader(text).segments()


def _is_prose(line: str) -> bool:
    return line[0].isalpha() and line[1:2] != ")" and line[-1] != ":" and "|" not in line and "\t" not in line


class LayoutReader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._headings: list[tuple[int, str]] = []  # (# level; 7: bold line), text
        self._section = ""  # "Label:" alone on its line
        self._section_indent = -1
        self._section_blank = False
        self._header: list[str] = []  # of the table being read
        self._last_row: list[str] = []
        self._next_line = ""

    def segments(self) -> Iterator[Segment]:
        start = 0
        lines = self._text.splitlines(keepends=True)
        for number, raw_line in enumerate(lines):
            line = raw_line.rstrip()
            if line and _is_prose(line) and not (self._section or self._last_row):
                # the common case: nothing is in force that a line of prose would end
                yield Segment(start, start + len(line), PROSE, self._outer(), number)
            elif line:
                self._next_line = lines[number + 1] if number + 1 < len(lines) else ""
                yield from self._line(start, line, number)
            else:
                self._header = self._last_row = []
                self._section_blank = True
            start += len(raw_line)

    def _outer(self) -> tuple[str, ...]:
        """The headings in force, innermost first."""
        section = (self._section,) if self._section else ()
        return (*section, *(title for _, title in reversed(self._headings)))

    def _line(self, start: int, line: str, number: int) -> Iterator[Segment]:
        marker = _MARKER.match(line)
        first = marker.end() if marker else 0
        content = line[first:]
        stripped = content.lstrip(_SPACES)
        if ("|" in content or "\t" in content.strip()) and self._is_row(line):
            yield from self._row(start, line, number)
            return
        self._header = self._last_row = []
        if stripped.startswith(("```", "~~~")) or not stripped:
            return
        begin = start + first
        end = start + len(line)
        if marker and marker.group(1):
            self._open_heading(len(marker.group(1)), plain(stripped))
            yield Segment(begin, end, HEADING, self._outer()[1:], number)
            return
        indent = first if marker and marker.group(2) else -1
        self._close_section(indent)
        bold = _BOLD.match(content)
        if bold:
            yield from self._bold(begin, end, content, bold, number, indent)
        elif content.endswith(":") and len(content) <= 80:
            yield Segment(begin, end, HEADING, self._outer(), number)
            self._open_section(plain(content), indent)
        else:
            yield Segment(begin, end, PROSE, self._outer(), number)

    def _bold(
        self, begin: int, end: int, content: str, bold: re.Match[str], number: int, indent: int
    ) -> Iterator[Segment]:
        """A line that opens with bold words: a heading when nothing follows, a label when they are few."""
        title = plain(bold.group(1) or bold.group(2))
        rest = content[bold.end() :].strip(_SPACES + ":.-–—")
        is_bullet = indent >= 0
        if not is_bullet and self._headings and self._headings[-1][0] == 7:
            self._headings.pop()
        if not rest and title.count(" ") < 12:
            yield Segment(begin, end, HEADING, self._outer(), number)
            if is_bullet:
                self._open_section(title, indent)
            else:
                self._open_heading(7, title)
        elif title.count(" ") < 6 and _ends_label(content, bold):
            cut = begin + bold.end()
            outer = self._outer()
            yield Segment(begin, cut, LABEL, outer, number)
            yield Segment(cut, end, PROSE, (title, *outer), number, continues=True)
        else:
            yield Segment(begin, end, PROSE, self._outer(), number)

    def _open_heading(self, level: int, title: str) -> None:
        while self._headings and self._headings[-1][0] >= level:
            self._headings.pop()
        self._headings.append((level, title))
        self._section = ""

    def _open_section(self, title: str, indent: int) -> None:
        self._section, self._section_indent, self._section_blank = title, indent, False

    def _close_section(self, indent: int) -> None:
        """A "Label:" line holds for deeper bullets, and for plain lines until a blank one."""
        if not self._section:
            return
        plain_text_again = indent < 0 and self._section_blank
        if indent <= self._section_indent if self._section_indent >= 0 else plain_text_again:
            self._section = ""

    def _is_row(self, line: str) -> bool:
        """Tabs make a row of a table; a bar does at the start, between spaces, or under another row."""
        return "|" not in line or line.lstrip(_SPACES).startswith("|") or " | " in line or bool(self._last_row)

    def _row(self, start: int, line: str, number: int) -> Iterator[Segment]:
        """The cells of a table row; none for the rule under its header."""
        if _is_rule(line):
            self._header, self._last_row = self._last_row, self._last_row or [""]
            return
        spans: list[tuple[int, int]] = []
        position = 0
        for piece in line.split("|" if "|" in line else "\t"):
            spans.append((position, position + len(piece)))
            position += len(piece) + 1
        if not line[spans[0][0] : spans[0][1]].strip():
            spans = spans[1:]
        texts = [plain(line[a:b]) for a, b in spans]
        outer = self._outer()
        row_label = texts[0] if texts else ""
        is_header = not self._last_row and _is_rule(self._next_line)
        for column, (a, b) in enumerate(spans):
            if not texts[column] and not line[a:b].strip():
                continue
            head = self._header[column] if column < len(self._header) else ""
            own = (head,) if column == 0 else (row_label, head)
            labels = (*(label for label in own if label), *outer)
            if is_header:
                yield Segment(start + a, start + b, HEADING, outer, number)
            else:
                yield Segment(start + a, start + b, CELL, labels, number)
        self._last_row = texts


def _is_rule(line: str) -> bool:
    """Whether a line is the rule under a table's header."""
    return "-" in line and "|" in line and _RULE_ROW.fullmatch(line) is not None


def _ends_label(content: str, bold: re.Match[str]) -> bool:
    """Whether bold words that open a line are set off as its label rather than emphasised in a sentence."""
    inside = (bold.group(1) or bold.group(2)).rstrip()
    after = content[bold.end() :].lstrip(_SPACES)
    if inside.endswith((":", ".", "-", "–", "—")) or after.startswith((":", "-", "–", "—", "|", "=")):
        return True
    return after[:1].isupper() or after[:1].isdigit()
