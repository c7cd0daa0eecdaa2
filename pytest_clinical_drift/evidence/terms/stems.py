"""Stems: a key that the forms of one word share, and a looser one for words that say the same beside another."""

from __future__ import annotations

from functools import lru_cache

from pytest_clinical_drift.evidence.reading.document import Document
from pytest_clinical_drift.evidence.reading.memory import Memory
from pytest_clinical_drift.evidence.terms.folding import fold
from pytest_clinical_drift.evidence.terms.vocabulary import load_data, word_set

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
