"""Cue phrases found in a document's tokens, by label; the phrases come from a data file."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from pytest_clinical_drift.evidence.reading.text import Document, tokenise
from pytest_clinical_drift.evidence.terms.vocabulary import load_data


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

    def find(self, document: Document, first: int, stop: int) -> list[Cue]:
        """Phrases that begin from token `first` to before `stop`, the longest at each; none crosses a sentence."""
        words = document.words
        openings = self.openings
        found: list[Cue] = []
        for place in [index for index in range(first, stop) if words[index] in openings]:
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


_NEAR = 64  # tokens that are searched anew each time; for a wider range all cues of the label are found once


class Cues:
    """Cues of one document, looked up by label and range of tokens."""

    __slots__ = ("_document", "_found", "_phrases", "_present")

    def __init__(self, document: Document, phrases: dict[str, _Phrases]) -> None:
        self._document = document
        self._phrases = phrases
        self._found: dict[str, tuple[list[Cue], list[int]]] = {}
        self._present: dict[str, _Phrases | None] = {}

    def between(self, label: str, first: int, stop: int) -> list[Cue]:
        """Cues of a label that start from token `first` up to before `stop`."""
        phrases = self._present[label] if label in self._present else self._look_for(label)
        if phrases is None:
            return []
        first = max(0, first)
        if stop - first <= _NEAR:
            if phrases.openings.isdisjoint(self._document.words[first:stop]):
                return []
            return phrases.find(self._document, first, min(stop, len(self._document)))
        if label not in self._found:
            cues = phrases.find(self._document, 0, len(self._document))
            self._found[label] = cues, [cue.first for cue in cues]
        cues, starts = self._found[label]
        return cues[bisect_left(starts, first) : bisect_left(starts, stop)]

    def _look_for(self, label: str) -> _Phrases | None:
        """The phrases of a label; None where no word of the document opens one, which is the common case."""
        phrases = self._phrases.get(label)
        if phrases is not None and phrases.openings.isdisjoint(self._document.words):
            phrases = None
        self._present[label] = phrases
        return phrases


def cues_of(document: Document, file: str) -> Cues:
    """The cues of a document from one data file."""
    key = f"cues {file}"
    cues: Cues | None = document.cache.get(key)
    if cues is None:
        cues = document.cache[key] = Cues(document, _phrases_of(file))
    return cues
