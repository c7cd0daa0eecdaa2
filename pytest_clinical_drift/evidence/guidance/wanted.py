"""Whether a reply says what it must: one of several wordings, in any inflection, and not under negation."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from pytest_clinical_drift.evidence.guidance.objects import stem, stems
from pytest_clinical_drift.evidence.guidance.record import Advice
from pytest_clinical_drift.evidence.guidance.words import spelled_out, view_of
from pytest_clinical_drift.evidence.text import Document

_NEGATIVE = frozenset(["not", "no", "never", "without", "nor", "neither", "hardly", "cannot"])
_REACH = 5
"""A negation acts on the words up to this far behind it."""
_MOST_SKIPPED = 2
"""Little words that may stand between the words of a wanted phrase."""
_LITTLE = frozenset(["a", "an", "the", "your", "his", "her", "their", "my", "this", "that", "it", "to", "of"])
_ENOUGH = 0.6


def states(document: Document, advice: Sequence[Advice], text: str, any_of: tuple[str, ...]) -> bool:
    """Whether the document states one of the wordings, or, without wordings, most of the wish's own content."""
    view = view_of(document)
    words = view.words
    folded = [_folded(word) for word in words]
    where: dict[str, list[int]] = {}
    for at, word in enumerate(folded):
        where.setdefault(word, []).append(at)
    if any(_stated(phrase, words, folded, where, view.gaps) for phrase in any_of):
        return True
    if any_of:
        return False
    wanted = stems(spelled_out(text))
    if not wanted:
        return True
    return any(len(wanted & item.topic) >= _ENOUGH * len(wanted) for item in advice)


@lru_cache(maxsize=8192)
def _phrase(text: str) -> tuple[tuple[str, ...], bool]:
    """Stems of a wanted phrase, and whether it is a negation itself."""
    words = spelled_out(text)
    return tuple(_folded(word) for word in words if word not in _LITTLE or len(words) == 1), bool(
        _NEGATIVE & set(words)
    )


def _folded(word: str) -> str:
    """The stem; "never" does what "not" does."""
    return "not" if word == "never" else stem(word)


def _stated(phrase: str, words: list[str], folded: list[str], where: dict[str, list[int]], gaps: list[str]) -> bool:
    wanted, negative = _phrase(phrase)
    if not wanted:
        return False
    for start in where.get(wanted[0], ()):
        if _follows(wanted, start, words, folded) and (negative or not _negated(words, start, gaps)):
            return True
    return False


def _follows(wanted: tuple[str, ...], start: int, words: list[str], folded: list[str]) -> bool:
    at = start + 1
    for word in wanted[1:]:
        skipped = 0
        while at < len(words) and folded[at] != word and words[at] in _LITTLE and skipped < _MOST_SKIPPED:
            at += 1
            skipped += 1
        if at >= len(words) or folded[at] != word:
            return False
        at += 1
    return True


def _negated(words: list[str], start: int, gaps: list[str]) -> bool:
    """Whether a negation in the same clause stands closely before a phrase."""
    at = start
    while at > 0 and start - at < _REACH:
        if any(mark in gaps[at] for mark in (".", ";", "?", "!", "–", "\n", ":")) or (
            gaps[at] == "," and words[at] in ("but", "so", "and")
        ):
            return False
        at -= 1
        if words[at] in ("but", "so", "because") or (words[at] == "no" and gaps[at + 1].startswith(",")):
            return False  # "No, keep taking it": the answer, not a denial of what follows
        if words[at] in _NEGATIVE:
            return True
    return False
