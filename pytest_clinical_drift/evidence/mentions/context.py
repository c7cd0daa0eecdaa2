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

_ITEM_MARKS = frozenset(";,.(\n:–")
_ITEM_WORDS = frozenset(("a", "an", "the", "or", "and", "known", "any", "history", "of", "current", "her", "his", "s"))


@dataclass(frozen=True, slots=True)
class MentionContext:
    """How a mention is meant; all False: stated of the patient, now."""

    negated: bool = False
    hypothetical: bool = False
    """Uncertain, conditional, feared, screened for, planned or only asked about."""
    historical: bool = False
    """Past, stopped or resolved."""
    other_person: bool = False
    cues: tuple[tuple[str, str], ...] = ()
    """The words it was decided by, each behind its role (negated, hypothetical, historical or other_person)."""


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
    found: _ContextIndex | None = document.cache.get("context")
    if found is None:
        found = document.cache["context"] = _ContextIndex(document)
    return found.at(first, last)


class _ContextIndex:
    """The scopes of one document, by where they begin, in steps of `LIMIT` tokens: none is longer than that."""

    __slots__ = ("_blocks", "_document", "_labels", "_table")

    def __init__(self, document: Document) -> None:
        self._document = document
        self._table = cue_table()
        self._labels: dict[int, tuple[tuple[str, str], ...]] = {}
        self._blocks: dict[int, list[Scope]] = {}
        for scope in ScopeBuilder(document, self._table).of_document():
            self._blocks.setdefault(scope.first // LIMIT, []).append(scope)

    def at(self, first: int, last: int) -> MentionContext:
        """Context of a mention."""
        hits = [
            (scope.role, self._quote(scope))
            for block in range(first // LIMIT - 1, last // LIMIT + 1)
            for scope in self._blocks.get(block, ())
            if scope.first <= last
            and first <= scope.last
            and (scope.cue_last < first or scope.cue_first > last)
            # Forward, the mention must begin inside; backward, it must end inside.
            and (first >= scope.first if scope.cue_last < first else last <= scope.last)
            and not (scope.role == HYPOTHETICAL and -1 < scope.cue_last < first and self._is_given(first))
        ]
        labels = self._label_roles(first)
        if any(role == NEGATED for role, _ in labels) and not self._is_bare(first, last):
            labels = tuple(label for label in labels if label[0] != NEGATED)
        if not hits and not labels:
            return _PLAIN
        cues = (*hits, *labels)
        roles = {role for role, _ in cues}
        return MentionContext(NEGATED in roles, HYPOTHETICAL in roles, HISTORICAL in roles, OTHER_PERSON in roles, cues)

    def _is_given(self, first: int) -> bool:
        """ "if her asthma gets worse": what is hers is there."""
        tight = first > 0 and self._document.gaps[first] in ("", "-")
        return tight and not self._table.possessives.isdisjoint(self._document.words[max(0, first - 2) : first])

    def _quote(self, scope: Scope) -> str:
        return "?" if scope.cue_first < 0 else self._document.quote(scope.cue_first, scope.cue_last)

    def _label_roles(self, index: int) -> tuple[tuple[str, str], ...]:
        """Labels above a token that give it a role."""
        segment = self._document.segments[index]
        known = self._labels.get(segment)
        if known is None:
            found = [(self._role(label), label) for label in self._document.segment_labels[segment]]
            known = self._labels[segment] = tuple((role, label) for role, label in found if role)
        return known

    def _role(self, label: str) -> str:
        last = label.rpartition(" ")[2]
        kin = last in self._table.kin and (last == "partner" or last not in self._table.offspring)
        return self._table.labels.get(label) or (OTHER_PERSON if kin and label.count(" ") < 3 else "")

    def _is_bare(self, first: int, last: int) -> bool:
        """ "Absent: diabetes; …": the item is the mention and nothing else, so that its label speaks of it."""
        document = self._document
        begin, stop = document.sentence_span(first)
        start, end = first, last
        while start > begin and not self._parts(start, start - 1):
            start -= 1
        while end + 1 < stop and not self._parts(end + 1, end + 1):
            end += 1
        around = (*document.words[start:first], *document.words[last + 1 : end + 1])
        return all(word in _ITEM_WORDS for word in around) and "no" not in document.words[first : last + 1]

    def _parts(self, index: int, outside: int) -> bool:
        """Whether a mark or another segment parts the tokens before and after a gap."""
        segments = self._document.segments
        inside = index if outside < index else index - 1
        return bool(_ITEM_MARKS & set(self._document.gaps[index])) or segments[outside] != segments[inside]
