"""Relatives by their names: after "her sister Amy", what "Amy" has or does is not the patient's."""

from __future__ import annotations

from pytest_clinical_drift.evidence.terms.index import places_in
from pytest_clinical_drift.evidence.terms.vocabulary import word_set
from pytest_clinical_drift.evidence.text import Document

_OTHERS = word_set("mentions", "others")
_PREPOSITIONS = word_set("mentions", "prepositions")
_PATIENT = word_set("mentions", "patient")
_NO_NAMES = word_set("mentions", "no_names")
_REACH = 14
_LEAST = 3  # letters of a name


def is_of_a_named_person(document: Document, first: int) -> bool:
    """Whether a relative's name stands before a token as the subject of its clause, or owns it."""
    names = names_of_others(document)
    if not names:
        return False
    start = max(document.clause_span(first)[0], first - _REACH)
    words = document.words
    for place in range(first - 1, start - 1, -1):
        if words[place] in _PATIENT:
            return False
        if words[place] in names and document.spelled(place)[:1].isupper():
            if document.gaps[place + 1].startswith("'s"):
                return True
            if words[place - 1] in _OTHERS:
                return False  # "her mother, Anne, …": whose it is follows from the word before
            led = words[place - 1] if place > start and not document.gaps[place] else ""
            return led not in _PREPOSITIONS and led not in ("and", "or")
    return False


def names_of_others(document: Document) -> frozenset[str]:
    """Names that the text gives to relatives: "her sister Amy", "his wife, Doris," "husband (Ron)"."""
    known: frozenset[str] | None = document.cache.get("names of others")
    if known is None:
        known = document.cache["names of others"] = frozenset(_given(document))
    return known


def _given(document: Document) -> list[str]:
    found: list[str] = []
    last = len(document) - 1
    for place in (p for word in _OTHERS.intersection(document.words) for p in places_in(document.words, word)):
        if place == last or document.sentences[place] != document.sentences[place + 1]:
            continue
        gap = document.gaps[place + 1]
        name = document.spelled(place + 1)
        if gap.strip() not in ("", ",", "(") or not name[0].isupper():
            continue
        if len(name) >= _LEAST and name[1:].islower() and _is_name(document, place, gap):
            found.append(document.words[place + 1])
    return found


def _is_name(document: Document, place: int, gap: str) -> bool:
    """A capitalised word that closes the mark it stands in: "wife, Doris," but not "mother, Monday …"."""
    name = document.words[place + 1]
    if name in _NO_NAMES or name in _OTHERS:
        return False
    if not gap.strip():
        return True
    after = document.gaps[place + 2] if place + 2 < len(document) else "."
    return after[:1] in (",", ")", ".", ";")
