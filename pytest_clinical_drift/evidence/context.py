"""Context of a mention: denied, uncertain or only asked about, past, or about another person.

In the line of NegEx and ConText: cues (data/cues.yaml) act on the words after or before them until something ends
their reach. Here the reach is worked out from the sentence itself (lists, verbs, new subjects, brackets, labels and
table cells) instead of a fixed window, and a cue inside the mention itself never counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import cast

from pytest_clinical_drift.evidence.contexts.cue_scopes import Scope, ScopeBuilder
from pytest_clinical_drift.evidence.contexts.cues import HISTORICAL, HYPOTHETICAL, NEGATED, OTHER_PERSON, cue_table
from pytest_clinical_drift.evidence.contexts.scopes import LIMIT
from pytest_clinical_drift.evidence.text import Document, read

_CACHE_KEY = "context"
_LABEL_DISTANCE = 300  # tokens within which a label's own words are looked up for quoting


@dataclass(frozen=True, slots=True)
class CueSpan:
    """Words that decided something about a mention."""

    #: As they stand in the raw text.
    quote: str
    #: Offsets in the raw text; equal for a heading or column header far above the mention.
    start: int
    end: int
    #: negated, hypothetical, historical or other_person.
    role: str


@dataclass(frozen=True, slots=True)
class MentionContext:
    """How a mention is meant; all False: stated of the patient, now."""

    negated: bool = False
    #: Uncertain, conditional, feared, screened for, planned or only asked about.
    hypothetical: bool = False
    #: Past, stopped or resolved.
    historical: bool = False
    other_person: bool = False
    #: The words it was decided by.
    cues: tuple[CueSpan, ...] = ()


_PLAIN = MentionContext()


def mention_context(text: str, start: int, end: int) -> MentionContext:
    """Context of the mention `text[start:end]`; several mentions of one text cost one reading."""
    document = _recent(text)
    first = document.token_at(max(0, start))
    last = document.token_at(max(start, end) - 1)
    if last >= len(document) or document.starts[last] >= end:
        last -= 1
    return context_at(document, first, last)


@lru_cache(maxsize=16)
def _recent(text: str) -> Document:
    return read(text)


def context_at(document: Document, first: int, last: int) -> MentionContext:
    """Context of the mention from token `first` to token `last`, both included."""
    if not 0 <= first <= last < len(document):
        return _PLAIN
    found = document.cache.get(_CACHE_KEY)
    if found is None:
        found = document.cache[_CACHE_KEY] = _ContextIndex(document)
    return cast("_ContextIndex", found).at(first, last)


class _ContextIndex:
    """The scopes of one document, by where they begin: none is longer than `LIMIT` tokens."""

    __slots__ = ("_blocks", "_document", "_labels", "_table")

    def __init__(self, document: Document) -> None:
        self._document = document
        self._table = cue_table()
        self._labels: dict[int, tuple[CueSpan, ...]] = {}
        self._blocks: dict[int, list[Scope]] = {}
        for scope in ScopeBuilder(document, self._table).build():
            self._blocks.setdefault(scope.first // LIMIT, []).append(scope)

    def at(self, first: int, last: int) -> MentionContext:
        """Context of a mention."""
        blocks = range(first // LIMIT - 1, last // LIMIT + 1)
        hits = [
            scope
            for block in blocks
            for scope in self._blocks.get(block, ())
            if scope.first <= last
            and first <= scope.last
            and (scope.cue_last < first or scope.cue_first > last)
            # Forward, the mention must begin inside; backward, it must end inside.
            and (first >= scope.first if scope.cue_last < first else last <= scope.last)
            and not (scope.role == HYPOTHETICAL and -1 < scope.cue_last < first and self._is_given(first))
        ]
        labels = self._label_roles(first)
        if not hits and not labels:
            return _PLAIN
        roles = {scope.role for scope in hits} | {label.role for label in labels}
        return MentionContext(
            NEGATED in roles,
            HYPOTHETICAL in roles,
            HISTORICAL in roles,
            OTHER_PERSON in roles,
            (*(self._span(scope) for scope in hits), *labels),
        )

    def _is_given(self, first: int) -> bool:
        """ "if her asthma gets worse": what is hers is there."""
        words, gaps = self._document.words, self._document.gaps
        possessives = self._table.possessives
        if first == 0 or gaps[first] not in ("", "-"):
            return False
        return words[first - 1] in possessives or (first > 1 and words[first - 2] in possessives)

    def _span(self, scope: Scope) -> CueSpan:
        document = self._document
        if scope.mark >= 0:
            return CueSpan(document.raw[scope.mark], scope.mark, scope.mark + 1, scope.role)
        start, end = document.starts[scope.cue_first], document.ends[scope.cue_last]
        return CueSpan(document.raw[start:end], start, end, scope.role)

    def _label_roles(self, index: int) -> tuple[CueSpan, ...]:
        """Labels above a token that give it a role."""
        segment = self._document.segments[index]
        known = self._labels.get(segment)
        if known is None:
            found = []
            for label in self._document.segment_labels[segment]:
                role = self._table.labels.get(label)
                if role is None and label.count(" ") < 3 and label.rpartition(" ")[2] in self._table.kin:
                    role = OTHER_PERSON
                if role is not None:
                    found.append(self._label_span(label, role, index))
            known = self._labels[segment] = tuple(found)
        if known and self._is_about_patient(index):
            return tuple(label for label in known if label.role != OTHER_PERSON)
        return known

    def _label_span(self, label: str, role: str, index: int) -> CueSpan:
        """Where a label stands: its nearest wording before the token (a column header may lie far above)."""
        words = label.split()
        document = self._document
        for first in range(index - 1, max(-1, index - _LABEL_DISTANCE), -1):
            if document.words[first] == words[0] and document.words[first : first + len(words)] == words:
                start, end = document.starts[first], document.ends[first + len(words) - 1]
                return CueSpan(document.raw[start:end], start, end, role)
        start = document.starts[index]
        return CueSpan(label, start, start, role)

    def _is_about_patient(self, index: int) -> bool:
        first, stop = self._document.clause_span(index)
        return any(word in self._table.patient for word in self._document.words[first : min(stop, first + LIMIT)])
