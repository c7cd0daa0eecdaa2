"""Words marked in their full text, in which everything is escaped."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from pytest_clinical_drift.report.clean import printable

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
    return [Mark(start, end, style, title) for quote in quotes if quote for start, end in find_quote(text, quote)]
