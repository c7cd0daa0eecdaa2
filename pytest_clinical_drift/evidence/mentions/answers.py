"""Short answers to what stands before them: "Fever: no", "| rash | none |"."""

from __future__ import annotations

from pytest_clinical_drift.evidence.mentions.cues import CueTable
from pytest_clinical_drift.evidence.mentions.scopes import LIMIT, Scope
from pytest_clinical_drift.evidence.reading.text import CELL, HEADING, Document


def answered_by(document: Document, table: CueTable, index: int) -> Scope | None:
    """The label, key or row label that an answer of one to three words from token `index` on answers."""
    words, gaps = document.words, document.gaps
    for length in (3, 2, 1):
        answer = tuple(words[index : index + length])
        role = table.answers.get(answer)
        if role is not None:
            break
    else:
        return None
    after = index + len(answer)
    same = after < len(words) and document.sentences[after] == document.sentences[index]
    if same and gaps[after] in ("", "-", "/") and words[after] not in table.answer_tails:
        return None
    if same and '"' in gaps[after] and document.ends[after - 1] + 2 >= document.starts[after]:
        return None  # a quoted word with the phrase going on: diary of "off" periods
    span = _answered(document, index)
    return Scope(*span, index, after - 1, role) if span is not None else None


def _answered(document: Document, index: int) -> tuple[int, int] | None:
    """The tokens of the label, or of the first cell of the row, that token `index` answers."""
    if index == 0 or document.lines[index - 1] != document.lines[index]:
        return None
    if document.segment_kinds[document.segments[index]] == CELL and document.gaps[index] == "\n":
        first = index - 1
        while first > 0 and document.lines[first - 1] == document.lines[index]:
            first -= 1
            if index - first > LIMIT:
                return None
        last = first
        while document.segments[last + 1] == document.segments[first]:
            last += 1
        return first, last
    first = document.sentence_span(index)[0]
    if document.segment_kinds[document.segments[index - 1]] == HEADING or index - first > LIMIT:
        return None
    return max(first, _fragment_start(document, index, first)), index - 1


def _fragment_start(document: Document, index: int, first: int) -> int:
    """Start of what an answer after a mark refers to: not across ";" or a further mark."""
    gaps = document.gaps
    for position in range(index - 1, first, -1):
        if ";" in gaps[position] or ":" in gaps[position] or "–" in gaps[position]:
            return position
    return first
