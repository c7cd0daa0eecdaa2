"""The trie of all wordings, and which of the wordings that begin at one token name something there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pytest_clinical_drift.evidence.reading.text import Document
from pytest_clinical_drift.evidence.terms.vocabulary import QUALIFIER, WORD, Concept, Form, word_set

# Abbreviations of four letters and more count in any case, unless they are also everyday words.
_EVERYDAY = word_set("lexicon", "everyday")


class Term(NamedTuple):
    """A concept named in a document (a tuple, because a summary has dozens of them)."""

    concept: Concept
    first: int
    """First token."""
    last: int
    """Last token, included."""
    weak: bool = False
    """Names the concept only if the context supports it."""
    typo: bool = False
    """Named by a mistyped word."""

    def span(self, document: Document) -> tuple[int, int]:
        """Offsets into the raw text."""
        return document.starts[self.first], document.ends[self.last]


#: Makes a term of all its fields; a named tuple's own constructor costs several times as much.
new_term = tuple.__new__

Match = tuple[str, Form, int]
"""Slot, form, last token."""


class Node:
    """What the words so far may be and how they may go on."""

    __slots__ = ("forms", "free", "next")

    def __init__(self) -> None:
        self.next: dict[str, Node] = {}
        self.forms: tuple[tuple[str, Form], ...] = ()
        #: Whether every form may stand in any capitals.
        self.free = True

    def add(self, form: Form) -> None:
        """Let the words up to here be a form."""
        self.forms = (*self.forms, (slot_of(form), form))
        self.free = self.free and not form.exact

    def firm(self) -> tuple[tuple[str, Concept], ...]:
        """Slot and concept of every reading, last first; nothing where one depends on the context or on capitals."""
        if not self.free or any(form.weak for _, form in self.forms):
            return ()
        return tuple(dict.fromkeys((slot, form.concept) for slot, form in reversed(self.forms)))

    def matches(self, document: Document, first: int, last: int, typo: bool) -> list[Match]:
        """Forms that the tokens from `first` to `last` are, spelled as they have to be."""
        if self.free:
            return [(slot, form, last) for slot, form in self.forms]
        return [
            (slot, form, last)
            for slot, form in self.forms
            if not form.exact or (not typo and _spelled_alike(form, document, first, last))
        ]


def slot_of(form: Form) -> str:
    """Terms of one slot compete: only the longest from a token is kept, and none inside another."""
    kind = form.concept.kind
    if kind == WORD or form.weak:
        return form.concept.id
    return kind + form.concept.group if kind == QUALIFIER else kind


def keep_longest(matches: Sequence[Match], first: int, covered: dict[str, int], typo: bool, found: list[Term]) -> None:
    """Add the longest match of every slot that no earlier term covers; at equal length every reading is kept."""
    if len(matches) == 1:
        [(slot, form, last)] = matches
        if covered.get(slot, -1) < first and not (form.weak and covered.get(form.concept.kind, -1) >= last):
            covered[slot] = last
            found.append(new_term(Term, (form.concept, first, last, form.weak, typo)))
        return
    ends: dict[str, int] = {}
    for slot, _, last in matches:
        ends[slot] = last  # the matches come shortest first
    seen: set[str] = set()
    for slot, form, last in reversed(matches):
        concept = form.concept
        if last < ends[slot] or covered.get(slot, -1) >= first or concept.id in seen:
            continue
        if form.weak and covered.get(concept.kind, -1) >= last:
            continue
        seen.add(concept.id)
        found.append(new_term(Term, (concept, first, last, form.weak, typo)))
    for slot, last in ends.items():
        if covered.get(slot, -1) < last:
            covered[slot] = last


def _spelled_alike(form: Form, document: Document, first: int, last: int) -> bool:
    """Whether an abbreviation stands in the text with its own capitals (a plural s aside)."""
    spelled = document.raw[document.starts[first] : document.ends[last]]
    if spelled == form.text or spelled in (form.text + "s", form.text + "'s"):
        return True
    letters = "".join(char for char in spelled if char.isalnum())
    wanted = "".join(char for char in form.text if char.isalnum())
    if letters == wanted or letters == wanted + "s":
        return True
    folded = letters.lower()
    return len(wanted) >= 4 and folded == wanted.lower() and folded not in _EVERYDAY
