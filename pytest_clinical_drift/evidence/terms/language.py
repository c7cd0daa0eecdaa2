"""Whether rules can read a text: they read what they recognise as English, and nothing else."""

import re
from functools import cache

from pytest_clinical_drift.conversation.hygiene import strip_reasoning
from pytest_clinical_drift.evidence.terms.vocabulary import load_vocabulary

NOT_ENGLISH = "not-english"
"""Rule of findings in a text that rules cannot read: every fact is unclear."""
ENGLISH_ONLY = "not evaluated: rules read English only"

_WORD = re.compile(r"[^\W\d_]+")
_LEAST_SHARE = 0.06
"""Of its words that English ones make up in a text that is read: prose has 0.3 and more, the tersest notes 0.1."""
_LONG = 10
"""Words from which one English word may be a loan ("Follow-up in 4 Wochen"): a second one has to stand there."""
_PLENTY = 6
"""English words, each counted once, that show an English text however long the list of names in it is."""
_FEW = 5
"""Words below which a text may show no language, though it is in one."""
_FIRST_NOT_LATIN = "ɐ"
"""Letters from here on belong to other scripts."""
_NOT_LATIN = 0.5
"""Share of such letters in a text of another script; some scripts put no space between words."""


def rules_read(text: str, language: str = "en") -> bool:
    """Whether what is visible of a text is in English, by the case's own word and by the words that stand there."""
    return language == "en" and is_english(strip_reasoning(text))


def is_english(text: str) -> bool:
    """Whether a text shows itself to be English; one without any word states nothing in every language, and counts."""
    words = _WORD.findall(text.lower())
    if not words:
        return True
    if _is_of_another_script("".join(words)):
        return False
    english, others = _telling_words()
    own = [word for word in words if word in english]
    if len(own) <= sum(word in others for word in words):
        return False
    different = len(set(own))
    if different == 1 and len(words) >= _LONG:
        return False
    return different >= _PLENTY or len(own) >= _LEAST_SHARE * len(words)


def is_too_short_to_tell(text: str) -> bool:
    """Whether a text of a few words shows no language at all: "I'm in." may be English, and says nothing else."""
    words = _WORD.findall(strip_reasoning(text).lower())
    _, others = _telling_words()
    return len(words) < _FEW and not _is_of_another_script("".join(words)) and others.isdisjoint(words)


def _is_of_another_script(letters: str) -> bool:
    foreign = 0 if letters.isascii() else sum(letter >= _FIRST_NOT_LATIN for letter in letters)
    return foreign > _NOT_LATIN * len(letters)


@cache
def _telling_words() -> tuple[frozenset[str], frozenset[str]]:
    """Words that only English has, and words of other languages."""
    data = load_vocabulary("languages")
    return frozenset(data["english"].split()), frozenset(data["others"].split())
