"""Which other people a phrase names: two phrases about different ones do not say the same."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pytest_clinical_drift.evidence.terms.vocabulary import word_set

# Each entry: words for one person, the first of which stands for all of them.
_NAMES = {word: entry.split()[0] for entry in word_set("relatives", "names") for word in entry.split()}
# Each entry: a general word, then those it takes in.
_KINDS = {entry.split()[0]: frozenset(entry.split()[1:]) for entry in word_set("relatives", "kinds")}
# Words that make "mother" or "father" the patient: "lone mother", "mother of two".
_OWN_BEFORE = word_set("relatives", "own_before")
_OWN_AFTER = word_set("relatives", "own_after")


def people(words: Sequence[str]) -> frozenset[str]:
    """The people around the patient that a phrase names, one word for each."""
    found = set()
    for place, word in enumerate(words):
        name = _NAMES.get(word)
        if name is None:
            continue
        following = words[place + 1 : place + 2]
        own = (place > 0 and words[place - 1] in _OWN_BEFORE) or (bool(following) and following[0] in _OWN_AFTER)
        if not (own and name in ("mother", "father", "parents")):
            found.add(name)
    return frozenset(found)


def same_people(wanted: frozenset[str], named: frozenset[str]) -> bool:
    """Whether a phrase about `named` may stand for one about `wanted`: the same, a kind of them or the general word."""
    if not wanted:
        return True
    return all(_has_like(one, named) for one in wanted) and all(_has_like(one, wanted) for one in named)


def _has_like(one: str, others: Iterable[str]) -> bool:
    return any(one == other or one in _KINDS.get(other, ()) or other in _KINDS.get(one, ()) for other in others)


_PATIENT = frozenset(("he", "she", "they", "i", "you", "patient", "his", "her", "their", "my", "your", "whose"))


def is_said_of_relative(words: Sequence[str], first: int, start: int) -> bool:
    """ "son is in prison": a relative stands before a mention, with nothing that leads back to the patient."""
    for place in range(first - 1, max(start, first - 7) - 1, -1):
        if words[place] in _PATIENT:
            return False
        if words[place] in _NAMES:
            return True
    return False
