"""Whose a finding is: "her best friend has X", "X belongs to his brother", "her asthmatic brother"."""

from __future__ import annotations

from pytest_clinical_drift.evidence.reading.text import Document
from pytest_clinical_drift.evidence.terms.vocabulary import word_set

_OTHERS = word_set("mentions", "others")
_HAVING = word_set("mentions", "having")
_PASSIVE = word_set("mentions", "passive")
_PATIENT = word_set("mentions", "patient")


_BOTH = frozenset(("she", "he", "you", "i", "they", "we", "patient", "client", "both"))


def is_of_another(document: Document, first: int) -> bool:
    """ "Her best friend has X", "a friend with X takes Y", "her mother's X": someone else's, not the patient's."""
    words = document.words
    start = max(document.clause_span(first)[0], first - 14)
    if _OTHERS.isdisjoint(words[start:first]):
        return False  # nobody else stands before it
    for position in range(first, start - 1, -1):
        word = words[position]
        if position < first and word in _OTHERS:
            if document.gaps[position + 1].startswith("'s") and _VERBS.isdisjoint(words[position + 1 : first]):
                return True
            if words[position + 1] in _OPENS and _owned(words, start, position):
                return _PATIENT.isdisjoint(words[position + 1 : first])
        is_passive = word in _PASSIVE and position > start and words[position - 1] in _BEING
        if word in _HAVING or is_passive:
            if position < first and not _PATIENT.isdisjoint(words[position + 1 : first]):
                return False
            for place in range(max(start, position - 4), position):
                if words[place] in _OTHERS and _owned(words, start, place):
                    between = words[place + 1 : position]
                    return between == ["who"] or {"she", "he", "who"}.isdisjoint(between)
    return False


_BEING = frozenset(["was", "is", "been", "were"])
_OWNING = _BEING | {"belongs", "belonged", "belong"}
_POSSESSIVES = frozenset(("her", "his", "their"))
_OPENS = frozenset(["with", "has", "had", "takes", "suffers"])
_VERBS = word_set("mentions", "verbs")
_OWNERS = word_set("mentions", "owners")


_PREPOSITIONS = word_set("mentions", "prepositions")


def _owned(words: list[str], start: int, place: int) -> bool:
    """ "her sister" as a subject; not "with her sister"."""
    for position in range(place - 1, max(start, place - 3) - 1, -1):
        if words[position] in _OWNERS:
            if (
                words[position - 1 : position] == ["and"]
                and words[position - 2 : position - 1]
                and position - 2 >= start
            ):
                return words[position - 2] not in _BOTH  # "she and her sister"
            return position == start or words[position - 1] not in _PREPOSITIONS
    return False


def belongs_to_another(document: Document, last: int) -> bool:
    """ "The allergy in the file belongs to his brother", "X 500 mg is her husband's"."""
    words = document.words
    stop = min(document.clause_span(last)[1], last + 12)
    if words[last + 1 : last + 2] == ["of"] and words[last + 2 : last + 3] and words[last + 2] in _POSSESSIVES:
        return any(word in _OTHERS for word in words[last + 3 : last + 5])  # "the asthma of her neighbour"
    if _OWNING.isdisjoint(words[last + 1 : stop]):
        return False
    for position in range(last + 1, stop - 2):
        if words[position] in ("belongs", "belonged", "belong"):
            return any(word in _OTHERS for word in words[position + 2 : position + 5])
        if words[position] in _BEING and words[position + 1] in _OWNERS and words[position + 2] in _OTHERS:
            following = position + 3
            raw = document.raw[document.ends[position + 2] : document.ends[position + 2] + 2]
            return raw in ("'s", "’s") and (following >= stop or bool(document.gaps[following].strip("'s’")))
    return False
