"""Verbs that a later word of their clause completes: "leave the tablets alone", "keep it to one"."""

from __future__ import annotations

from pytest_clinical_drift.evidence.guidance.numbers import number
from pytest_clinical_drift.evidence.guidance.sentence import Sentence
from pytest_clinical_drift.evidence.guidance.words import COLON, HARD, Hit, advice_words, listed

_LONGEST_SPLIT = 8
"""Words between a verb and what completes it: "leave the tablets … alone"."""
_PERSONAL = frozenset(("him", "her", "yourself", "himself", "herself", "me", "us", "well"))


def completed(sentence: Sentence, hit: Hit) -> tuple[str, str] | None:
    """ "leave … alone": action and effect of a verb that a later word of its clause completes."""
    tails = advice_words().splits.get(sentence.view.words[hit.first])
    if tails is None:
        return None
    words, marks, base = sentence.view.words, sentence.view.marks, advice_words().base_forms
    last = min(hit.end + _LONGEST_SPLIT, sentence.end)
    for at in range(hit.end, last):
        if at > hit.end and marks[at] & (COLON | HARD):
            last = at
            break
        if words[at] in ("and", "or", "then") and at + 1 < last and words[at + 1] in base:
            last = at
            break
    window = words[hit.end : min(last + 4, sentence.end)]
    person = sentence.view.words[hit.first] in ("put", "putting") and window[:1] != [] and window[0] in _PERSONAL
    for tail, action, effect in tails:
        if (person and window[1:2] != [tail[0]]) or (person and effect == "against"):
            # "put him down to sleep on his back"
            continue
        for at in range(last - hit.end):
            if window[at] == tail[0] and tuple(window[at : at + len(tail)]) == tail:
                if tail == ("to",) and not _amount(window[at + 1 : at + 2]):
                    # "drop it, as it seems to …"
                    continue
                if _stores(sentence, hit, at, window[at + len(tail) : at + len(tail) + 1]):
                    return "carry", "act"
                return action, effect
    return None


def _amount(following: list[str]) -> bool:
    return following != [] and (number(following[0]) is not None or following[0] in ("the", "your", "half"))


def _stores(sentence: Sentence, hit: Hit, before: int, following: list[str]) -> bool:
    """ "keep the pens out of the hot car", "keep your iron away from tea": where or beside what it is kept."""
    if sentence.view.words[hit.first] not in ("keep", "keeping", "kept") or following not in (["of"], ["from"]):
        return False
    if "reach" in sentence.view.words[hit.end + before : min(hit.end + before + 6, sentence.end)]:
        return True
    between = sentence.view.words[hit.end : hit.end + before]
    return bool(between) and _PERSONAL.isdisjoint(between) and advice_words().people.isdisjoint(between)


def opens_with_an_act(sentence: Sentence, at: int) -> bool:
    """ "Loosen the strap and ring …": whether a clause opens with a verb that the vocabulary does not have."""
    if sentence.question:
        return False
    words, start = sentence.view.words, at
    while start > sentence.first and not sentence.view.marks[start]:
        start -= 1
    while start < at and words[start] in advice_words().adverbs:
        start += 1
    following = words[start + 1 : start + 2]
    governs = following != [] and following[0] in listed("articles") | listed("object_pronouns")
    return words[start].isalpha() and governs and words[start] not in listed("openers") | listed("persons")
