"""Statements about nobody: "no one in her family has had X", "none of his relatives smokes"."""

from __future__ import annotations

from pytest_clinical_drift.evidence.terms.vocabulary import word_set
from pytest_clinical_drift.evidence.text import Document

_REACH = 16
_NOBODY = word_set("nobody", "nobody")
_RELATIVES = word_set("nobody", "relatives")
_HAVING = word_set("nobody", "having")
_OTHERWISE = word_set("nobody", "otherwise")


def is_of_nobody(document: Document, first: int) -> bool:
    """Whether what stands at a token is denied of all people that the subject of its sentence could mean."""
    start = max(document.sentence_span(first)[0], first - _REACH)
    words = document.words[start:first]
    if _NOBODY.isdisjoint(words) or document.words[first] in _OTHERWISE:
        return False  # "no one else knows": what is known is so
    for place in range(len(words) - 1, -1, -1):
        if words[place] in _NOBODY:
            subject = _subject_end(words, place)
            if subject is None:
                continue
            between = words[subject:]
            if ";" in "".join(document.gaps[start + place + 1 : first + 1]) or not _OTHERWISE.isdisjoint(between):
                return False
            return not between or not _HAVING.isdisjoint(between)
    return False


def _subject_end(words: list[str], place: int) -> int | None:
    """Behind "nobody", "no one", "none of …", "no relatives"; None where the word denies something else."""
    word, following = words[place], words[place + 1 : place + 4]
    if word == "nobody":
        return place + 1
    if word == "no" and following[:1] == ["one"]:
        return place + 2
    if word in ("no", "none", "neither") and not _RELATIVES.isdisjoint(following):
        return place + 1 + max(i for i, w in enumerate(following) if w in _RELATIVES) + 1
    return None
