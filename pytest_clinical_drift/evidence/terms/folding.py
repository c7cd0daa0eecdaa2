"""Keys under which different spellings of one word meet."""

from __future__ import annotations

from pytest_clinical_drift.evidence.reading.memory import Memory

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
