"""Keys under which the forms of one word meet: spelling, stems, light typing errors."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from pytest_clinical_drift.evidence.reading.document import Document
from pytest_clinical_drift.evidence.reading.tokens import Memory
from pytest_clinical_drift.evidence.terms.vocabulary import load_data, word_set

# "tumour", "behavioural", "favourite"; not "mourning".
_OUR = tuple((f"our{tail}", f"or{tail}") for tail in ("", "al", "ally", "ed", "ing", "ite", "able", "er"))
_AMERICAN = (*_OUR, ("ised", "ized"), ("ising", "izing"), ("ise", "ize"), ("yse", "yze"), ("tre", "ter"))


def _fold(word: str) -> str:
    if len(word) < 4 or not word.isalpha():
        return word
    if word.endswith("ies") and len(word) > 4:
        word = word[:-3] + "y"
    elif word.endswith(("sses", "xes", "ches", "shes")) and not _is_ache(word):
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


def _is_ache(word: str) -> bool:
    """ "headaches" is the plural of "headache", "coaches" that of "coach"."""
    return word.endswith("aches") and word[-6:-5] not in ("a", "e", "i", "o", "u")


_FOLDS = Memory(_fold)


def fold(word: str) -> str:
    """A key under which singular and plural, British and American spelling of a word meet."""
    return _FOLDS[word]


_ENDINGS = ("ations", "ation", "ions", "ion", "edly", "ment", "ness", "ly", "ers", "er", "al", "ity")
_VOWELS = frozenset("aeiouy")


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """A key that the forms of one word share: sells, selling, sold; "caring" never meets "car"."""
    word = _regular().get(word, word)
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


@lru_cache(maxsize=1)
def _regular() -> dict[str, str]:
    """Irregular forms and the word they belong to."""
    return {str(form): str(words[0]) for words in load_data("irregular") for form in words[1:]}


@lru_cache(maxsize=1)
def _whole() -> frozenset[str]:
    """Words that end like a form of a verb and are none."""
    return word_set("stems", "whole")


def _without_ending(word: str) -> str | None:
    """The word before "-ing", "-ed" or "-ied", spelled as it was; None where it has no such ending."""
    if word.endswith("ied") and len(word) > 4:
        return word[:-3] + "y"
    root = word[:-3] if word.endswith("ing") else word[:-2] if word.endswith("ed") else ""
    if len(root) < 2 or _VOWELS.isdisjoint(root) or root.endswith("e") or word in _whole():
        return None
    if len(root) > 3 and root[-1] == root[-2]:
        return root  # doubled letters are made single for every word
    before = root[-3:-2]
    short = len(root) <= 3 and root[-1] not in "aeiouwxy" and root[-2] in _VOWELS and before not in _VOWELS
    return root + "e" if short or root.endswith("s") else root


@lru_cache(maxsize=1)
def _alike() -> dict[str, str]:
    groups = load_data("spelling")["alike"]
    return {stem(str(word)): f"~{number}" for number, words in enumerate(groups) for word in words}


def loose_stem(word: str) -> str:
    """The stem, or a common key for words that say the same beside another one."""
    key = stem(word)
    return _alike().get(key, key)


_STEMS = Memory(stem)
_LOOSE_STEMS = Memory(loose_stem)


def stems_of(document: Document) -> list[str]:
    """The stem of every token."""
    stems: list[str] | None = document.cache.get("stems")
    if stems is None:
        stems = document.cache["stems"] = list(map(_STEMS.__getitem__, document.words))
    return stems


def loose_stems(document: Document) -> list[str]:
    """The loose stem of every token."""
    stems: list[str] | None = document.cache.get("loose stems")
    if stems is None:
        stems = document.cache["loose stems"] = list(map(_LOOSE_STEMS.__getitem__, document.words))
    return stems


def _deletions(word: str) -> set[str]:
    return {word[:i] + word[i + 1 :] for i in range(len(word))} | {word}


def distance(left: str, right: str, limit: int = 2) -> int:
    """Edits (insertion, deletion, substitution, swap of neighbours) between two words, `limit` + 1 when more."""
    if abs(len(left) - len(right)) > limit:
        return limit + 1
    before: list[int] = []
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        following = [i]
        for j, b in enumerate(right, 1):
            best = min(row[j] + 1, following[j - 1] + 1, row[j - 1] + (a != b))
            if before and j > 1 and a == right[j - 2] and left[i - 2] == b:
                best = min(best, before[j - 2] + 1)
            following.append(best)
        before, row = row, following
    return min(row[-1], limit + 1)


class TypoIndex:
    """Vocabulary words by what is left of them when one letter is dropped."""

    def __init__(self, words: Iterable[str], *, never: frozenset[str] = frozenset()) -> None:
        self._words = frozenset(words)
        self._never = never
        self._index: dict[str, tuple[str, ...]] | None = None

    def _build(self) -> dict[str, tuple[str, ...]]:
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
        if self._index is None:
            self._index = self._build()
        candidates: set[str] = set()
        for key in _deletions(word):
            candidates.update(self._index.get(key, ()))
        best: list[str] = []
        nearest = 3
        for candidate in candidates:
            # A word that only goes on differently at its end is an inflection or another word, not a slip.
            if candidate[0] != word[0] or candidate.startswith(word) or word.startswith(candidate):
                continue
            away = distance(word, candidate)
            allowed = 2 if min(len(word), len(candidate)) >= 10 else 1
            if away <= allowed and away <= nearest:
                best = [candidate] if away < nearest else [*best, candidate]
                nearest = away
        return best[0] if len(best) == 1 else None
