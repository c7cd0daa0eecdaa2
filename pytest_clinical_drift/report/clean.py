"""Model text is hostile: made harmless before it reaches a terminal, an XML file, a log, markdown or a page."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

# C0 and C1 controls except tab and newline, bidirectional overrides, lone surrogates, non-characters
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)
LONGEST_LINE = 300
"""Characters of the one line on a case or a run: in junit, the short summary and annotations."""
_SENTENCE_END = re.compile(r"[.!?](?=\s)")
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>#!|~&@$])")


_COMMAND = re.compile(r"(?<!\S)::(?=\S)|##(?=\[|vso\[)")
"""What CI systems obey in a log: `::error::` at the start of a line, `##[…]` and `##vso[…]` anywhere.

Lines are broken anew on their way to the log, so that any word may come to stand at the start of one.
"""


def printable(text: str) -> str:
    """The text with every character that could steer a terminal or break a parser shown as an escape."""
    return _UNSAFE.sub(lambda match: f"\\x{ord(match.group()):02x}", text)


def loggable(text: str) -> str:
    """Printable, and without anything that a CI system would take for a command."""
    return _COMMAND.sub(lambda match: f"\\x{ord(match.group()[0]):02x}{match.group()[1:]}", printable(text))


def one_line(text: str, width: int = 160) -> str:
    """Loggable, on one line, cut to `width` characters."""
    flat = " ".join(loggable(text).split())
    return flat if len(flat) <= width else flat[: width - 1] + "…"


def opening(text: str, width: int) -> str:
    """The first sentences of a text, on one line: as many as fit `width`, or the beginning of one that does not."""
    flat = " ".join(loggable(text).split())
    if len(flat) <= width:
        return flat
    whole = max((end.end() for end in _SENTENCE_END.finditer(flat, 0, width - 1)), default=0)
    return f"{flat[:whole]} …" if 2 * whole > width else f"{flat[: width - 1]}…"


def as_lines(*texts: str) -> list[str]:
    """The lines of some texts as they are printed: none is empty, none ends with blanks."""
    lines: list[str] = []
    for text in texts:
        lines += [line.rstrip() for line in text.splitlines() if line.strip()]
    return lines


def inert(text: str, width: int = 160) -> str:
    """Text that markdown renders as itself: one line, every special character escaped, no mentions or links."""
    return _MARKDOWN.sub(r"\\\1", one_line(text, width)).replace("\\<", "&lt;").replace("\\&", "&amp;")


# -- words marked in their full text, in which everything is escaped

_WORD = re.compile(r"[^\s*_`#>|…]+")
_BETWEEN = r"[\s*_`#>|]*"
_GAP = re.compile(r"…|\.\.\.")
_LONGEST_QUOTE = 600


@dataclass(frozen=True, slots=True)
class Mark:
    start: int
    end: int
    style: str
    """Class of the style sheet: a status, or the state of an alarm."""
    title: str
    fact: str = ""
    """The fact it is about, so that all its words can be shown together."""


def marked(text: str, marks: Iterable[Mark]) -> Markup:
    """The text with its marks, in order; one that begins inside another is left out."""
    pieces: list[Markup] = []
    done = 0
    for mark in sorted(marks, key=lambda m: (m.start, -m.end)):
        if mark.start < done or mark.end > len(text) or mark.end <= mark.start:
            continue
        about = Markup(' data-fact="{}"').format(mark.fact) if mark.fact else Markup("")
        opening = Markup('<mark class="{}" title="{}"{}>').format(mark.style, printable(mark.title), about)
        inside = escape(printable(text[mark.start : mark.end]))
        pieces += (escape(printable(text[done : mark.start])), opening, inside, Markup("</mark>"))
        done = mark.end
    return Markup("").join((*pieces, escape(printable(text[done:]))))


def find_quote(text: str, quote: str) -> list[tuple[int, int]]:
    """Where the words of a quote stand, part after part where it leaves out something (…); empty where they do not."""
    places: list[tuple[int, int]] = []
    begin = 0
    for part in _GAP.split(quote[:_LONGEST_QUOTE]):
        words = _WORD.findall(part)
        if not words:
            continue
        match = re.compile(_BETWEEN.join(map(re.escape, words)), re.IGNORECASE).search(text, begin)
        if match is None:
            return places
        places.append(match.span())
        begin = match.end()
    return places


def quote_marks(text: str, quotes: Sequence[str], style: str, title: str) -> list[Mark]:
    marks: list[Mark] = []
    for quote in quotes:
        if quote:
            marks += [Mark(start, end, style, title) for start, end in find_quote(text, quote)]
    return marks
