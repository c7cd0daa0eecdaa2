"""Reading a text once: normalised tokens with offsets, sentences, clauses and the labels above them.

    document = read("**Allergies:** none.\\n- Sertraline 50\\u202fmg o.d.")
    document.words      ['allergies', 'none', 'sertraline', '50', 'mg', 'od']
    document.gaps       ['\\n', ':', '\\n', '', '', '']
    document.kinds      [WORD, WORD, WORD, NUMBER, WORD, WORD]
    document.label_of(1)    'allergies'

Tokens are parallel lists, indexed by token number (no object per token: everything else runs on this path).
- `words`     normalised: lower case, accents and compatibility forms folded, zero-width characters gone,
              "didn't" is "did" "not", a possessive 's is dropped (it shows in the next gap), "50mg" is "50"
              "mg", "1,000" is "1000", "½" is "0.5", "b.d." is "bd", "w/o" is "without", hyphenated and slashed
              words are split.
- `starts`, `ends`  offsets into the raw text; `raw[starts[i]:ends[i]]` is the original spelling.
- `kinds`     WORD, NUMBER ("2.5"), RATIO ("100/6", "14/2", "1:1000"), DATE ("14/02/2022", "2022-02-14"),
              TIME ("08:30"), SYMBOL ("%", "+", "↑", "<" …).
- `gaps`      what stands between this token and the one before, without white space and emphasis marks: ""
              (only white space), "-" (tight hyphen), "–" (dash between clauses), "/", ",", ";", ":", "(", "),",
              "'s", …; "\\n" before the first token of a segment. Punctuation is never a token.
- `sentences`, `clauses`, `segments`, `lines`  number of the unit each token stands in. A sentence never crosses
              a segment, except that a label and its value share one. Clauses end at ; : dashes and before
              adversatives ("but", "although").
- `sentence_span(i)`, `clause_span(i)`  first token and one past the last of the unit token i stands in.
- `labels_of(i)`  headings and labels above token i, innermost first; `label_of(i)` the innermost or "". In a
              table cell: the row label, then the column header.
- `segment_kinds[segments[i]]`  PROSE, HEADING, LABEL (a label's own words) or CELL.
"""

import re
from bisect import bisect_right
from functools import lru_cache

from pytest_clinical_drift.conversation.hygiene import hidden_spans
from pytest_clinical_drift.evidence.reading.document import Document, number, once, place
from pytest_clinical_drift.evidence.reading.layout import CELL, HEADING, LABEL, PROSE, LayoutReader
from pytest_clinical_drift.evidence.reading.tokens import (
    CONTRACTED,
    DATE,
    NUMBER,
    RATIO,
    SYMBOL,
    TIME,
    WORD,
    compatible,
)

__all__ = ["CELL", "DATE", "HEADING", "LABEL", "NUMBER", "PROSE", "RATIO", "SYMBOL", "TIME", "WORD", "Document"]
__all__ += ["blank_hidden", "once", "read", "tokenise"]

_REMOVED = re.compile("[\u00ad\u0300-\u036f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]")
_PLAIN = re.compile(r"[A-Za-z]{2,}(?: [A-Za-z]{2,})*")
"""Words of letters, a space between them: reading changes nothing but capitals, and takes contractions apart."""


def read(text: str) -> Document:
    """Read a text into tokens; linear in its length, and never raises on any string."""
    document = Document(text)
    visible = blank_hidden(text)
    removed: list[int] = []
    if not visible.isascii():
        removed = [match.start() for match in _REMOVED.finditer(visible)]
        if removed:
            visible = _REMOVED.sub("", visible)
        visible = "".join(map(compatible, visible))
    for segment in LayoutReader(visible).segments():
        place(document, visible, segment)
    number(document)
    if removed:
        # A removed character shifts all that follows: position k is raw position k + (removals before it).
        anchors = [position - order for order, position in enumerate(removed)]
        document.starts = [start + bisect_right(anchors, start) for start in document.starts]
        document.ends = [end + bisect_right(anchors, end - 1) for end in document.ends]
    return document


@lru_cache(maxsize=8192)
def tokenise(text: str) -> tuple[str, ...]:
    """The normalised words of a short text, such as a vocabulary entry, exactly as `read` would give them."""
    if _PLAIN.fullmatch(text):
        words = tuple(text.lower().split(" "))
        if CONTRACTED.keys().isdisjoint(words):
            return words  # most of the vocabulary, at a tenth of the cost
    return tuple(read(text).words)


_MARKUP = re.compile(
    r"</?(?:a|b|i|u|p|em|li|ul|ol|td|tr|th|hr|div|span|sup|sub|code|pre|small|strong|table|thead|tbody|h[1-6])"
    r"(?:\s[^<>]{0,200})?/?>|<\|[a-z_]{1,30}\|>|&nbsp;",
    re.IGNORECASE,
)
_BREAK = re.compile(r"<br\s{0,3}/?>", re.IGNORECASE)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)


def blank_hidden(text: str) -> str:
    """The text with reasoning and markup replaced by blanks of the same length."""
    pieces: list[str] = []
    done = 0
    for start, end in hidden_spans(text):
        # A newline at both ends: what stands before and after a block never forms one sentence.
        pieces += (text[done:start], "\n", " " * (end - start - 2), "\n")
        done = end
    text = "".join((*pieces, text[done:]))
    closed = text.rfind("-->") + 3  # behind it no comment is closed: looking for its end there would be quadratic
    text = _COMMENT.sub(_blank, text[:closed]) + text[closed:]
    return _BREAK.sub(lambda match: "\n" + _blank(match)[1:], _MARKUP.sub(_blank, text))


def _blank(match: re.Match[str]) -> str:
    return " " * len(match.group())
