"""Context of a mention: denied, uncertain or only asked about, past, or about another person.

In the line of NegEx and ConText: cues (data/cues.yaml) act on the words after or before them until something ends
their reach. Here the reach is worked out from the sentence itself (lists, verbs, new subjects, brackets, labels and
table cells) instead of a fixed window, and a cue inside the mention itself never counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from pytest_clinical_drift.evidence.mentions.cue_scopes import ScopeBuilder
from pytest_clinical_drift.evidence.mentions.cues import HISTORICAL, HYPOTHETICAL, NEGATED, OTHER_PERSON, cue_table
from pytest_clinical_drift.evidence.mentions.scopes import LIMIT, Scope
from pytest_clinical_drift.evidence.reading.text import Document, read

_CACHE_KEY = "context"
_ITEM_MARKS = frozenset(";,.(\n:–")
_ITEM_WORDS = frozenset(("a", "an", "the", "or", "and", "known", "any", "history", "of", "current", "her", "his", "s"))
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
    found: _ContextIndex | None = document.cache.get(_CACHE_KEY)
    if found is None:
        found = document.cache[_CACHE_KEY] = _ContextIndex(document)
    return found.at(first, last)


_Blocks = dict[int, list[Scope]]
"""Scopes by where they begin, in steps of `LIMIT` tokens: none is longer than that."""


class _ContextIndex:
    """The scopes of one document, worked out for the sentences that are asked about."""

    __slots__ = ("_builder", "_document", "_labels", "_sentences", "_table", "_whole")

    def __init__(self, document: Document) -> None:
        self._document = document
        self._table = cue_table()
        self._labels: dict[int, tuple[CueSpan, ...]] = {}
        self._builder = ScopeBuilder(document, self._table)
        self._sentences: dict[int, _Blocks] = {}
        self._whole: _Blocks | None = None

    def _blocks(self, first: int, last: int) -> _Blocks:
        """The scopes that may reach a mention."""
        number = self._document.sentences[first]
        known = self._sentences.get(number) if number == self._document.sentences[last] else self._of_document()
        if known is None:
            start, stop = self._document.sentence_span(first)
            if self._builder.stands_alone(start, stop):
                known = _in_blocks(self._builder.of_sentence(start, stop))
            else:
                known = self._of_document()
            self._sentences[number] = known
        return known

    def _of_document(self) -> _Blocks:
        if self._whole is None:
            self._whole = _in_blocks(self._builder.of_document())
        return self._whole

    def at(self, first: int, last: int) -> MentionContext:
        """Context of a mention."""
        known = self._blocks(first, last)
        hits = [
            scope
            for block in range(first // LIMIT - 1, last // LIMIT + 1)
            for scope in known.get(block, ())
            if scope.first <= last
            and first <= scope.last
            and (scope.cue_last < first or scope.cue_first > last)
            # Forward, the mention must begin inside; backward, it must end inside.
            and (first >= scope.first if scope.cue_last < first else last <= scope.last)
            and not (scope.role == HYPOTHETICAL and -1 < scope.cue_last < first and self._is_given(first))
        ]
        labels = self._label_roles(first)
        if labels and any(label.role == NEGATED for label in labels) and not self._is_bare(first, last):
            labels = tuple(label for label in labels if label.role != NEGATED)
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
        words, possessives = self._document.words, self._table.possessives
        tight = first > 0 and self._document.gaps[first] in ("", "-")
        return tight and not possessives.isdisjoint(words[max(0, first - 2) : first])

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
                last = label.rpartition(" ")[2]
                close = last in self._table.kin and (last == "partner" or last not in self._table.offspring)
                if role is None and label.count(" ") < 3 and close:
                    role = OTHER_PERSON
                if role is not None:
                    found.append(self._label_span(label, role, index))
            known = self._labels[segment] = tuple(found)
        return known

    def _is_bare(self, first: int, last: int) -> bool:
        """ "Absent: diabetes; …": the item is the mention and nothing else, so that its label speaks of it."""
        document = self._document
        if "no" in document.words[first : last + 1]:
            return False  # "Negatives: makes no urine"
        begin, stop = document.sentence_span(first)
        start, end = first, last
        while (
            start > begin
            and not _ITEM_MARKS & set(document.gaps[start])
            and document.segments[start - 1] == document.segments[first]
        ):
            start -= 1
        while (
            end + 1 < stop
            and not _ITEM_MARKS & set(document.gaps[end + 1])
            and document.segments[end + 1] == document.segments[first]
        ):
            end += 1
        around = (*document.words[start:first], *document.words[last + 1 : end + 1])
        return all(word in _ITEM_WORDS for word in around)

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


def _in_blocks(scopes: list[Scope]) -> _Blocks:
    blocks: _Blocks = {}
    for scope in scopes:
        blocks.setdefault(scope.first // LIMIT, []).append(scope)
    return blocks
