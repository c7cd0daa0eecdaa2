"""Cue phrases found in a document's tokens, by label; the phrases come from a data file."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple, cast

from pytest_clinical_drift.evidence.terms.vocabulary import load_data
from pytest_clinical_drift.evidence.text import Document, tokenise


class Cue(NamedTuple):
    """A phrase that stands in the text."""

    first: int
    last: int
    label: str


class PhraseTable:
    """Phrases by their first word or two."""

    def __init__(self, phrases: Mapping[str, Sequence[str]]) -> None:
        #: Labels of words that are a phrase by themselves.
        self._single: dict[str, list[str]] = {}
        #: Longer phrases with their labels by their first two words, longest first.
        self._longer: dict[str, dict[str, list[tuple[list[str], str]]]] = {}
        for label, texts in phrases.items():
            for text in texts:
                words = list(tokenise(str(text)))
                if len(words) == 1:
                    self._single.setdefault(words[0], []).append(label)
                elif words:
                    self._longer.setdefault(words[0], {}).setdefault(words[1], []).append((words, label))
        for seconds in self._longer.values():
            for entries in seconds.values():
                entries.sort(key=lambda entry: -len(entry[0]))
        self._openings = frozenset((*self._single, *self._longer))

    def find(self, document: Document) -> list[Cue]:
        """Every phrase, by position; of one label the longest from a token. Phrases never cross a sentence."""
        found: list[Cue] = []
        words = document.words
        openings, single, longer = self._openings, self._single, self._longer
        total = len(words)
        for first in [i for i, word in enumerate(words) if word in openings]:
            seen: set[str] | None = None
            seconds = longer.get(words[first])
            entries = seconds.get(words[first + 1]) if seconds and first + 1 < total else None
            for phrase, label in entries or ():
                stop = first + len(phrase)
                if (seen and label in seen) or stop > total or words[first:stop] != phrase:
                    continue
                if document.sentences[stop - 1] == document.sentences[first]:
                    seen = {label, *(seen or ())}
                    found.append(Cue(first, stop - 1, label))
            for label in single.get(words[first], ()):
                if not seen or label not in seen:
                    found.append(Cue(first, first, label))
        return found


@lru_cache(maxsize=8)
def phrase_table(file: str) -> PhraseTable:
    """The phrases of a bundled data file."""
    return PhraseTable(load_data(file) or {})


class Cues:
    """Cues of one document, looked up by label and range of tokens."""

    __slots__ = ("_firsts", "_lists")

    def __init__(self, cues: Sequence[Cue]) -> None:
        self._lists: dict[str, list[Cue]] = {}
        for cue in cues:
            self._lists.setdefault(cue.label, []).append(cue)
        self._firsts = {label: [cue.first for cue in cues] for label, cues in self._lists.items()}

    def between(self, label: str, first: int, stop: int) -> list[Cue]:
        """Cues of a label that start from token `first` up to before `stop`."""
        starts = self._firsts.get(label)
        if starts is None:
            return []
        return self._lists[label][bisect_left(starts, first) : bisect_left(starts, stop)]


def cues_of(document: Document, file: str) -> Cues:
    """The cues of a document from one data file, found once."""
    key = f"cues {file}"
    cues = cast("Cues | None", document.cache.get(key))
    if cues is None:
        cues = Cues(phrase_table(file).find(document))
        document.cache[key] = cues
    return cues
