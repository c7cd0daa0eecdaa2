"""Words marked in their full text: everything is escaped, bold markdown is shown as bold."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from pytest_clinical_drift.report.clean import printable

_MARKDOWN = re.compile(r"(\*\*|^#{1,6} |\n#{1,6} |\n)")
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
    done, bold = 0, False
    for mark in sorted(marks, key=lambda m: (m.start, -m.end)):
        if mark.start < done or mark.end > len(text) or mark.end <= mark.start:
            continue
        before, bold = _prose(text[done : mark.start], bold)
        inside, bold = _prose(text[mark.start : mark.end], bold)
        about = Markup(' data-fact="{}"').format(mark.fact) if mark.fact else Markup("")
        opening = Markup('<mark class="{}" title="{}"{}>').format(mark.style, printable(mark.title), about)
        pieces += (before, opening, inside, Markup("</mark>"))
        done = mark.end
    rest, _ = _prose(text[done:], bold)
    return Markup("").join((*pieces, rest))


def _prose(text: str, bold: bool) -> tuple[Markup, bool]:
    """Escaped text in which `**bold**` and headings are bold; their signs are hidden, not taken out."""
    pieces: list[Markup] = []
    for part in _MARKDOWN.split(text):
        if part == "**" or (part.lstrip("\n").startswith("#") and part.endswith(" ") and part.strip("\n# ") == ""):
            newline = Markup("\n") if part.startswith("\n") else Markup("")
            pieces.append(newline + Markup('<span class="md">{}</span>').format(part.lstrip("\n")))
            bold = not bold if part == "**" else True
        elif part == "\n":
            pieces.append(Markup("\n"))
            bold = False
        elif part:
            shown = escape(printable(part))
            pieces.append(Markup("<b>{}</b>").format(shown) if bold else shown)
    return Markup("").join(pieces), bold


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
    return [Mark(start, end, style, title) for quote in quotes if quote for start, end in find_quote(text, quote)]
