"""Whether rules can read a text: they read English only."""

import re
from functools import cache

from pytest_clinical_drift.conversation.hygiene import strip_reasoning
from pytest_clinical_drift.evidence.terms.vocabulary import load_vocabulary

NOT_ENGLISH = "not-english"
"""Rule of findings in a text that rules cannot read: every fact is unclear."""
ENGLISH_ONLY = "not evaluated: rules read English only"

_WORD = re.compile(r"[^\W\d_]+")
_ENOUGH = 12
"""Words, and letters of another script, below which a text shows nothing."""
_DIFFERENT = 3
"""Function words of other languages, each counted once, that show one: a single "la" is a name."""
_LEAST_SHARE = 0.08
"""Of its words that another language's function words make up."""
_NOT_LATIN = 0.5
"""Of its letters, however few words they make: some scripts put no space between words."""


def rules_read(text: str, language: str = "en") -> bool:
    """Whether what is visible of a text is in English, by the case's own word and by its looks."""
    return language == "en" and is_english(strip_reasoning(text))


def is_english(text: str) -> bool:
    """False where a text has more function words of other languages than English ones, or another script."""
    words = _WORD.findall(text.lower())
    if not text.isascii():
        letters = "".join(words)
        if len(letters) >= _ENOUGH and sum(sign >= "ɐ" for sign in letters) > _NOT_LATIN * len(letters):
            return False
    if len(words) < _ENOUGH:
        return True
    english, others = _function_words()
    own, other = sum(map(english.__contains__, words)), list(filter(others.__contains__, words))
    return own >= len(other) or len(other) < _LEAST_SHARE * len(words) or len(set(other)) < _DIFFERENT


@cache
def _function_words() -> tuple[frozenset[str], frozenset[str]]:
    data = load_vocabulary("languages")
    english = frozenset(data["english"].split())
    return english, frozenset(data["others"].split()) - english
