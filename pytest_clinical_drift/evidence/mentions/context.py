"""Context of a mention: denied, uncertain or only asked about, past, or about another person.

In the line of NegEx and ConText: cues (data/vocabulary/cues.yaml) act on the words after or before them until something
ends their reach. Here the reach is worked out from the sentence itself (lists, verbs, new subjects, brackets, labels,
table cells) instead of a fixed window, and a cue inside the mention itself never counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from pytest_clinical_drift.evidence.mentions.cue_scopes import ScopeBuilder
from pytest_clinical_drift.evidence.mentions.cues import HISTORICAL, HYPOTHETICAL, NEGATED, OTHER_PERSON, cue_table
from pytest_clinical_drift.evidence.mentions.scopes import LIMIT, Scope
from pytest_clinical_drift.evidence.reading.text import Document, once, read
from pytest_clinical_drift.evidence.terms.index import phrases_between
from pytest_clinical_drift.evidence.terms.vocabulary import load_vocabulary, word_set

_BEFORE_AN_ITEM = ("\n", ":", ",", ";")


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


_recent = lru_cache(maxsize=16)(read)


def context_at(document: Document, first: int, last: int) -> MentionContext:
    """Context of the mention from token `first` to token `last`, both included."""
    if not 0 <= first <= last < len(document):
        return _PLAIN
    return _contexts(document).at(first, last)


@once
def _contexts(document: Document) -> _ContextIndex:
    return _ContextIndex(document)


class _ContextIndex:
    """The scopes of one document, by where they begin, in steps of `LIMIT` tokens: none is longer than that."""

    __slots__ = ("_blocks", "_document", "_labels", "_table")

    def __init__(self, document: Document) -> None:
        self._document = document
        self._table = cue_table()
        self._labels: dict[int, tuple[tuple[str, str], ...]] = {}
        self._blocks: dict[int, list[Scope]] = {}
        for scope in ScopeBuilder(document).of_document():
            self._blocks.setdefault(scope.first // LIMIT, []).append(scope)

    def at(self, first: int, last: int) -> MentionContext:
        hits = [
            (scope.role, self._quote(scope))
            for block in range(first // LIMIT - 1, last // LIMIT + 1)
            for scope in self._blocks.get(block, ())
            if scope.first <= last
            and first <= scope.last
            and (scope.cue_last < first or scope.cue_first > last)
            # Forward, the mention must begin inside; backward, it must end inside.
            and (first >= scope.first if scope.cue_last < first else last <= scope.last)
        ]
        labels = self._label_roles(first)
        if self._document.gaps[first][:1] not in _BEFORE_AN_ITEM:  # "Denies: tremor, rigidity" denies what it lists
            labels = tuple(label for label in labels if label[0] != NEGATED)
        if not hits and not labels:
            return _PLAIN
        cues = (*hits, *labels)
        roles = {role for role, _ in cues}
        return MentionContext(NEGATED in roles, HYPOTHETICAL in roles, HISTORICAL in roles, OTHER_PERSON in roles, cues)

    def _quote(self, scope: Scope) -> str:
        return "?" if scope.cue_first < 0 else self._document.quote(scope.cue_first, scope.cue_last)

    def _label_roles(self, index: int) -> tuple[tuple[str, str], ...]:
        """Labels above a token that give it a role."""
        segment = self._document.segments[index]
        known = self._labels.get(segment)
        if known is None:
            roles = [(self._role(label), label) for label in self._document.segment_labels[segment]]
            known = self._labels[segment] = tuple((role, label) for role, label in roles if role)
        return known

    def _role(self, label: str) -> str:
        last = label.rpartition(" ")[2]
        kin = last in self._table.kin and (last == "partner" or last not in self._table.offspring)
        return self._table.labels.get(label) or (OTHER_PERSON if kin and label.count(" ") < 3 else "")


_OPEN_REACH = 8
_LIGHT = frozenset(map(str, load_vocabulary("fact_words")["light"]))


@dataclass(frozen=True, slots=True)
class ContextFlags(MentionContext):
    """A context, and what its cues say more closely."""

    ended: bool = False
    """Stated to be over: resolved, cured, gone."""
    open: bool = False
    """The text says that it does not know: not asked, not recorded, result awaited."""

    @property
    def affirmed(self) -> bool:
        """Stated of the patient, now or in the past."""
        return not (self.negated or self.hypothetical or self.other_person or self.open)

    @property
    def denied(self) -> bool:
        """Stated not to be so, of the patient."""
        return self.negated and not (self.hypothetical or self.other_person or self.open)


_UNSTATED = word_set("mentions", "unstated")


@once
def context_flags(document: Document, first: int, last: int) -> ContextFlags:
    context = context_at(document, first, last)
    negated, words = context.negated, document.words
    following = words[last + 1] if last + 1 < len(words) and document.gaps[last + 1] in ("", "-") else ""
    is_open = _left_open(document, last) or following in _UNSTATED
    if negated and first > 1 and words[first - 2] == "no" and words[first - 1] in ("other", "further", "additional"):
        negated, is_open = False, True  # "no other contraception" says nothing about the one named before
    past = [quote.lower() for role, quote in context.cues if role == HISTORICAL]
    return ContextFlags(
        negated,
        context.hypothetical,
        context.historical,
        context.other_person,
        context.cues,
        ended=any(root in quote for quote in past for root in _ENDINGS),
        open=is_open,
    )


_ENDINGS = tuple(sorted(word_set("mentions", "endings")))


def _left_open(document: Document, last: int) -> bool:
    """Whether "not asked", "pending" or the like follows with nothing but light words in between."""
    line = document.lines[last]
    stop = min(len(document), last + _OPEN_REACH)
    for cue in phrases_between(document, "unknown", last + 1, stop):
        if document.lines[cue.first] != line:
            break
        between = document.words[last + 1 : cue.first]
        if document.words[cue.last + 1 : cue.last + 2] == ["to"]:
            continue  # "not mentioned to the dentist"
        if all(word in _LIGHT for word in between) and not any(
            "." in gap or ";" in gap for gap in document.gaps[last + 1 : cue.first + 1]
        ):
            return True
    return False
