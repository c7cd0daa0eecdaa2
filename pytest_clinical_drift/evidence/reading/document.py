"""The document a text is read into; `text` describes every field."""

from __future__ import annotations

from bisect import bisect_right
from typing import Any


class Document:
    """A text that has been read; see the module's opening for every field."""

    __slots__ = (
        "cache",
        "clause_starts",
        "clauses",
        "ends",
        "gaps",
        "kinds",
        "lines",
        "raw",
        "segment_kinds",
        "segment_labels",
        "segments",
        "sentence_starts",
        "sentences",
        "starts",
        "words",
    )

    def __init__(self, raw: str) -> None:
        self.raw = raw
        self.words: list[str] = []
        self.starts: list[int] = []
        self.ends: list[int] = []
        self.kinds: list[int] = []
        self.gaps: list[str] = []
        self.sentences: list[int] = []
        self.clauses: list[int] = []
        self.segments: list[int] = []
        self.lines: list[int] = []
        self.sentence_starts: list[int] = []
        self.clause_starts: list[int] = []
        self.segment_kinds: list[int] = []
        self.segment_labels: list[tuple[str, ...]] = []
        #: Whatever later stages find once per document (cues, terms), under their own key.
        self.cache: dict[str, Any] = {}

    def __len__(self) -> int:
        return len(self.words)

    def quote(self, first: int, last: int) -> str:
        """The raw text from token `first` to token `last`, both included."""
        return self.raw[self.starts[first] : self.ends[last]]

    def spelled(self, index: int) -> str:
        """The original spelling of a token."""
        return self.raw[self.starts[index] : self.ends[index]]

    def token_at(self, offset: int) -> int:
        """The first token that ends after a raw offset (`len(self)` when there is none)."""
        return bisect_right(self.ends, offset)

    def sentence_span(self, index: int) -> tuple[int, int]:
        """First token and one past the last token of the sentence a token stands in."""
        starts = self.sentence_starts
        number = self.sentences[index]
        return starts[number], starts[number + 1] if number + 1 < len(starts) else len(self.words)

    def clause_span(self, index: int) -> tuple[int, int]:
        """First token and one past the last token of the clause a token stands in."""
        starts = self.clause_starts
        number = self.clauses[index]
        return starts[number], starts[number + 1] if number + 1 < len(starts) else len(self.words)

    def labels_of(self, index: int) -> tuple[str, ...]:
        """Labels and headings above a token, innermost first."""
        return self.segment_labels[self.segments[index]]

    def label_of(self, index: int) -> str:
        """The innermost label above a token, or an empty string."""
        labels = self.segment_labels[self.segments[index]]
        return labels[0] if labels else ""
