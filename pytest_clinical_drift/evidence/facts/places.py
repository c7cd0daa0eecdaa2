"""Where the slots of a fact stand in a document, and what counts as near."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache

from pytest_clinical_drift.evidence.facts.fact import Slot, content_of
from pytest_clinical_drift.evidence.mentions.state import reading
from pytest_clinical_drift.evidence.reading.text import CELL, Document, tokenise
from pytest_clinical_drift.evidence.terms.index import places_in, term_index
from pytest_clinical_drift.evidence.terms.stems import loose_stem, loose_stems
from pytest_clinical_drift.evidence.terms.vocabulary import CONDITION, Concept, word_set

Span = tuple[int, int]
_NEAR = 6
_MOST = 60
"""Places of one slot that are looked at, so that a text of repetitions stays linear."""


def places_of(document: Document, slot: Slot) -> list[Span]:
    """First and last tokens wherever a slot is named, itself or by something narrower, in order."""
    known: dict[Slot, list[Span]] = document.cache.setdefault("places", {})
    found = known.get(slot)
    if found is None:
        found = known[slot] = _find(document, slot)
    return found


def _find(document: Document, slot: Slot) -> list[Span]:
    index = term_index(document)
    spans = {
        (term.first, term.last)
        for concept_id in slot.ids
        for term in (*index.exact.get(concept_id, ()), *index.within.get(concept_id, ()))
    }
    if not spans and slot.concept is not None and slot.concept.kind == CONDITION:
        spans.update(scattered(document, slot))
    elif slot.stems and slot.concept is None:
        spans.update(together(document, slot.stems))
    return sorted(spans)[:_MOST]


def scattered(document: Document, slot: Slot) -> list[Span]:
    """Places where the words of one of a condition's names stand close together, in any order."""
    if slot.concept is None or slot.concept.kind != CONDITION:
        return []
    return [span for wording in (slot.stems, *wordings(slot.concept)) for span in together(document, wording)]


@lru_cache(maxsize=4096)
def wordings(concept: Concept) -> tuple[frozenset[str], ...]:
    """The stems of every name of two words and more, which may stand in any order."""
    names = [concept.name, *map(str, concept.data.get("synonyms", ())), *map(str, concept.data.get("lay", ()))]
    keys = [frozenset(map(loose_stem, content_of(tokenise(n)))) for n in names]
    return tuple(dict.fromkeys(k for k in keys if len(k) > 1))


def together(document: Document, wanted: frozenset[str]) -> list[Span]:
    """Places where all of some stems stand close together in one clause."""
    stems = loose_stems(document)
    present: frozenset[str] | None = document.cache.get("stem set")
    if present is None:
        present = document.cache["stem set"] = frozenset(stems)
    if not wanted or not wanted <= present:
        return []
    rarest, *rest = sorted(wanted, key=lambda key: (stems.count(key), key))
    found = []
    for place in places_in(stems, rarest)[:_MOST]:
        near = range(max(0, place - _NEAR), min(len(stems), place + _NEAR + 1))
        others = [i for i in near if stems[i] in rest and document.clauses[i] == document.clauses[place]]
        if len({stems[i] for i in others}) == len(rest):
            found.append((min(place, *others), max(place, *others)) if others else (place, place))
    return found


def stated(document: Document, slot: Slot, near: Scope | None = None) -> Span | None:
    """A place where a slot is stated as the fact says it, inside a scope if one is given."""
    for span in places_of(document, slot):
        if near is not None and not near.holds(span[0]):
            continue
        context = reading(document, *span)
        if context.negated == slot.denied or (slot.denied and refused(document, span[0])):
            return span
    return None


def refuses(words: Sequence[str]) -> bool:
    """Whether a fact is that something is refused, which "will not accept" says too."""
    return any(word.startswith(("refus", "declin")) for word in words)


_RESTRICTING = ("refus", "declin", "avoid", "only", "unless", "nothing", "none", "never", "forbid", "forbad")


def refused(document: Document, first: int) -> bool:
    """ "refuses blood products" says what "no blood products" says, and so does "only if the centre agrees"."""
    begin, stop = document.sentence_span(first)
    return any(word.startswith(_RESTRICTING) for word in document.words[begin:stop])


_DENIERS = frozenset(("no", "not", "never", "without", "denies", "denied", "absent", "excluded"))
_LIGHT = word_set("facts", "light_before_a_name")


def denied_outright(document: Document, span: Span) -> bool:
    """Nothing but light words between the denial and the name: "no history of X", "X: none"."""
    if document.words[span[1] + 1 : span[1] + 2] in (["none"], ["no"], ["denied"], ["never"], ["excluded"], ["absent"]):
        return True
    for word in reversed(document.words[max(0, span[0] - 6) : span[0]]):
        if word in _DENIERS:
            return True
        if word not in _LIGHT:
            return False
    return False


class Scope:
    """The surroundings of a mention: its sentence or table row, its line, the sentences beside it."""

    __slots__ = ("_document", "_line", "_sentence", "first", "row", "stop")

    def __init__(self, document: Document, first: int) -> None:
        self._document = document
        self._sentence = document.sentences[first]
        self._line = document.lines[first]
        self.row = document.segment_kinds[document.segments[first]] == CELL
        self.first, self.stop = document.sentence_span(first)
        if self.row:
            self.first = bisect_left(document.lines, self._line)
            self.stop = bisect_left(document.lines, self._line + 1)

    def holds(self, token: int) -> bool:
        """Near: in the line, or a sentence beside the mention's."""
        document = self._document
        return document.lines[token] == self._line or abs(document.sentences[token] - self._sentence) <= 1

    def inside(self, token: int) -> bool:
        """In the very sentence or row."""
        return self.first <= token < self.stop
