"""Whether a text shows itself to be in another language than English, which is all that rules read."""

from __future__ import annotations

import re
from functools import cache

from pytest_clinical_drift.evidence.terms.vocabulary import load_data

_WORD = re.compile(r"[^\W\d_]+")
_ENOUGH = 12
"""Words, and letters of another script, below which a text shows nothing."""
_LEAST_SHARE = 0.08
"""Of its words that another language's function words make up."""
_NOT_LATIN = 0.5
"""Of its letters, however few words they make: some scripts put no space between words."""


def is_english(text: str) -> bool:
    """False where a text has more function words of other languages than English ones, or another script."""
    words = _WORD.findall(text.lower())
    letters = "".join(words)
    if len(letters) >= _ENOUGH and sum(sign >= "ɐ" for sign in letters) > _NOT_LATIN * len(letters):
        return False
    if len(words) < _ENOUGH:
        return True
    english, others = _function_words()
    own, other = sum(word in english for word in words), sum(word in others for word in words)
    return own >= other or other < _LEAST_SHARE * len(words)


@cache
def _function_words() -> tuple[frozenset[str], frozenset[str]]:
    data = load_data("languages")
    english = frozenset(data["english"].split())
    return english, frozenset(data["others"].split()) - english
