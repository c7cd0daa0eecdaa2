"""What a reply grants ("If you'd rather stop it, go ahead") and what it only quotes."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_clinical_drift.evidence.guidance.limits import CONCESSION
from pytest_clinical_drift.evidence.guidance.sentence import Limit, Sentence
from pytest_clinical_drift.evidence.guidance.words import Hit, advice_words, listed

_SAYS_WITHIN = 7
"""Words from a verb of saying to the quotation it opens."""


def granted_verbs(sentence: Sentence) -> Iterator[Hit]:
    """The act inside a concession that the rest of the sentence allows."""
    for limit in sentence.limits:
        if limit.kind == CONCESSION and _allowed(sentence, limit):
            verb = _first_verb(sentence, limit)
            if verb is not None:
                yield verb


def _allowed(sentence: Sentence, limit: Limit) -> bool:
    """Whether "go ahead" or the like follows and no other verb says what to do instead."""
    return any(hit.category == "permissions" and limit.end <= hit.first <= limit.end + 3 for hit in sentence.hits)


def _first_verb(sentence: Sentence, limit: Limit) -> Hit | None:
    opening = max(
        (hit.end for hit in sentence.hits if hit.category == "concessions" and hit.first == limit.first),
        default=limit.first,
    )
    base = advice_words().base_forms
    words = sentence.view.words
    for hit in sentence.hits:
        if hit.category == "verb" and opening <= hit.first < limit.end and words[hit.first] in base:
            return None if "not" in words[opening : hit.first] else hit
    return None


def quoted_stretches(sentence: Sentence) -> list[tuple[int, int]]:
    """Words that somebody else says or that are to be said: nothing the reply itself advises."""
    gaps, words = sentence.view.gaps, sentence.view.words
    found = []
    opened: int | None = None
    for at in range(sentence.first, sentence.end):
        if '"' not in gaps[at]:
            continue
        if opened is not None:
            found.append((opened, at))
            opened = None
        elif not listed("says").isdisjoint(words[max(sentence.first, at - _SAYS_WITHIN) : at]):
            opened = at
    if opened is not None:
        found.append((opened, sentence.end))
    return found
