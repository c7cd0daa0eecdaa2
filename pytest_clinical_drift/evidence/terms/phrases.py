"""Cue phrases found in a document's tokens, by label; the phrases come from a data file."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from functools import lru_cache
from itertools import compress
from operator import attrgetter
from typing import NamedTuple

from pytest_clinical_drift.evidence.reading.text import Document, tokenise
from pytest_clinical_drift.evidence.terms.vocabulary import load_data

_FIRST = attrgetter("first")


class Cue(NamedTuple):
    """A phrase that stands in the text."""

    first: int
    last: int
    label: str


class _Phrases:
    """The phrases of one label, by their first word or two."""

    __slots__ = ("_label", "_longer", "_single", "openings")

    def __init__(self, label: str, texts: Iterable[str]) -> None:
        self._label = label
        self._single: set[str] = set()
        #: Phrases of two words and more by their first two words, longest first.
        self._longer: dict[str, dict[str, list[list[str]]]] = {}
        for text in texts:
            words = list(tokenise(str(text)))
            if len(words) == 1:
                self._single.add(words[0])
            elif words:
                self._longer.setdefault(words[0], {}).setdefault(words[1], []).append(words)
        for seconds in self._longer.values():
            for phrases in seconds.values():
                phrases.sort(key=lambda phrase: -len(phrase))
        self.openings = frozenset((*self._single, *self._longer))

    def find(self, document: Document) -> list[Cue]:
        """Every phrase of a document, the longest at each token; none crosses a sentence."""
        words = document.words
        openings = self.openings
        found: list[Cue] = []
        for place in compress(range(len(words)), map(openings.__contains__, words)):
            word = words[place]
            seconds = self._longer.get(word)
            phrases = seconds.get(words[place + 1], ()) if seconds and place + 1 < len(words) else ()
            last = next((place + len(p) - 1 for p in phrases if _stands(document, p, place)), -1)
            if last >= 0:
                found.append(Cue(place, last, self._label))
            elif word in self._single:
                found.append(Cue(place, place, self._label))
        return found


def _stands(document: Document, phrase: list[str], place: int) -> bool:
    stop = place + len(phrase)
    return document.words[place:stop] == phrase and document.sentences[stop - 1] == document.sentences[place]


@lru_cache(maxsize=8)
def _phrases_of(file: str) -> dict[str, _Phrases]:
    """The phrases of a bundled data file, by label."""
    return {label: _Phrases(label, texts) for label, texts in (load_data(file) or {}).items()}


class Cues:
    """Cues of one document, looked up by label and range of tokens; those of a label are found when first asked for."""

    __slots__ = ("_document", "_found", "_phrases")

    def __init__(self, document: Document, phrases: dict[str, _Phrases]) -> None:
        self._document = document
        self._phrases = phrases
        self._found: dict[str, list[Cue]] = {}

    def between(self, label: str, first: int, stop: int) -> list[Cue]:
        """Cues of a label that start from token `first` up to before `stop`."""
        cues = self._found.get(label)
        if cues is None:
            cues = self._found[label] = self._phrases[label].find(self._document)
        if not cues:
            return cues
        low = bisect_left(cues, first, key=_FIRST)
        return cues[low : bisect_left(cues, stop, low, key=_FIRST)]


def cues_of(document: Document, file: str) -> Cues:
    """The cues of a document from one data file."""
    key = f"cues {file}"
    cues: Cues | None = document.cache.get(key)
    if cues is None:
        cues = document.cache[key] = Cues(document, _phrases_of(file))
    return cues
