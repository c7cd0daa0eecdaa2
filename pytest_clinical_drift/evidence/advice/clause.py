"""What an order of a sentence governs: where a clause breaks, what is denied, what is under a condition."""

from __future__ import annotations

from pytest_clinical_drift.evidence.advice.words import words
from pytest_clinical_drift.evidence.reading.text import HEADING, LABEL, Document
from pytest_clinical_drift.evidence.terms.vocabulary import word_set

_NEAR = 4
"""Tokens before a verb in which a denial acts on it."""
_REACH = 14
"""Tokens that an order governs at the most."""
_BREAKS = (";", ":", "–", "—", ".", "!", "?", "\n")
DENIERS = frozenset(("not", "never", "no", "neither", "nor", "cannot", "without"))
_AFTER_NOUNS = word_set("advice", "after_nouns")
_GOVERNS_NO_MORE = frozenset(("but", "because", "so", "which", "until", "unless", "if", "as"))

_RATES = [["once", word] for word in ("daily", "a", "per", "every", "weekly", "nightly", "more", "again", "in")]


class Clause:
    """One sentence of a reply, as the readers of orders walk through it."""

    def __init__(self, document: Document, first: int, stop: int) -> None:
        self._document, self._first, self._stop = document, first, stop
        self._words = document.words
        self._lists = words()

    def _clause(self, position: int) -> tuple[int, int]:
        document = self._document
        first = position
        while first > self._first and not broken(document, first):
            first -= 1
        last = position
        while last + 1 < self._stop and not broken(document, last + 1):
            last += 1
        return first, last

    def _end(self, begin: int) -> int:
        """The last token that an order from `begin` on governs: up to a mark, "but" or "because"."""
        document = self._document
        for place in range(begin, min(self._stop, begin + _REACH)):
            if (
                place > begin
                and "," in document.gaps[place]
                and self._words[place] == "and"
                and self._words[place + 1 : place + 2] in (["the"], ["your"], ["a"])
            ):
                return place - 1
            if (place > begin and broken(document, place)) or self._words[place] in _GOVERNS_NO_MORE:
                return place - 1
            if (
                self._words[place : place + 2] in (["rather", "than"], ["instead", "of"], ["not", "the"])
                and place > begin
            ):
                return place - 1
        return min(self._stop, begin + _REACH) - 1

    def _list_end(self, begin: int) -> int:
        """The last token of "ibuprofen, naproxen or aspirin": up to a preposition or a verb."""
        for place in range(begin + 1, self._end(begin) + 1):
            if self._words[place] in _AFTER_NOUNS or self._words[place].endswith("ed"):
                return place - 1
        return self._end(begin)

    def _stops(self, place: int) -> bool:
        """Whether nothing follows that a verb could govern."""
        if place >= self._stop or broken(self._document, place) or "," in self._document.gaps[place]:
            return True
        return self._words[place] in _AFTER_NOUNS

    def _denied(self, position: int) -> bool:
        """Whether a denial or a giving-up stands closely before a verb, in its clause."""
        document = self._document
        for place in range(position - 1, max(self._first, position - _NEAR) - 1, -1):
            if broken(document, place + 1) or document.gaps[place + 1] == ",":
                return False
            word = self._words[place]
            if word in DENIERS or word in ("needn't", "avoid", "stop", "against", "from"):
                following = self._words[place + 1]
                return word != "no" or following == "need" or (place + 1 == position and following.endswith("ing"))
            if word in ("but", "and", "so", "because"):
                return False
        return False

    def _conditional(self, cue: int) -> bool:
        words_, lists = self._words, self._lists
        labels = " ".join(self._document.labels_of(cue)[:1])
        if labels.endswith((" if", " for", " when")) or labels.startswith(
            ("if ", "when ", "999", "call 999", "go to a e")
        ):
            return True
        begin, end = self._clause(cue)
        for place in range(self._first, max(end, cue) + 1):
            for phrase in lists.conditions:
                if tuple(words_[place : place + len(phrase)]) != phrase or words_[place : place + 2] in _RATES:
                    continue
                granted = any(tuple(words_[p : p + len(c)]) == c for c in lists.concessions for p in (place, place - 1))
                near = place >= begin - 1 or place < cue
                if not granted and near:
                    return True
        return False


def broken(document: Document, index: int) -> bool:
    """Whether a new clause or list item begins at a token."""
    gap = document.gaps[index] if index < len(document.gaps) else "\n"
    if any(mark in gap for mark in _BREAKS):
        return True
    kinds = document.segment_kinds
    return (
        index > 0
        and document.segments[index] != document.segments[index - 1]
        and kinds[document.segments[index - 1]] in (HEADING, LABEL)
    )
