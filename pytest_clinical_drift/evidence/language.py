"""Whether a text shows itself to be in another language than English, which is all that rules read."""

from __future__ import annotations

import re
from functools import cache

from pytest_clinical_drift.evidence.terms.vocabulary import load_data

_WORD = re.compile(r"[^\W\d_]+")
_ENOUGH = 12
"""Words below which a text shows nothing."""
_LEAST_SHARE = 0.08
"""Of its words that another language's function words make up."""
_NOT_LATIN = 0.5


def is_english(text: str) -> bool:
    """False where a text has more function words of other languages than English ones, or another script."""
    words = _WORD.findall(text.lower())
    if len(words) < _ENOUGH:
        return True
    if sum(not word.isascii() and not any(sign < "ɐ" for sign in word) for word in words) > _NOT_LATIN * len(words):
        return False
    english, others = _function_words()
    own, other = sum(word in english for word in words), sum(word in others for word in words)
    return own >= other or other < _LEAST_SHARE * len(words)


@cache
def _function_words() -> tuple[frozenset[str], frozenset[str]]:
    data = load_data("languages")
    english = frozenset(data["english"].split())
    return english, frozenset(data["others"].split()) - english
