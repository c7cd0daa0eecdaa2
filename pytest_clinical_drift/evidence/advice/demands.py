"""Whether a reply says what it must: one of several wordings, in any inflection, and not under a denial."""

from __future__ import annotations

from functools import lru_cache

from pytest_clinical_drift.evidence.reading.text import Document, tokenise
from pytest_clinical_drift.evidence.terms.index import places_in
from pytest_clinical_drift.evidence.terms.stems import stem, stems_of

_NEGATIVE = frozenset(("not", "no", "never", "without", "nor", "neither", "hardly", "cannot"))
_LITTLE = frozenset(("a", "an", "the", "your", "his", "her", "their", "my", "this", "that", "it", "to", "of"))
_REACH = 5
"""A denial acts on the words up to this far behind it."""
_SKIPPED = 2
"""Little words that may stand between the words of a wanted phrase."""


def states(document: Document, wordings: tuple[str, ...]) -> bool:
    """Whether the document says one of the wordings."""
    return any(_stated(document, wording) for wording in wordings)


@lru_cache(maxsize=8192)
def _phrase(text: str) -> tuple[tuple[str, ...], bool]:
    """Stems of a wanted phrase, and whether it is a denial itself."""
    words = tokenise(text)
    kept = [word for word in words if word not in _LITTLE or len(words) == 1]
    return tuple(_folded(word) for word in kept), not _NEGATIVE.isdisjoint(words)


def _folded(word: str) -> str:
    """The stem; "never" does what "not" does."""
    return "not" if word == "never" else stem(word)


def _stated(document: Document, wording: str) -> bool:
    wanted, denying = _phrase(wording)
    if not wanted:
        return False
    stems = stems_of(document)
    starts = places_in(stems, wanted[0]) + (places_in(document.words, "never") if wanted[0] == "not" else [])
    return any(
        _follows(document, stems, wanted, start) and (denying or not _denied(document, start)) for start in starts
    )


def _follows(document: Document, stems: list[str], wanted: tuple[str, ...], start: int) -> bool:
    at = start + 1
    for word in wanted[1:]:
        skipped = 0
        while (
            at < len(stems)
            and _folded(document.words[at]) != word
            and document.words[at] in _LITTLE
            and skipped < _SKIPPED
        ):
            at += 1
            skipped += 1
        if at >= len(stems) or _folded(document.words[at]) != word:
            return False
        at += 1
    return True


def _denied(document: Document, start: int) -> bool:
    """Whether a denial in the same clause stands closely before a phrase."""
    for place in range(start, max(0, start - _REACH), -1):
        if any(mark in document.gaps[place] for mark in ".;?!–\n:"):
            return False
        word = document.words[place - 1]
        if word in ("but", "so", "because", "and") or (word == "no" and document.gaps[place].startswith(",")):
            return False  # "No, keep taking it": the answer, not a denial of what follows
        if word in _NEGATIVE:
            return True
    return False
