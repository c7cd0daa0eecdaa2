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
              TIME ("08:30"), SYMBOL ("%", "+", "↑", "<" …), DEID (a de-identified token: "name", "date" …).
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
from bisect import bisect_left, bisect_right
from functools import lru_cache
from itertools import accumulate, compress
from operator import add
from typing import Any

from pytest_clinical_drift.evidence.reading.document import Document
from pytest_clinical_drift.evidence.reading.hidden import blank_hidden
from pytest_clinical_drift.evidence.reading.layout import CELL, HEADING, LABEL, PROSE, segments_of
from pytest_clinical_drift.evidence.reading.structure import Structure, place_segments
from pytest_clinical_drift.evidence.reading.tokens import (
    BODIES,
    COMPOUND,
    DATE,
    DEID,
    DOT,
    EFFECTS,
    KINDS,
    NUMBER,
    RATIO,
    SYMBOL,
    TIME,
    TOKEN,
    WORD,
    WORDS,
    Compatibility,
    split_compound,
)

__all__ = [
    "CELL",
    "DATE",
    "DEID",
    "HEADING",
    "LABEL",
    "NUMBER",
    "PROSE",
    "RATIO",
    "SYMBOL",
    "TIME",
    "WORD",
    "Document",
    "read",
    "tokenise",
]

_REMOVED = re.compile("[\u00ad\u0300-\u036f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]")
_COMPATIBILITY = Compatibility({code: code for code in range(128)})


def read(text: str) -> Document:
    """Read a text into tokens; linear in its length, and never raises on any string."""
    document = Document(text)
    visible = blank_hidden(text)
    removed: list[int] = []
    if not visible.isascii():
        removed = [found.start() for found in _REMOVED.finditer(visible)]
        if removed:
            visible = _REMOVED.sub("", visible)
        visible = visible.translate(_COMPATIBILITY)
    breaks = _cut(document, visible)
    segments = place_segments(document, segments_of(visible), breaks)
    if document.words:
        Structure(document, visible).build(segments, breaks)
    if removed:
        # A removed character shifts all that follows: position k is raw position k + (removals before it).
        anchors = [position - order for order, position in enumerate(removed)]
        document.starts = [start + bisect_right(anchors, start) for start in document.starts]
        document.ends = [end + bisect_right(anchors, end - 1) for end in document.ends]
    return document


@lru_cache(maxsize=8192)
def tokenise(text: str) -> tuple[str, ...]:
    """The normalised words of a short text, such as a vocabulary entry, exactly as `read` would give them."""
    return tuple(read(text).words)


def _cut(document: Document, text: str) -> dict[int, int]:
    """Fill the token lists from the whole text; returns token index -> effect of the gap before it."""
    pieces = TOKEN.split(text)
    tokens = pieces[2::3]
    if not tokens:
        return {}
    gaps = pieces[1::3]
    offsets = list(accumulate(map(len, pieces)))
    starts, ends = offsets[1::3], offsets[2::3]
    others = pieces[:-1:3]
    if any(others):
        gaps = list(map(add, others, gaps))
    # `map` over the tables and `compress` keep these passes out of the interpreter's loop.
    kinds = list(map(KINDS.__getitem__, tokens))
    words = list(map(WORDS.__getitem__, tokens))
    bodies = list(map(BODIES.__getitem__, gaps))
    every_effect = list(map(EFFECTS.__getitem__, gaps))
    effects = {index: every_effect[index] for index in compress(range(len(gaps)), every_effect)}
    document.words, document.kinds, document.gaps = words, kinds, bodies
    document.starts, document.ends = starts, ends
    return _expand(document, tokens, effects) if COMPOUND in kinds else effects


def _expand(document: Document, tokens: list[str], effects: dict[int, int]) -> dict[int, int]:
    """Rebuild the lists with contractions, possessives and slashed units taken apart."""
    old: tuple[list[Any], ...] = document.words, document.kinds, document.gaps, document.starts, document.ends
    lists: tuple[list[Any], ...] = ([], [], [], [], [])
    words, kinds, gaps, starts, ends = lists
    compounds = list(compress(range(len(tokens)), map(COMPOUND.__eq__, document.kinds)))
    added: list[int] = []  # tokens more than before, behind each compound
    done = 0
    tail = ""  # a dropped 's, shown in the gap that follows
    for index in compounds:
        for new, whole in zip(lists, old, strict=True):
            new += whole[done:index]
        gap = document.gaps[index]
        if tail:
            if done < index:
                gaps[done - index] = tail + gaps[done - index]
            else:
                gap = tail + gap
        token, start = tokens[index], document.starts[index]
        after_number = bool(kinds) and kinds[-1] == NUMBER and ends[-1] >= start - 1
        for word, first, last in split_compound(token, document.words[index], start, after_number):
            words.append(word)
            kinds.append(WORD)
            gaps.append(gap)
            starts.append(first)
            ends.append(last)
            gap = "/" if "/" in token else ""
        tail = token[ends[-1] - start :]
        if token[-1] == "." and index + 1 < len(tokens):
            # The full stop of "b.d." belongs to the token, yet may end a sentence as well.
            effects[index + 1] = effects.get(index + 1, 0) | DOT
        done = index + 1
        added.append(len(words) - done)
    for new, whole in zip(lists, old, strict=True):
        new += whole[done:]
    if tail and done < len(tokens):
        gaps[done - len(tokens)] = tail + gaps[done - len(tokens)]
    document.words, document.kinds, document.gaps, document.starts, document.ends = lists
    added.insert(0, 0)
    return {key + added[bisect_left(compounds, key)]: effects[key] for key in sorted(effects)}
