"""Keys under which the forms of one word meet: spelling, stems, light typing errors."""

import re
from collections.abc import Iterable
from functools import cached_property, lru_cache
from itertools import chain

from pytest_clinical_drift.evidence.reading.document import Document, once
from pytest_clinical_drift.evidence.reading.tokens import Memory
from pytest_clinical_drift.evidence.terms.vocabulary import load_vocabulary, word_set

# "tumour", "behavioural", "favourite"; not "mourning".
_OUR = tuple((f"our{tail}", f"or{tail}") for tail in ("", "al", "ally", "ed", "ing", "ite", "able", "er"))
_ACHE = re.compile(r"(?<![aeiou])aches$")
"""The plural of "headache"; not of "coach"."""
_AMERICAN = (*_OUR, ("ised", "ized"), ("ising", "izing"), ("ise", "ize"), ("yse", "yze"), ("tre", "ter"))


def _fold(word: str) -> str:
    if len(word) < 4 or not word.isalpha():
        return word
    if word.endswith("ies") and len(word) > 4:
        word = word[:-3] + "y"
    elif word.endswith(("sses", "xes", "ches", "shes")) and not _ACHE.search(word):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us")) and not (word.endswith("is") and len(word) > 5):
        word = word[:-1]
    if len(word) < 5:
        return word
    word = word.replace("ae", "e").replace("oe", "e").replace("ph", "f").replace("ll", "l")
    word = word.replace("isation", "ization").replace("ysis", "yzis")
    for british, american in _AMERICAN:
        if word.endswith(british):
            return word[: -len(british)] + american
    return word


fold = Memory(_fold).__getitem__
"""A key under which singular and plural, British and American spelling of a word meet."""


def _regular_forms() -> dict[str, str]:
    """Irregular forms and the word they belong to."""
    regular: dict[str, str] = {}
    for first, *others in load_vocabulary("irregular"):
        regular.update((str(form), str(first)) for form in others)
    return regular


_REGULAR = _regular_forms()
_WHOLE = word_set("stems", "whole")
"""Words that end like a form of a verb and are none."""
_ENDINGS = ("ations", "ation", "ions", "ion", "edly", "ment", "ness", "ly", "ers", "er", "al", "ity")
_VOWELS = frozenset("aeiouy")


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """A key that the forms of one word share: sells, selling, sold; "caring" never meets "car"."""
    word = _REGULAR.get(word, word)
    ended = _without_ending(word)
    word = fold(word) if ended is None else fold(ended)
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            word = word[: -len(ending)]
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "se":
        word = word[:-1]
    if len(word) > 4 and word.endswith("e"):
        word = word[:-1]
    if len(word) > 4 and word.endswith("y"):
        word = word[:-1] + "i"
    return word


def _without_ending(word: str) -> str | None:
    """The word before "-ing", "-ed" or "-ied", spelled as it was; None where it has no such ending."""
    if word.endswith("ied") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith("ing"):
        root = word[:-3]
    elif word.endswith("ed"):
        root = word[:-2]
    else:
        return None
    if len(root) < 2 or _VOWELS.isdisjoint(root) or root.endswith("e") or word in _WHOLE:
        return None
    if len(root) > 3 and root[-1] == root[-2]:
        return root  # doubled letters are made single for every word
    before = root[-3:-2]
    short = len(root) <= 3 and root[-1] not in "aeiouwxy" and root[-2] in _VOWELS and before not in _VOWELS
    return root + "e" if short or root.endswith("s") else root


def _shared_keys() -> dict[str, str]:
    """Stems of words that say the same beside another one, each with the key that they share."""
    keys: dict[str, str] = {}
    for number, words in enumerate(load_vocabulary("spelling")["alike"]):
        keys.update((stem(str(word)), f"~{number}") for word in words)
    return keys


_ALIKE = _shared_keys()


@lru_cache(maxsize=65536)
def loose_stem(word: str) -> str:
    """The stem, or a common key for words that say the same beside another one."""
    key = stem(word)
    return _ALIKE.get(key, key)


@once
def stems_of(document: Document) -> list[str]:
    return list(map(stem, document.words))


@once
def loose_stems(document: Document) -> list[str]:
    return list(map(loose_stem, document.words))


def _deletions(word: str) -> set[str]:
    return {word[:i] + word[i + 1 :] for i in range(len(word))} | {word}


class TypoIndex:
    """Vocabulary words by what is left of them when one letter is dropped."""

    def __init__(self, words: Iterable[str], *, never: frozenset[str] = frozenset()) -> None:
        self._words = frozenset(words)
        self._never = never

    @cached_property
    def _index(self) -> dict[str, tuple[str, ...]]:
        # Tuples of strings: the garbage collector leaves them out, where as many lists would slow every full pass.
        index: dict[str, tuple[str, ...]] = {}
        for word in self._words:
            for key in _deletions(word):
                index[key] = (*index.get(key, ()), word)
        return index

    def nearest(self, word: str) -> str | None:
        """The one vocabulary word this can be a mistyping of, or None."""
        if word in self._never or len(word) > 30:
            return None
        candidates = set(chain.from_iterable(self._index.get(key, ()) for key in _deletions(word)))
        # A word that only goes on differently at its end is an inflection or another word, not a slip.
        near = [c for c in candidates if c[0] == word[0] and not (c.startswith(word) or word.startswith(c))]
        return near[0] if len(near) == 1 else None
